/** GitHub Models. */
import { offered, openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';

export const github = openAiCompatible({
  id: 'github',
  name: 'GitHub Models',
  address: 'https://models.inference.ai.azure.com',
  endpoints: { chatComplete: chat(), ...offered('complete', 'embed') },
  notes: ['The credential is a personal access token.'],
});
