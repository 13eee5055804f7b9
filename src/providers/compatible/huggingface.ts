/** Hugging Face: its router, and endpoints of one's own. */
import { readEmbeddings, requireVector, textsOf, writeEmbeddings } from '../embeddings.ts';
import { listOf, objectsOf, present } from '../json.ts';
import { offered, openAiCompatible } from '../openai-compatible.ts';
import type { Translation } from '../provider.ts';
import { rankedIn, readRerank, writeRerank } from '../rerank.ts';
import { setting } from '../settings.ts';
import { finishReasons, namedChunks } from './quirks/answers.ts';
import { chat } from './quirks/chat.ts';
import { limitAsMaxTokens, within } from './quirks/parameters.ts';
import { elsewhere, inPath, underVersion } from './quirks/paths.ts';

const router = 'https://router.huggingface.co/v1';
const legacy = 'https://api-inference.huggingface.co/models';
const pipeline = 'https://router.huggingface.co/hf-inference/pipeline/feature-extraction';

const features: Translation = {
  request(facts) {
    const asked = readEmbeddings(facts);
    return present({ ...asked.extras, inputs: textsOf(asked), dimensions: asked.dimensions });
  },
  response: (answer, facts) =>
    writeEmbeddings(facts, listOf(answer).map(requireVector), readEmbeddings(facts).encoding, null),
};

const ranking: Translation = {
  request(facts) {
    const { query, documents, extras } = readRerank(facts);
    return { ...extras, query, texts: documents.map(({ text }) => text) };
  },
  response: (answer, facts) =>
    writeRerank(facts, readRerank(facts), rankedIn(objectsOf(answer), 'score'), { usage: null }),
};

export const huggingface = openAiCompatible({
  id: 'huggingface',
  name: 'Hugging Face',
  aliases: ['hugging-face'],
  address: ({ fields }) => setting(fields, 'huggingface_base_url') ?? router,
  endpoints: {
    chatComplete: chat({
      path: underVersion('/chat/completions'),
      // Zero is refused.
      asks: [limitAsMaxTokens, within('temperature', 0.01, 2)],
      answers: [finishReasons, namedChunks],
    }),
    complete: {
      path: (facts, base) =>
        base === router ? `${legacy}/${inPath(facts.model)}/v1/completions` : underVersion('/completions')(facts, base),
    },
    embed: ({ fields }) =>
      setting(fields, 'huggingface_base_url') === null
        ? { path: elsewhere(router, ({ model }) => `${pipeline}/${inPath(model)}`), translation: features }
        : { path: underVersion('/embeddings') },
    rerank: { path: (_, base) => `${base.replace(/\/v1$/, '')}/rerank`, translation: ranking },
    ...offered('listModels'),
  },
  fields: [
    { name: 'huggingface_base_url', about: 'The address of an endpoint of your own; the router where it is absent.' },
  ],
  notes: [
    'A temperature of 0 is sent as 0.01.',
    'Embeddings through the router report no usage. Ranking needs an endpoint of your own that runs text-embeddings-inference.',
  ],
});
