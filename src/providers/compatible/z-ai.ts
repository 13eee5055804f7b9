/** Z.AI. */
import { openAiCompatible } from '../openai-compatible.ts';
import { finishReasons } from './quirks/answers.ts';
import { chat } from './quirks/chat.ts';
import { limitAsMaxTokens } from './quirks/parameters.ts';
import { effortAsThinking } from './quirks/reasoning.ts';

export const zAi = openAiCompatible({
  id: 'z-ai',
  name: 'Z.AI',

  address: 'https://api.z.ai/api/paas/v4',
  endpoints: {
    chatComplete: chat({
      takes: { thoughts: 'reasoning_content' },
      asks: [limitAsMaxTokens, effortAsThinking],
      answers: [finishReasons],
    }),
  },
  notes: ['reasoning_effort is sent as thinking: enabled, or disabled for none.'],
});
