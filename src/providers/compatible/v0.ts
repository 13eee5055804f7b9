/** v0. */
import { openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';

export const v0 = openAiCompatible({
  id: 'v0',
  name: 'v0',
  address: 'https://api.v0.dev/v1',
  endpoints: { chatComplete: chat() },
});
