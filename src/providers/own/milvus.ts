/** Milvus: a vector database, passed through. */
import { bearer } from '../key-header.ts';
import type { Provider } from '../provider.ts';

export const milvus: Provider = {
  id: 'milvus',
  name: 'Milvus',
  address: null,
  needsCredential: false,
  headers: bearer,
  fields: [{ name: 'custom_host', required: true, about: 'The address of the database.' }],
  endpoints: {},
  notes: ['Passed through: POST /v1/proxy/v2/vectordb/entities/search. The credential is a token, or user:password.'],
};
