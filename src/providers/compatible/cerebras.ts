/** Cerebras. */
import { offered, openAiCompatible } from '../openai-compatible.ts';
import { thoughtsUnderBothNames } from './quirks/answers.ts';
import { chat } from './quirks/chat.ts';
import { notSent, without } from './quirks/parameters.ts';

const unsent = [
  'frequency_penalty',
  'presence_penalty',
  'logit_bias',
  'logprobs',
  'top_logprobs',
  'parallel_tool_calls',
  'service_tier',
];

export const cerebras = openAiCompatible({
  id: 'cerebras',
  name: 'Cerebras',
  address: 'https://api.cerebras.ai/v1',
  endpoints: {
    chatComplete: chat({ asks: [without(...unsent)], answers: [thoughtsUnderBothNames] }),
    ...offered('complete', 'listModels'),
  },
  notes: [notSent(unsent)],
});
