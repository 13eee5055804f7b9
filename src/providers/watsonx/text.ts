/** Embeddings and reranking on watsonx.ai. */
import { readEmbeddings, refuseDimensions, requireVector, textsOf, writeEmbeddings } from '../embeddings.ts';
import { numberOf, objectOf, objectsOf, present, textOf } from '../json.ts';
import type { Translation } from '../provider.ts';
import { rankedIn, readRerank, readTokens, writeRerank } from '../rerank.ts';
import { payer } from './project.ts';

export const embeddings: Translation = {
  request(facts) {
    const request = readEmbeddings(facts);
    refuseDimensions(request);
    const parameters = present({ ...request.extras });
    return {
      ...payer(facts),
      inputs: textsOf(request),
      ...(Object.keys(parameters).length > 0 && { parameters }),
    };
  },
  response(answer, facts) {
    const { results, input_token_count } = objectOf(answer);
    const vectors = objectsOf(results).map(({ embedding }) => embedding);
    const { encoding } = readEmbeddings(facts);
    return writeEmbeddings(facts, vectors.map(requireVector), encoding, numberOf(input_token_count));
  },
};

export const rerank: Translation = {
  request(facts) {
    const { query, documents, topN, extras } = readRerank(facts);
    return {
      ...payer(facts),
      query,
      inputs: documents.map(({ text }) => ({ text })),
      parameters: { return_options: present({ top_n: topN }), ...extras },
    };
  },
  response(answer, facts) {
    const { results, input_token_count } = objectOf(answer);
    return writeRerank(facts, readRerank(facts), rankedIn(objectsOf(results), 'score'), {
      usage: readTokens(numberOf(input_token_count)),
    });
  },
};

export const models: Translation = {
  response: (answer) => ({
    object: 'list',
    data: objectsOf(objectOf(answer).resources).map((model) => ({
      ...model,
      id: textOf(model.model_id) ?? '',
      object: 'model',
      created: 0,
      owned_by: textOf(model.provider) ?? 'ibm',
    })),
  }),
};
