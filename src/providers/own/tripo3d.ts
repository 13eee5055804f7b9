/** Tripo3D: three-dimensional models, passed through. */
import { bearer } from '../key-header.ts';
import type { Provider } from '../provider.ts';

export const tripo3d: Provider = {
  id: 'tripo3d',
  name: 'Tripo3D',
  address: 'https://api.tripo3d.ai/v2/openapi',
  needsCredential: true,
  headers: bearer,
  endpoints: {},
  notes: ['Passed through: POST /v1/proxy/task.'],
};
