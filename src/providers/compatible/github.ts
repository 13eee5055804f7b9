/** GitHub Models. */
import { offered, openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';

export const github = openAiCompatible({
  id: 'github',
  name: 'GitHub Models',
  address: 'https://models.inference.ai.azure.com',
  endpoints: { chatComplete: chat(), ...offered('complete', 'embed') },
  notes: [
    'The credential is a personal access token.',
    'GitHub has retired this service, reportedly on 2026-07-30, and the address of 2025 is gone: save the address of whatever stands in its place as custom_host.',
  ],
});
