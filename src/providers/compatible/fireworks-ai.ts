/** Fireworks AI. */
import { withoutOurMarks } from '../anthropic/foreign-thoughts.ts';
import { openAiCompatible } from '../openai-compatible.ts';
import type { CallFacts } from '../provider.ts';
import { address } from './fireworks-account.ts';
import { fileEndpoints } from './fireworks-files.ts';
import { fireworksFlux, fireworksImages, fireworksRanking, isFlux } from './fireworks-shapes.ts';
import { tuningEndpoints } from './fireworks-tuning.ts';
import { chat } from './quirks/chat.ts';
import { messagesAt } from './quirks/messages-endpoint.ts';
import { inTurn, limitAsMaxTokens, notSent, type Quirk, without } from './quirks/parameters.ts';
import { elsewhere, inPath } from './quirks/paths.ts';
import { requiredAsAny, withoutStrict } from './quirks/tools.ts';

const fullName = (model: string): string =>
  model === '' || model.includes('/') ? model : `accounts/fireworks/models/${model}`;

/** A bare name is one of Fireworks' own models. */
const namedInFull: Quirk = (body, { model }) =>
  fullName(model) === model ? body : { ...body, model: fullName(model) };

/** Sound is heard at addresses of its own, one for each model. */
const transcripts = ({ model }: Pick<CallFacts, 'model'>): string =>
  `https://audio-${model.includes('turbo') ? 'turbo' : 'prod'}.api.fireworks.ai/v1/audio/transcriptions`;

const unsent = ['parallel_tool_calls', 'service_tier', 'store'];

export const fireworksAi = openAiCompatible({
  id: 'fireworks-ai',
  name: 'Fireworks AI',
  takesStreamOptions: true,
  aliases: ['fireworks'],
  address,
  fields: [
    { name: 'fireworks_account_id', about: 'The account that files and fine-tuning jobs belong to; needed for those.' },
  ],
  endpoints: {
    chatComplete: chat({ asks: [limitAsMaxTokens, withoutStrict, requiredAsAny, namedInFull, without(...unsent)] }),
    complete: { adjust: namedInFull },
    embed: { adjust: namedInFull },
    rerank: { translation: fireworksRanking(fullName) },
    createModelResponse: { adjust: namedInFull },
    messages: { ...messagesAt(), adjust: inTurn([withoutOurMarks, namedInFull]) },
    imageGenerate: ({ model }) =>
      isFlux(model)
        ? { path: `/workflows/${inPath(fullName(model))}/text_to_image`, translation: fireworksFlux }
        : {
            path: `/image_generation/${inPath(fullName(model))}`,
            headers: () => ({ accept: 'application/json' }),
            translation: fireworksImages,
          },
    createTranscription: { path: elsewhere(address, transcripts) },
    listModels: {},
    ...fileEndpoints,
    ...tuningEndpoints(fullName),
  },
  notes: [
    'A model is named as accounts/ACCOUNT/models/NAME; a bare name means one of Fireworks itself.',
    'Tools and response_format cannot be asked for together.',
    'Files are datasets of the account: lines of JSON, for fine-tuning. Rows of a batch are kept and run by the gateway.',
    'A fine-tuning job takes n_epochs, learning_rate and lora_rank as hyperparameters; further fields of Fireworks go in provider_options. Cancelling a job deletes it.',
    notSent(unsent),
  ],
});
