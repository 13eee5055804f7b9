/** Zhipu AI. */
import { offered, openAiCompatible } from '../openai-compatible.ts';
import { finishReasons } from './quirks/answers.ts';
import { chat } from './quirks/chat.ts';
import { limitAsMaxTokens } from './quirks/parameters.ts';
import { effortAsThinking } from './quirks/reasoning.ts';

export const zhipu = openAiCompatible({
  id: 'zhipu',
  name: 'Zhipu AI',
  aliases: ['zhipuai', 'bigmodel'],
  address: 'https://open.bigmodel.cn/api/paas/v4',
  endpoints: {
    chatComplete: chat({
      takes: { thoughts: 'reasoning_content' },
      asks: [limitAsMaxTokens, effortAsThinking],
      answers: [finishReasons],
    }),
    ...offered('embed', 'imageGenerate'),
  },
  notes: ['reasoning_effort is sent as thinking: enabled, or disabled for none.'],
});
