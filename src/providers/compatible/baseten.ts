/** Baseten. */
import { openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';

export const baseten = openAiCompatible({
  id: 'baseten',
  name: 'Baseten',
  address: 'https://inference.baseten.co/v1',
  endpoints: { chatComplete: chat() },
  notes: [
    'A dedicated model has an address of its own: save https://model-MODEL_ID.api.baseten.co/environments/production/sync/v1 as custom_host.',
  ],
});
