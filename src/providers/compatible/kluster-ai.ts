/** kluster.ai. */
import { offered, openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';
import { limitAsMaxTokens } from './quirks/parameters.ts';

export const klusterAi = openAiCompatible({
  id: 'kluster-ai',
  name: 'kluster.ai',
  address: 'https://api.kluster.ai/v1',
  endpoints: { chatComplete: chat({ asks: [limitAsMaxTokens] }), ...offered('embed', 'uploadFile') },
});
