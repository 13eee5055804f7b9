/** io.net Intelligence. */
import { offered, openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';
import { limitAsMaxTokens } from './quirks/parameters.ts';

export const iointelligence = openAiCompatible({
  id: 'iointelligence',
  name: 'io.net Intelligence',
  address: 'https://api.intelligence.io.solutions/api/v1',
  endpoints: { chatComplete: chat({ asks: [limitAsMaxTokens] }), ...offered('embed') },
});
