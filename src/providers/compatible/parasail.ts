/** Parasail. */
import { openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';

export const parasail = openAiCompatible({
  id: 'parasail',
  name: 'Parasail',
  address: 'https://api.parasail.io/v1',
  endpoints: { chatComplete: chat() },
});
