/** Lightning AI. */
import { openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';

export const lightningAi = openAiCompatible({
  id: 'lightning-ai',
  name: 'Lightning AI',
  address: null,
  needsCredential: true,
  endpoints: { chatComplete: chat() },
  fields: [{ name: 'custom_host', required: true, about: 'Where the API begins, version segment included.' }],
});
