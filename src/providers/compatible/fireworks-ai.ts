/** Fireworks AI. */
import { offered, openAiCompatible } from '../openai-compatible.ts';
import { fireworksImages, fireworksRanking } from './fireworks-shapes.ts';
import { chat } from './quirks/chat.ts';
import { messagesAt } from './quirks/messages-endpoint.ts';
import { limitAsMaxTokens, notSent, type Quirk, without } from './quirks/parameters.ts';
import { inPath } from './quirks/paths.ts';
import { requiredAsAny, withoutStrict } from './quirks/tools.ts';

const fullName = (model: string): string =>
  model === '' || model.includes('/') ? model : `accounts/fireworks/models/${model}`;

/** A bare name is one of Fireworks' own models. */
const namedInFull: Quirk = (body, { model }) =>
  fullName(model) === model ? body : { ...body, model: fullName(model) };

const unsent = ['parallel_tool_calls', 'service_tier', 'store'];

export const fireworksAi = openAiCompatible({
  id: 'fireworks-ai',
  name: 'Fireworks AI',
  aliases: ['fireworks'],
  address: 'https://api.fireworks.ai/inference/v1',
  endpoints: {
    chatComplete: chat({ asks: [limitAsMaxTokens, withoutStrict, requiredAsAny, namedInFull, without(...unsent)] }),
    complete: { adjust: namedInFull },
    ...offered('embed'),
    rerank: { translation: fireworksRanking },
    createModelResponse: { adjust: namedInFull },
    messages: { ...messagesAt(), adjust: namedInFull },
    imageGenerate: {
      path: ({ model }) => `/image_generation/${inPath(fullName(model))}`,
      translation: fireworksImages,
    },
  },
  notes: [
    'A model is named as accounts/ACCOUNT/models/NAME; a bare name means one of Fireworks itself.',
    'Tools and response_format cannot be asked for together.',
    notSent(unsent),
  ],
});
