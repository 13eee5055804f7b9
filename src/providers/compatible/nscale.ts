/** Nscale. */
import { offered, openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';
import { limitAsMaxTokens } from './quirks/parameters.ts';

export const nscale = openAiCompatible({
  id: 'nscale',
  name: 'Nscale',
  address: 'https://inference.api.nscale.com/v1',
  endpoints: { chatComplete: chat({ asks: [limitAsMaxTokens] }), ...offered('imageGenerate') },
});
