/** Google PaLM: the service was shut down. The name is kept, so that old configs are told so instead of being misread. */
import type { Provider } from '../provider.ts';

export const palm: Provider = {
  id: 'palm',
  name: 'Google PaLM',
  address: 'https://generativelanguage.googleapis.com/v1beta3',
  headers: ({ credential }): Record<string, string> => (credential === null ? {} : { 'x-goog-api-key': credential }),
  needsCredential: true,
  endpoints: {},
  notes: ['Google has switched this service off: use google instead.'],
};
