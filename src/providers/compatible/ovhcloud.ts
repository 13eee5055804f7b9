/** OVHcloud AI Endpoints. */
import { openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';
import { limitAsMaxTokens } from './quirks/parameters.ts';

export const ovhcloud = openAiCompatible({
  id: 'ovhcloud',
  name: 'OVHcloud AI Endpoints',
  address: 'https://oai.endpoints.kepler.ai.cloud.ovh.net/v1',
  endpoints: { chatComplete: chat({ asks: [limitAsMaxTokens] }) },
});
