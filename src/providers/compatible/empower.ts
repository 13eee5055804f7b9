/** Empower. */
import { openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';

export const empower = openAiCompatible({
  id: 'empower',
  name: 'Empower',
  address: 'https://app.empower.dev/api/v1',
  endpoints: { chatComplete: chat() },
});
