/** Krutrim. */
import { openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';
import { limitAsMaxTokens } from './quirks/parameters.ts';

export const krutrim = openAiCompatible({
  id: 'krutrim',
  name: 'Krutrim',
  address: 'https://cloud.olakrutrim.com/v1',
  endpoints: { chatComplete: chat({ asks: [limitAsMaxTokens] }) },
});
