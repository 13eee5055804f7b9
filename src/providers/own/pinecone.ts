/** Pinecone's inference: embeddings of text, and reranking. */
import { readEmbeddings, requireVector, textsOf, writeEmbeddings } from '../embeddings.ts';
import { numberOf, objectOf, objectsOf, present, textOf } from '../json.ts';
import { keyIn } from '../key-header.ts';
import type { Provider, Translation } from '../provider.ts';
import { rankedIn, readRerank, writeRerank } from '../rerank.ts';

const apiVersion = '2025-04';

const embed: Translation = {
  request(facts) {
    const request = readEmbeddings(facts);
    const { input_type, parameters, ...extras } = request.extras;
    return {
      model: facts.model,
      inputs: textsOf(request).map((text) => ({ text })),
      parameters: present({
        input_type: textOf(input_type) ?? 'passage',
        dimension: request.dimensions,
        ...extras,
        ...objectOf(parameters),
      }),
    };
  },
  response(answer, facts) {
    const { data, usage } = objectOf(answer);
    const vectors = objectsOf(data).map(({ values }) => values);
    const tokens = numberOf(objectOf(usage).total_tokens);
    return writeEmbeddings(facts, vectors.map(requireVector), readEmbeddings(facts).encoding, tokens);
  },
};

const rerank: Translation = {
  request(facts) {
    const { query, documents, topN, extras } = readRerank(facts);
    return present({
      model: facts.model,
      query,
      documents: documents.map(({ raw }) => (typeof raw === 'string' ? { text: raw } : raw)),
      top_n: topN,
      return_documents: false,
      ...extras,
    });
  },
  response(answer, facts) {
    const { data, usage } = objectOf(answer);
    const units = numberOf(objectOf(usage).rerank_units);
    return writeRerank(facts, readRerank(facts), rankedIn(objectsOf(data), 'score'), {
      usage: units === null ? null : { search_units: units },
    });
  },
};

const key = keyIn('api-key');

export const pinecone: Provider = {
  id: 'pinecone',
  name: 'Pinecone',
  address: 'https://api.pinecone.io',
  needsCredential: true,
  headers: (facts) => ({ ...key(facts), 'x-pinecone-api-version': apiVersion }),
  endpoints: { embed: { path: '/embed', translation: embed }, rerank: { translation: rerank } },
  notes: [
    'Vectors are made for passages unless input_type says query; further parameters go into parameters.',
    'Documents with several fields are read by rank_fields.',
  ],
};
