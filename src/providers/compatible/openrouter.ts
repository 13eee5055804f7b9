/** OpenRouter. */
import { objectOf } from '../json.ts';
import { offered, openAiCompatible } from '../openai-compatible.ts';
import { thoughtsUnderBothNames } from './quirks/answers.ts';
import { chat } from './quirks/chat.ts';
import { limitAsMaxTokens, type Quirk } from './quirks/parameters.ts';
import { effortAsReasoning } from './quirks/reasoning.ts';
import { lacking } from './quirks/same.ts';

/** The usage of a stream is asked for in OpenRouter's own way, which also tells the cost. */
const usageIncluded: Quirk = (body) => {
  if (objectOf(body.stream_options).include_usage !== true) return body;
  return { usage: { include: true }, ...lacking(body, 'stream_options') };
};

export const openrouter = openAiCompatible({
  id: 'openrouter',
  name: 'OpenRouter',
  address: 'https://openrouter.ai/api/v1',
  endpoints: {
    chatComplete: chat({
      takes: { cacheMarks: true, thoughts: 'reasoning' },
      asks: [limitAsMaxTokens, effortAsReasoning, usageIncluded],
      answers: [thoughtsUnderBothNames],
    }),
    ...offered('complete', 'embed', 'createModelResponse', 'createSpeech', 'createTranscription', 'listModels'),
  },
  reportsCost: true,
  headers({ clientHeader }) {
    const referer = clientHeader('http-referer');
    const title = clientHeader('x-title');
    return { ...(referer !== null && { 'http-referer': referer }), ...(title !== null && { 'x-title': title }) };
  },
  notes: [
    'HTTP-Referer and X-Title of the client are handed on, so that OpenRouter knows the application.',
    'Send reasoning_details back with the results of tools, as they came.',
  ],
});
