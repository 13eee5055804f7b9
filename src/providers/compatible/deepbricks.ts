/** Deepbricks. */
import { offered, openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';

export const deepbricks = openAiCompatible({
  id: 'deepbricks',
  name: 'Deepbricks',
  address: 'https://api.deepbricks.ai/v1',
  endpoints: { chatComplete: chat(), ...offered('imageGenerate') },
});
