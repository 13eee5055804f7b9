/** Meta Llama API. */
import { openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';

export const metaLlama = openAiCompatible({
  id: 'meta-llama',
  name: 'Meta Llama API',
  address: 'https://api.llama.com/compat/v1',
  endpoints: { chatComplete: chat() },
  notes: ['Structured output by JSON schema is supported; tools only in part.'],
});
