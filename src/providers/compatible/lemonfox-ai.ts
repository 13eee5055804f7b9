/** Lemonfox. */
import { objectOf } from '../json.ts';
import { offered, openAiCompatible } from '../openai-compatible.ts';
import { chat } from './quirks/chat.ts';
import { limitAsMaxTokens, notSent, oneChoice, refuses, refusesTools, without } from './quirks/parameters.ts';

const unsent = ['logit_bias', 'user', 'seed', 'logprobs', 'top_logprobs', 'stream_options'];

const isPlainText = (format: unknown): boolean => objectOf(format).type === 'text';

export const lemonfoxAi = openAiCompatible({
  id: 'lemonfox-ai',
  name: 'Lemonfox',
  aliases: ['lemonfox'],
  address: 'https://api.lemonfox.ai/v1',
  endpoints: {
    chatComplete: chat({
      asks: [
        limitAsMaxTokens,
        refusesTools,
        refuses('response_format', 'structured output', isPlainText),
        oneChoice,
        without(...unsent),
      ],
    }),
    ...offered('imageGenerate', 'createTranscription'),
  },
  notes: [
    'Chat has no tools, no structured output and one choice; a call that asks for them is refused.',
    notSent(unsent),
  ],
});
