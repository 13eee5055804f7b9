/** Ember Cloud. */
import { openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';

export const emberCloud = openAiCompatible({
  id: 'ember-cloud',
  name: 'Ember Cloud',
  address: null,
  needsCredential: true,
  endpoints: { chatComplete: chat() },
  fields: [{ name: 'custom_host', required: true, about: 'Where the API begins, version segment included.' }],
});
