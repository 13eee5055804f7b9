/** Lambda. */
import { offered, openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';
import { limitAsMaxTokens } from './quirks/parameters.ts';

export const lambda = openAiCompatible({
  id: 'lambda',
  name: 'Lambda',
  address: 'https://api.lambdalabs.com/v1',
  endpoints: { chatComplete: chat({ asks: [limitAsMaxTokens] }), ...offered('complete') },
  notes: ['The newer host https://api.lambda.ai/v1 is used by saving it as custom_host.'],
});
