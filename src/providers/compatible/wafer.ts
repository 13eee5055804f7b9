/** Wafer. */
import { openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';

export const wafer = openAiCompatible({
  id: 'wafer',
  name: 'Wafer',
  address: 'https://pass.wafer.ai/v1',
  endpoints: { chatComplete: chat() },
});
