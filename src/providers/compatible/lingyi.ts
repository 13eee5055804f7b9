/** Lingyi (01.AI). */
import { openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';
import { limitAsMaxTokens } from './quirks/parameters.ts';

export const lingyi = openAiCompatible({
  id: 'lingyi',
  name: 'Lingyi (01.AI)',
  address: 'https://api.lingyiwanwu.com/v1',
  endpoints: { chatComplete: chat({ asks: [limitAsMaxTokens] }) },
});
