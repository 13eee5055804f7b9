/** Cohere: chat, embeddings and reranking in its second version; embed jobs for batches. */
import type { Provider } from '../provider.ts';
import { fileEndpoints } from './datasets.ts';
import { batchEndpoints } from './embed-jobs.ts';
import { embed } from './embeddings.ts';
import { cohereFamily } from './family.ts';
import { generate } from './generate.ts';
import { listModels, retrieveModel } from './models.ts';
import { rerank } from './rerank.ts';

export const cohere: Provider = {
  id: 'cohere',
  name: 'Cohere',
  address: 'https://api.cohere.ai',
  needsCredential: true,
  headers: ({ credential }) => (credential === null ? {} : { authorization: `Bearer ${credential}` }),
  endpoints: {
    chatComplete: { path: '/v2/chat', chat: cohereFamily },
    complete: generate,
    embed,
    rerank: { path: '/v2/rerank', translation: rerank },
    listModels: { path: '/v1/models?page_size=1000', translation: listModels },
    retrieveModel: {
      path: ({ pathParams }) => `/v1/models/${encodeURIComponent(pathParams.id ?? '')}`,
      translation: retrieveModel,
    },
    ...fileEndpoints,
    ...batchEndpoints,
  },
  notes: [
    'The plan that a model writes before it calls tools is shown as reasoning, and goes back as the plan.',
    'Embeddings are made for search_document unless input_type says otherwise; more than 96 inputs are sent in several calls.',
    'Sources of citations that have an address are annotations; all citations are shown where answers need not be strict.',
    'Batches are embed jobs: rows of /v1/embeddings with one text each, and the model and input_type given with the batch. How many rows are done is not told. Rows of anything else are run by the gateway: upload them for the provider gw.',
    'A custom host stands in for https://api.cohere.ai, without a version.',
  ],
};
