/** FriendliAI. */
import { openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';

export const friendliai = openAiCompatible({
  id: 'friendliai',
  name: 'FriendliAI',
  address: 'https://api.friendli.ai/serverless/v1',
  endpoints: { chatComplete: chat() },
});
