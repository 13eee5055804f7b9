/** Inference.net. */
import { openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';
import { limitAsMaxTokens } from './quirks/parameters.ts';

export const inferenceNet = openAiCompatible({
  id: 'inference-net',
  name: 'Inference.net',
  address: 'https://api.inference.net/v1',
  endpoints: { chatComplete: chat({ asks: [limitAsMaxTokens] }) },
});
