/** Qdrant: a vector database, passed through. */
import { keyIn } from '../key-header.ts';
import type { Provider } from '../provider.ts';

export const qdrant: Provider = {
  id: 'qdrant',
  name: 'Qdrant',
  address: null,
  needsCredential: false,
  headers: keyIn('api-key'),
  fields: [{ name: 'custom_host', required: true, about: 'The address of the database.' }],
  endpoints: {},
  notes: ['Passed through: POST /v1/proxy/collections/{name}/points/search.'],
};
