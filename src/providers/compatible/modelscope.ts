/** ModelScope. */
import { openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';

export const modelscope = openAiCompatible({
  id: 'modelscope',
  name: 'ModelScope',
  address: 'https://api-inference.modelscope.cn/v1',
  endpoints: { chatComplete: chat() },
});
