/** CompactifAI. */
import { openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';

export const compactifai = openAiCompatible({
  id: 'compactifai',
  name: 'CompactifAI',
  address: 'https://api.compactif.ai/v1',
  endpoints: { chatComplete: chat() },
});
