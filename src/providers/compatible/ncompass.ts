/** nCompass. */
import { openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';
import { limitAsMaxTokens } from './quirks/parameters.ts';

export const ncompass = openAiCompatible({
  id: 'ncompass',
  name: 'nCompass',
  address: 'https://api.ncompass.tech/v1',
  endpoints: { chatComplete: chat({ asks: [limitAsMaxTokens] }) },
});
