/** 302.AI. */
import { openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';

export const ai302 = openAiCompatible({
  id: '302ai',
  name: '302.AI',
  address: 'https://api.302.ai/v1',
  endpoints: { chatComplete: chat() },
});
