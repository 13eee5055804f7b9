/** Nebius AI Studio. */
import { offered, openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';
import { limitAsMaxTokens } from './quirks/parameters.ts';

export const nebius = openAiCompatible({
  id: 'nebius',
  name: 'Nebius AI Studio',
  takesStreamOptions: true,
  address: 'https://api.studio.nebius.ai/v1',
  endpoints: {
    chatComplete: chat({ asks: [limitAsMaxTokens] }),
    ...offered('complete', 'embed', 'imageGenerate', 'listModels'),
  },
  notes: ['The newer host https://api.tokenfactory.nebius.com/v1 is used by saving it as custom_host.'],
});
