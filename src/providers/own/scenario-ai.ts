/** Scenario: images for games, passed through. */
import type { Provider } from '../provider.ts';
import { setting } from '../settings.ts';

export const scenarioAi: Provider = {
  id: 'scenario-ai',
  name: 'Scenario',
  address: null,
  needsCredential: true,
  headers: ({ credential, fields }) => {
    const pair = `${credential ?? ''}:${setting(fields, 'scenario_api_secret') ?? ''}`;
    return credential === null ? {} : { authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
  },
  fields: [
    { name: 'custom_host', required: true, about: 'The address of the API.' },
    { name: 'scenario_api_secret', about: 'The secret that belongs to the key.' },
  ],
  endpoints: {},
  notes: ['Passed through, under the paths of its own API.'],
};
