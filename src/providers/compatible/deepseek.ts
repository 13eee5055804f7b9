/** DeepSeek. */
import { openAiCompatible } from '../openai-compatible.ts';
import { finishReasons } from './quirks/answers.ts';
import { chat } from './quirks/chat.ts';
import { textAsString, thoughtsOfRunningTurn } from './quirks/messages.ts';
import { messagesAt } from './quirks/messages-endpoint.ts';
import { limitAsMaxTokens, notSent, oneChoice, without } from './quirks/parameters.ts';
import { effortWithThinking } from './quirks/reasoning.ts';
import { cacheHits } from './quirks/usage.ts';

const unsent = ['seed', 'user', 'logit_bias', 'parallel_tool_calls', 'service_tier'];

export const deepseek = openAiCompatible({
  id: 'deepseek',
  name: 'DeepSeek',
  takesStreamOptions: true,
  address: 'https://api.deepseek.com',
  endpoints: {
    chatComplete: chat({
      path: '/v1/chat/completions',
      takes: { thoughts: 'reasoning_content' },
      asks: [limitAsMaxTokens, oneChoice, textAsString, thoughtsOfRunningTurn, effortWithThinking, without(...unsent)],
      answers: [finishReasons, cacheHits],
    }),
    complete: { path: '/beta/completions' },
    messages: messagesAt('/anthropic/v1/messages'),
    messagesCountTokens: messagesAt('/anthropic/v1/messages/count_tokens'),
    listModels: { path: '/models' },
  },
  notes: ['Structured output is JSON mode only, without a schema.', notSent(unsent)],
});
