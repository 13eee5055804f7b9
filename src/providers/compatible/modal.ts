/** Modal. */
import { offered, openAiCompatible } from '../openai-compatible.ts';
import { setting } from '../settings.ts';
import { chat } from './quirks/chat.ts';

export const modal = openAiCompatible({
  id: 'modal',
  name: 'Modal',
  address: 'https://api.modal.com/v1',
  needsCredential: false,
  headers({ fields }) {
    const key = setting(fields, 'modal_key');
    const secret = setting(fields, 'modal_secret');
    return { ...(key !== null && { 'modal-key': key }), ...(secret !== null && { 'modal-secret': secret }) };
  },
  endpoints: { chatComplete: chat(), ...offered('complete', 'embed') },
  fields: [
    { name: 'custom_host', about: 'The address of your own deployment, version segment included.' },
    { name: 'modal_key', about: 'The id of a proxy token, for deployments that ask for one.' },
    { name: 'modal_secret', about: 'The secret of that token.' },
  ],
});
