/** Scaleway. */
import { openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';

export const scaleway = openAiCompatible({
  id: 'scaleway',
  name: 'Scaleway',
  address: 'https://api.scaleway.ai/v1',
  endpoints: { chatComplete: chat() },
});
