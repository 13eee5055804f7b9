/** NanoGPT. */
import { openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';
import { limitAsMaxTokens } from './quirks/parameters.ts';

export const nanoGpt = openAiCompatible({
  id: 'nano-gpt',
  name: 'NanoGPT',
  address: 'https://nano-gpt.com/api/v1',
  endpoints: { chatComplete: chat({ asks: [limitAsMaxTokens] }) },
});
