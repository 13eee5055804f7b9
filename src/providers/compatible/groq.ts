/** Groq. */
import { offered, openAiCompatible } from '../openai-compatible.ts';
import { thoughtsUnderBothNames } from './quirks/answers.ts';
import { chat } from './quirks/chat.ts';
import { notSent, without } from './quirks/parameters.ts';
import { usageIn } from './quirks/usage.ts';

const unsent = ['logprobs', 'top_logprobs', 'logit_bias'];

export const groq = openAiCompatible({
  id: 'groq',
  name: 'Groq',
  address: 'https://api.groq.com/openai/v1',
  endpoints: {
    // A stream that was not asked for its usage tells it in an object of Groq's own.
    chatComplete: chat({ asks: [without(...unsent)], answers: [thoughtsUnderBothNames, usageIn('x_groq')] }),
    ...offered('createTranscription', 'createTranslation', 'createSpeech', 'listModels', 'createModelResponse'),
  },
  notes: [notSent(unsent)],
});
