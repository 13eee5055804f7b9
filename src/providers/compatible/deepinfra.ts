/** DeepInfra. */
import { listOf, numberOf, objectOf, textOf } from '../json.ts';
import { offered, openAiCompatible } from '../openai-compatible.ts';
import type { Translation } from '../provider.ts';
import { readRerank, readTokens, writeRerank } from '../rerank.ts';
import { chat } from './quirks/chat.ts';
import { elsewhere, inPath } from './quirks/paths.ts';

const home = 'https://api.deepinfra.com/v1/openai';

/** Each document is scored against the query that stands at its place. */
const ranking: Translation = {
  request(facts) {
    const { query, documents, extras } = readRerank(facts);
    return { ...extras, queries: documents.map(() => query), documents: documents.map(({ text }) => text) };
  },
  response(answer, facts) {
    const { scores, input_tokens, request_id } = objectOf(answer);
    const ranked = listOf(scores).map((score, index) => ({ index, score: numberOf(score) ?? 0 }));
    const usage = readTokens(numberOf(input_tokens));
    return writeRerank(facts, readRerank(facts), ranked, { id: textOf(request_id), usage });
  },
};

export const deepinfra = openAiCompatible({
  id: 'deepinfra',
  name: 'DeepInfra',
  takesStreamOptions: true,
  address: home,
  endpoints: {
    chatComplete: chat({ framing: 'sse-lines', answers: [] }),
    ...offered('complete', 'embed', 'imageGenerate', 'listModels'),
    rerank: {
      path: elsewhere(home, ({ model }) => `https://api.deepinfra.com/v1/inference/${inPath(model)}`),
      translation: ranking,
    },
  },
  reportsCost: true,
});
