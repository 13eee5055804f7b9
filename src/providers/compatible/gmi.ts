/** GMI Cloud. */
import { openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';

export const gmi = openAiCompatible({
  id: 'gmi',
  name: 'GMI Cloud',
  address: 'https://api.gmi-serving.com/v1',
  endpoints: { chatComplete: chat() },
});
