/** Meshy: three-dimensional models, passed through. */
import { bearer } from '../key-header.ts';
import type { Provider } from '../provider.ts';

export const meshy: Provider = {
  id: 'meshy',
  name: 'Meshy',
  address: 'https://api.meshy.ai/openapi',
  needsCredential: true,
  headers: bearer,
  endpoints: {},
  notes: ['Passed through, with the version in the path: POST /v1/proxy/v2/text-to-3d.'],
};
