/** Together AI. */
import { offered, openAiCompatible } from '../openai-compatible.ts';
import { finishReasons, thoughtsUnderBothNames } from './quirks/answers.ts';
import { chat } from './quirks/chat.ts';
import { limitAsMaxTokens } from './quirks/parameters.ts';

export const togetherAi = openAiCompatible({
  id: 'together-ai',
  name: 'Together AI',
  aliases: ['together'],
  address: 'https://api.together.xyz/v1',
  endpoints: {
    chatComplete: chat({ asks: [limitAsMaxTokens], answers: [finishReasons, thoughtsUnderBothNames] }),
    ...offered('complete', 'embed', 'rerank', 'imageGenerate'),
  },
});
