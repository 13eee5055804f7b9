/** Poe. */
import { openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';
import { limitAsMaxTokens } from './quirks/parameters.ts';

export const poe = openAiCompatible({
  id: 'poe',
  name: 'Poe',
  address: 'https://api.poe.com/v1',
  endpoints: { chatComplete: chat({ asks: [limitAsMaxTokens] }) },
});
