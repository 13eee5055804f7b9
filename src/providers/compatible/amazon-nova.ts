/** Amazon Nova API. */
import { openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';

export const amazonNova = openAiCompatible({
  id: 'amazon-nova',
  name: 'Amazon Nova API',
  address: 'https://api.nova.amazon.com/v1',
  endpoints: { chatComplete: chat() },
});
