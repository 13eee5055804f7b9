/** Anyscale. */
import { offered, openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';
import { limitAsMaxTokens } from './quirks/parameters.ts';

export const anyscale = openAiCompatible({
  id: 'anyscale',
  name: 'Anyscale',
  address: 'https://api.endpoints.anyscale.com/v1',
  endpoints: { chatComplete: chat({ asks: [limitAsMaxTokens] }), ...offered('complete', 'embed') },
  notes: ['The public endpoints are retired: save the address of your own service as custom_host.'],
});
