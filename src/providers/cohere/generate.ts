/** Cohere's older text generation, for completions: whole, or as lines of JSON. */
import { CompletionPieces, completionAnswer, completionUsage } from '../completions.ts';
import { ProviderFault } from '../faults.ts';
import { Fields } from '../fields.ts';
import { countOf, isObject, objectOf, objectsOf, parsed, present, textOf } from '../json.ts';
import type { CallFacts, JsonObject, ProviderEndpoint, ServerEvent, StreamTranslator } from '../provider.ts';
import { finishOf } from './answer.ts';

const known = new Set('model prompt n max_tokens temperature top_p top_k stop stream stream_options user'.split(' '));

function request({ body: json, model, stream }: CallFacts): JsonObject {
  const body = new Fields(json);
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
    stream: stream || null,
    ...body.others(known),
  });
}

function response(answer: unknown, facts: CallFacts): JsonObject {
  const { id, generations, meta } = objectOf(answer);
  const texts = objectsOf(generations).map((generation, index) => ({
    index,
    text: textOf(generation.text) ?? '',
    finish: finishOf(textOf(generation.finish_reason)),
  }));
  return completionAnswer(facts, textOf(id) ?? facts.newId('cmpl-'), texts, usageOf(meta) ?? completionUsage(0, 0));
}

function usageOf(meta: unknown): JsonObject | null {
  const { billed_units } = objectOf(meta);
  if (!isObject(billed_units)) return null;
  return completionUsage(countOf(billed_units.input_tokens), countOf(billed_units.output_tokens));
}

class GenerationReader implements StreamTranslator {
  readonly #pieces: CompletionPieces;

  constructor(facts: CallFacts) {
    this.#pieces = new CompletionPieces(facts);
  }

  event({ data }: ServerEvent): ServerEvent[] {
    const line = parsed(data);
    if (!isObject(line)) throw new ProviderFault(502, 'the provider sent a line that cannot be read');
    if (line.err !== undefined) throw new ProviderFault(502, textOf(line.err) ?? data);
    return line.is_finished === true ? this.#ended(line) : this.#pieces.said(textOf(line.text), countOf(line.index));
  }

  end(): ServerEvent[] {
    return [];
  }

  #ended({ finish_reason, response: whole }: JsonObject): ServerEvent[] {
    const { generations, meta } = objectOf(whole);
    const ends = objectsOf(generations).map((generation, index) => ({
      index,
      finish: finishOf(textOf(generation.finish_reason) ?? textOf(finish_reason)),
    }));
    const own = ends.length > 0 ? ends : [{ index: 0, finish: finishOf(textOf(finish_reason)) }];
    return this.#pieces.last(own, usageOf(meta));
  }
}

export const generate: ProviderEndpoint = {
  path: '/v1/generate',
  framing: 'lines',
  translation: { request, response, stream: (facts) => new GenerationReader(facts) },
};
