/** AIHubMix. */
import { openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';

export const aihubmix = openAiCompatible({
  id: 'aihubmix',
  name: 'AIHubMix',
  address: 'https://aihubmix.com/v1',
  endpoints: { chatComplete: chat() },
});
