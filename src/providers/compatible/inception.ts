/** Inception. */
import { openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';

export const inception = openAiCompatible({
  id: 'inception',
  name: 'Inception',
  address: 'https://api.inceptionlabs.ai/v1',
  endpoints: { chatComplete: chat() },
});
