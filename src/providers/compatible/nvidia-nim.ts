/** NVIDIA NIM. */
import { objectOf, objectsOf } from '../json.ts';
import { offered, openAiCompatible } from '../openai-compatible.ts';
import type { Translation } from '../provider.ts';
import { rankedIn, readRerank, writeRerank } from '../rerank.ts';
import { chat } from './quirks/chat.ts';
import { limitAsMaxTokens } from './quirks/parameters.ts';
import { elsewhere, inPath } from './quirks/paths.ts';

const home = 'https://integrate.api.nvidia.com/v1';

const ranking: Translation = {
  request(facts) {
    const { query, documents, extras } = readRerank(facts);
    return {
      ...extras,
      model: facts.model,
      query: { text: query },
      passages: documents.map(({ text }) => ({ text })),
    };
  },
  response(answer, facts) {
    const ranked = rankedIn(objectsOf(objectOf(answer).rankings), 'logit');
    return writeRerank(facts, readRerank(facts), ranked, { usage: null });
  },
};

/** A dot in a model's name is an underscore in the address. */
const nameInPath = (model: string): string => inPath(model.replaceAll('.', '_'));

export const nvidiaNim = openAiCompatible({
  id: 'nvidia-nim',
  name: 'NVIDIA NIM',
  takesStreamOptions: true,
  aliases: ['nvidia'],
  address: home,
  endpoints: {
    chatComplete: chat({ asks: [limitAsMaxTokens] }),
    ...offered('embed', 'listModels'),
    rerank: {
      path: elsewhere(home, ({ model }) => `https://ai.api.nvidia.com/v1/retrieval/${nameInPath(model)}/reranking`),
      translation: ranking,
    },
  },
  notes: [
    'Embeddings need input_type: query or passage.',
    'Scores of a ranking are logits, not numbers between 0 and 1.',
  ],
});
