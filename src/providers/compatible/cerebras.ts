/** Cerebras. */
import { offered, openAiCompatible } from '../openai-compatible.ts';
import { thoughtsUnderBothNames } from './quirks/answers.ts';
import { chat } from './quirks/chat.ts';
import { thoughtsAsReasoning, thoughtsInTags } from './quirks/messages.ts';
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

const isGlm = (model: string): boolean => /^zai-|glm/i.test(model);

export const cerebras = openAiCompatible({
  id: 'cerebras',
  name: 'Cerebras',
  takesStreamOptions: true,
  address: 'https://api.cerebras.ai/v1',
  endpoints: {
    chatComplete: chat({
      takes: { thoughts: 'reasoning' },
      asks: [thoughtsAsReasoning, thoughtsInTags(isGlm), without(...unsent)],
      answers: [thoughtsUnderBothNames],
    }),
    ...offered('complete', 'listModels'),
  },
  notes: [notSent(unsent)],
});
