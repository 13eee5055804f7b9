/** Nextbit. */
import { offered, openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';
import { limitAsMaxTokens } from './quirks/parameters.ts';

export const nextbit = openAiCompatible({
  id: 'nextbit',
  name: 'Nextbit',
  address: 'https://api.nextbit256.com/v1',
  endpoints: { chatComplete: chat({ asks: [limitAsMaxTokens] }), ...offered('complete') },
});
