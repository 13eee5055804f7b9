/** Volcengine Ark. */
import { offered, openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';
import { effortAsThinking } from './quirks/reasoning.ts';

export const volcengine = openAiCompatible({
  id: 'volcengine',
  name: 'Volcengine Ark',
  aliases: ['doubao'],
  address: 'https://ark.cn-beijing.volces.com/api/v3',
  endpoints: { chatComplete: chat({ asks: [effortAsThinking] }), ...offered('embed', 'createModelResponse') },
  notes: ['A model is its name or the id of an endpoint of yours, ep-….'],
});
