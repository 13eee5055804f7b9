/** Cloudflare Workers AI: chat and embeddings in OpenAI's dialect, everything else by running a model. */
import { chat } from '../compatible/quirks/chat.ts';
import { limitAsMaxTokens } from '../compatible/quirks/parameters.ts';
import { inPath } from '../compatible/quirks/paths.ts';
import { listedEmbeddings, readEmbeddings, textsOf } from '../embeddings.ts';
import { present } from '../json.ts';
import { bearer } from '../key-header.ts';
import type { CallFacts, Provider, Translation } from '../provider.ts';
import { needSetting } from '../settings.ts';
import { completions } from './completions.ts';
import { images, transcription } from './media.ts';

/** Names of models begin with @cf, which stays as it is. */
const run = ({ model }: CallFacts): string => `/run/${inPath(model).replaceAll('%40', '@')}`;

const embeddings: Translation = {
  request(facts) {
    const request = readEmbeddings(facts);
    const { dimensions, extras } = request;
    return present({ ...extras, model: facts.model, input: textsOf(request), dimensions });
  },
  response: (answer, facts) => listedEmbeddings(answer, facts, 'prompt_tokens'),
};

export const workersAi: Provider = {
  id: 'workers-ai',
  name: 'Cloudflare Workers AI',
  aliases: ['cloudflare'],
  address: ({ fields }) =>
    `https://api.cloudflare.com/client/v4/accounts/${inPath(needSetting(fields, 'workers_ai_account_id'))}/ai`,
  needsCredential: true,
  headers: bearer,
  fields: [{ name: 'workers_ai_account_id', required: true, about: 'The id of the account at Cloudflare.' }],
  endpoints: {
    chatComplete: chat({ path: '/v1/chat/completions', asks: [limitAsMaxTokens], answers: [] }),
    complete: { path: run, translation: completions },
    embed: { path: '/v1/embeddings', translation: embeddings },
    imageGenerate: { path: run, translation: images },
    createTranscription: { path: run, translation: transcription },
  },
  notes: [
    'Models are named as Cloudflare does: @cf/meta/llama-3.3-70b-instruct-fp8-fast.',
    'Completions take no stop, n, best_of, echo, suffix or logprobs.',
    'Images come as b64_json, one a call; num_steps, guidance and the like travel as they are.',
  ],
};
