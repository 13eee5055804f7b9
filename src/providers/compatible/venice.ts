/** Venice AI. */
import { openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';

export const venice = openAiCompatible({
  id: 'venice',
  name: 'Venice AI',
  address: 'https://api.venice.ai/api/v1',
  endpoints: { chatComplete: chat() },
});
