/** PublicAI. */
import { openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';
import { textAsString } from './quirks/messages.ts';
import { limitAsMaxTokens } from './quirks/parameters.ts';

export const publicai = openAiCompatible({
  id: 'publicai',
  name: 'PublicAI',
  address: 'https://api.publicai.co/v1',
  endpoints: { chatComplete: chat({ asks: [limitAsMaxTokens, textAsString] }) },
});
