/** SambaNova. */
import { offered, openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';
import { textAsString } from './quirks/messages.ts';
import { limitAsMaxTokens, notSent, without } from './quirks/parameters.ts';

const unsent = ['presence_penalty', 'frequency_penalty', 'logit_bias', 'user', 'seed', 'logprobs', 'top_logprobs'];

export const sambanova = openAiCompatible({
  id: 'sambanova',
  name: 'SambaNova',
  address: 'https://api.sambanova.ai/v1',
  endpoints: {
    chatComplete: chat({
      asks: [limitAsMaxTokens, textAsString, without(...unsent)],
      framing: 'sse-lines',
      answers: [],
    }),
    ...offered('embed'),
  },
  notes: [notSent(unsent)],
});
