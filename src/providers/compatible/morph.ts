/** Morph. */
import { openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';

export const morph = openAiCompatible({
  id: 'morph',
  name: 'Morph',
  address: 'https://api.morphllm.com/v1',
  endpoints: { chatComplete: chat() },
});
