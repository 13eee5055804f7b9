/** Tencent TokenHub. */
import { openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';

export const tencent = openAiCompatible({
  id: 'tencent',
  name: 'Tencent TokenHub',
  address: 'https://tokenhub-intl.tencentcloudmaas.com/v1',
  endpoints: { chatComplete: chat() },
});
