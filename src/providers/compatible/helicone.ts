/** Helicone gateway. */
import { openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';

export const helicone = openAiCompatible({
  id: 'helicone',
  name: 'Helicone gateway',
  address: 'https://ai-gateway.helicone.ai',
  endpoints: { chatComplete: chat() },
});
