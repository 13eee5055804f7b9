/** xAI. */
import { offered, openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';
import { nameOnToolsOnly } from './quirks/messages.ts';
import { withoutStrict } from './quirks/tools.ts';
import { thoughtsWithin } from './quirks/usage.ts';

export const xAi = openAiCompatible({
  id: 'x-ai',
  name: 'xAI',
  aliases: ['xai'],
  address: 'https://api.x.ai/v1',
  endpoints: {
    chatComplete: chat({ asks: [nameOnToolsOnly, withoutStrict], answers: [thoughtsWithin] }),
    ...offered(
      'complete',
      'embed',
      'imageGenerate',
      'listModels',
      'createModelResponse',
      'getModelResponse',
      'deleteModelResponse',
      'realtime',
    ),
  },
  reportsCost: true,
  notes: ['Reasoning models refuse stop, presence_penalty and frequency_penalty.'],
});
