/** Alibaba DashScope. */
import { offered, openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';
import { textAsString } from './quirks/messages.ts';
import { limitAsMaxTokens } from './quirks/parameters.ts';
import { elsewhere } from './quirks/paths.ts';
import { effortAsBudget } from './quirks/reasoning.ts';

const home = 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1';

export const dashscope = openAiCompatible({
  id: 'dashscope',
  name: 'Alibaba DashScope',
  takesStreamOptions: true,
  aliases: ['qwen', 'alibaba'],
  address: home,
  endpoints: {
    chatComplete: chat({ takes: { cacheMarks: true }, asks: [limitAsMaxTokens, textAsString, effortAsBudget] }),
    ...offered('embed'),
    rerank: { path: elsewhere(home, () => 'https://dashscope-intl.aliyuncs.com/compatible-api/v1/reranks') },
  },
  notes: [
    'In China, save https://dashscope.aliyuncs.com/compatible-mode/v1 as custom_host.',
    'reasoning_effort is sent as enable_thinking and thinking_budget.',
  ],
});
