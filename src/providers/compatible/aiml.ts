/** AI/ML API. */
import { openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';

export const aiml = openAiCompatible({
  id: 'aiml',
  name: 'AI/ML API',
  address: 'https://api.aimlapi.com/v1',
  endpoints: { chatComplete: chat() },
});
