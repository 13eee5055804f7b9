/** Cohere's older text generation, for completions. */

import { RequestFault } from '../faults.ts';
import { Fields } from '../fields.ts';
import { countOf, objectOf, objectsOf, present, textOf } from '../json.ts';
import type { CallFacts, JsonObject, Translation } from '../provider.ts';

const known = new Set([
  'model',
  'prompt',
  'n',
  'max_tokens',
  'temperature',
  'top_p',
  'top_k',
  'stop',
  'stream',
  'user',
]);

function request({ body: json, model, stream }: CallFacts): JsonObject {
  const body = new Fields(json);
  if (stream) throw new RequestFault('stream', 'completions of Cohere do not stream: use chat');
  const stop = body.texts('stop');
  return present({
    model,
    prompt: body.needText('prompt'),
    num_generations: body.number('n'),
    max_tokens: body.number('max_tokens'),
    temperature: body.number('temperature'),
    p: body.number('top_p'),
    k: body.number('top_k'),
    stop_sequences: stop.length > 0 ? stop : null,
    ...body.others(known),
  });
}

function response(answer: unknown, { model, provider, now, newId }: CallFacts): JsonObject {
  const { id, generations, meta } = objectOf(answer);
  const { input_tokens, output_tokens } = objectOf(objectOf(meta).billed_units);
  const input = countOf(input_tokens);
  const output = countOf(output_tokens);
  return {
    id: textOf(id) ?? newId('cmpl-'),
    object: 'text_completion',
    created: now(),
    model,
    choices: objectsOf(generations).map((generation, index) => ({
      index,
      text: textOf(generation.text) ?? '',
      logprobs: null,
      finish_reason: textOf(generation.finish_reason) === 'MAX_TOKENS' ? 'length' : 'stop',
    })),
    usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
    provider,
  };
}

export const generate: Translation = { request, response };
