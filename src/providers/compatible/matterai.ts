/** MatterAI. */
import { openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';

export const matterai = openAiCompatible({
  id: 'matterai',
  name: 'MatterAI',
  address: 'https://api.matterai.so/v1',
  endpoints: { chatComplete: chat() },
});
