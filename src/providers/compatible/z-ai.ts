/** Z.AI. */
import { openAiCompatible } from '../openai-compatible.ts';
import { finishReasons } from './quirks/answers.ts';
import { chat } from './quirks/chat.ts';
import { limitAsMaxTokens } from './quirks/parameters.ts';
import { effortWithThinking } from './quirks/reasoning.ts';

export const zAi = openAiCompatible({
  id: 'z-ai',
  name: 'Z.AI',
  address: 'https://api.z.ai/api/paas/v4',
  endpoints: {
    chatComplete: chat({
      takes: { thoughts: 'reasoning_content' },
      asks: [limitAsMaxTokens, effortWithThinking],
      answers: [finishReasons],
    }),
  },
  notes: ['With reasoning_effort, thinking is sent beside it: enabled, or disabled for none.'],
});
