/** Galadriel. */
import { openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';

export const galadriel = openAiCompatible({
  id: 'galadriel',
  name: 'Galadriel',
  address: 'https://api.galadriel.com/v1',
  endpoints: { chatComplete: chat() },
});
