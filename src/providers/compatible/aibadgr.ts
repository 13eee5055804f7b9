/** AI Badgr. */
import { openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';

export const aibadgr = openAiCompatible({
  id: 'aibadgr',
  name: 'AI Badgr',
  address: 'https://aibadgr.com/api/v1',
  endpoints: { chatComplete: chat() },
});
