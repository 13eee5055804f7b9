/** xAI. */
import { offered, openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';
import { nameOnToolsOnly } from './quirks/messages.ts';
import { withoutStrict } from './quirks/tools.ts';
import { thoughtsWithin } from './quirks/usage.ts';
import { ratioForSize, xAiSpeech } from './x-ai-media.ts';

export const xAi = openAiCompatible({
  id: 'x-ai',
  name: 'xAI',
  aliases: ['xai'],
  address: 'https://api.x.ai/v1',
  endpoints: {
    chatComplete: chat({ asks: [nameOnToolsOnly, withoutStrict], answers: [thoughtsWithin] }),
    imageGenerate: { adjust: ratioForSize },
    createSpeech: { path: '/tts', translation: xAiSpeech },
    ...offered(
      'complete',
      'embed',
      'listModels',
      'createModelResponse',
      'getModelResponse',
      'deleteModelResponse',
      'realtime',
    ),
  },
  reportsCost: true,
  notes: [
    'Reasoning models refuse stop, presence_penalty and frequency_penalty.',
    'Images have no size and no quality: a size is sent as the aspect_ratio that comes closest.',
    'Speech needs no model of its own; voices are eve, ara, rex, sal and leo, and language is found out unless it is given.',
  ],
});
