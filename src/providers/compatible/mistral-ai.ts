/** Mistral AI. */
import { offered, openAiCompatible } from '../openai-compatible.ts';
import type { OfferedEndpoint } from '../provider.ts';
import { fillInTheMiddle, mistralParameters } from './mistral-fim.ts';
import { mistralSpeech } from './mistral-speech.ts';
import { contentAsText, finishReasons, wholeCalls } from './quirks/answers.ts';
import { chat } from './quirks/chat.ts';
import { nameOnToolsOnly } from './quirks/messages.ts';
import { notSent } from './quirks/parameters.ts';
import { nineCharacterIds, plainSchemas, requiredAsAny } from './quirks/tools.ts';

/** How Mistral's chat differs, wherever it is served. */
export const mistralChat = {
  asks: [mistralParameters, nameOnToolsOnly, plainSchemas, requiredAsAny, nineCharacterIds],
  answers: [contentAsText, wholeCalls, finishReasons],
};

const chatting = chat(mistralChat);

const fimPath = '/fim/completions';

/** A target can be set to fill in the middle: then the body of a chat holds a prompt and a suffix. */
const chatOrFim: OfferedEndpoint = (facts) => {
  const { mistral_fim_completion: fim } = facts.fields;
  if (facts.body.prompt !== undefined && (fim === true || fim === 'true')) {
    return { path: fimPath, adjust: mistralParameters };
  }
  return chatting(facts);
};

export const mistralAi = openAiCompatible({
  id: 'mistral-ai',
  name: 'Mistral AI',
  address: 'https://api.mistral.ai/v1',
  endpoints: {
    chatComplete: chatOrFim,
    complete: { path: fimPath, translation: fillInTheMiddle },
    createSpeech: { translation: mistralSpeech },
    ...offered('embed', 'ocr', 'moderate', 'createTranscription', 'listModels'),
  },
  fields: [
    {
      name: 'mistral_fim_completion',
      about: 'true: a chat call that holds a prompt and a suffix fills in the middle.',
    },
  ],
  notes: [
    'Ids of tool calls have nine letters and digits; those of other providers are replaced by a digest.',
    'Completions fill in the middle: prompt, and suffix. Codestral keys need https://codestral.mistral.ai/v1 as custom_host.',
    'Transcripts take timestamp_granularities. A voice of speech is the id of one of Mistral’s, or of your own.',
    notSent(['user', 'logit_bias', 'logprobs', 'top_logprobs', 'stream_options', 'store', 'service_tier']),
  ],
});
