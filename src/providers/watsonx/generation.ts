/** Completions on watsonx.ai, whole and streamed: whether to stream is told by the address. */
import { CompletionPieces, completionAnswer, completionUsage, refuseDemands } from '../completions.ts';
import { faultIn, ProviderFault } from '../faults.ts';
import { Fields } from '../fields.ts';
import { countOf, isObject, objectOf, objectsOf, parsed, present, textOf } from '../json.ts';
import type { CallFacts, JsonObject, ProviderEndpoint, ServerEvent, StreamTranslator } from '../provider.ts';
import { payer, textPath } from './project.ts';

const known = new Set(
  'model prompt max_tokens temperature top_p top_k stop seed stream stream_options user n best_of'.split(' '),
);

function request(facts: CallFacts): JsonObject {
  const body = new Fields(facts.body);
  refuseDemands(body, 'watsonx.ai', ['n', 'best_of']);
  const stop = body.texts('stop');
  const temperature = body.number('temperature');
  return {
    ...payer(facts),
    input: body.needText('prompt'),
    parameters: present({
      decoding_method: temperature === null || temperature === 0 ? 'greedy' : 'sample',
      max_new_tokens: body.number('max_tokens'),
      temperature: temperature === 0 ? null : temperature,
      top_p: body.number('top_p'),
      top_k: body.number('top_k'),
      random_seed: body.number('seed'),
      stop_sequences: stop.length > 0 ? stop : null,
      ...body.others(known),
    }),
  };
}

const done = new Set(['eos_token', 'stop_sequence']);

/** Null where the model goes on. What it broke off is no answer. */
function finishOf({ stop_reason }: JsonObject): string | null {
  const reason = textOf(stop_reason)?.toLowerCase() ?? 'not_finished';
  if (reason === 'error') throw new ProviderFault(502, 'the model failed while it answered');
  if (reason === 'cancelled') throw new ProviderFault(499, 'the request was cancelled');
  return reason === 'not_finished' ? null : done.has(reason) ? 'stop' : 'length';
}

function response(answer: unknown, facts: CallFacts): JsonObject {
  const results = objectsOf(objectOf(answer).results);
  const output = results.reduce((sum, result) => sum + countOf(result.generated_token_count), 0);
  const texts = results.map((result, index) => ({
    index,
    text: textOf(result.generated_text) ?? '',
    finish: finishOf(result) ?? 'stop',
  }));
  const usage = completionUsage(countOf(results[0]?.input_token_count), output);
  return completionAnswer(facts, facts.newId('cmpl-'), texts, usage);
}

/** Events count the tokens so far; what was read is told in one of them. */
class GenerationReader implements StreamTranslator {
  readonly #pieces: CompletionPieces;
  #read = 0;
  #written = 0;

  constructor(facts: CallFacts) {
    this.#pieces = new CompletionPieces(facts);
  }

  event({ event, data }: ServerEvent): ServerEvent[] {
    const body = parsed(data);
    if (!isObject(body)) throw new ProviderFault(502, 'the provider sent an event that cannot be read');
    if (event === 'error' || body.errors !== undefined) {
      throw faultIn(countOf(body.status_code) || 502, body) ?? new ProviderFault(502, data);
    }
    return objectsOf(body.results).flatMap((result) => this.#result(result));
  }

  end(): ServerEvent[] {
    return [];
  }

  #result(result: JsonObject): ServerEvent[] {
    this.#read = Math.max(this.#read, countOf(result.input_token_count));
    this.#written = Math.max(this.#written, countOf(result.generated_token_count));
    const finish = finishOf(result);
    return [
      ...this.#pieces.said(textOf(result.generated_text)),
      ...(finish === null ? [] : this.#pieces.last([{ index: 0, finish }], completionUsage(this.#read, this.#written))),
    ];
  }
}

const path = textPath('generation');
const streamPath = textPath('generation_stream');

export const generation: ProviderEndpoint = {
  path: (facts) => (facts.stream ? streamPath(facts) : path(facts)),
  translation: { request, response, stream: (facts) => new GenerationReader(facts) },
};
