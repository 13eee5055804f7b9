/** Chutes. */
import { openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';
import { limitAsMaxTokens } from './quirks/parameters.ts';

export const chutes = openAiCompatible({
  id: 'chutes',
  name: 'Chutes',
  address: 'https://llm.chutes.ai/v1',
  endpoints: { chatComplete: chat({ asks: [limitAsMaxTokens] }) },
});
