/** Text completions in the dialect of Text Generation Inference: `{inputs, parameters}` and generated text. */
import { PayloadParts } from './aws/payload-parts.ts';
import { refuseDemands } from './completions.ts';
import { faultIn, ProviderFault, RequestFault } from './faults.ts';
import { Fields } from './fields.ts';
import { countOf, isObject, listOf, objectOf, parsed, present, textOf } from './json.ts';
import type { CallFacts, JsonObject, ServerEvent, StreamTranslator, Translation } from './provider.ts';

export const generated: Translation = {
  request: writeRequest,
  response: (answer, facts) => {
    const { generated_text, details } = objectOf(Array.isArray(answer) ? answer[0] : answer);
    if (textOf(generated_text) === null) {
      throw new ProviderFault(
        502,
        `the endpoint answered without generated_text: ${JSON.stringify(answer).slice(0, 500)}`,
      );
    }
    return chunk(facts, facts.newId('cmpl-'), textOf(generated_text) ?? '', objectOf(details));
  },
  stream: (facts) => new GenerationTranslator(facts),
};

/** The least temperature that the dialect takes. */
const coldest = 0.01;

function writeRequest({ body, stream }: CallFacts): JsonObject {
  const fields = new Fields(body);
  const prompts = fields.texts('prompt');
  const [prompt] = prompts;
  if (prompt === undefined || prompts.length > 1) throw new RequestFault('prompt', 'prompt must be one text');
  refuseDemands(fields, 'the endpoint', ['n', 'suffix']);
  const temperature = fields.number('temperature');
  const stop = fields.texts('stop');
  return {
    inputs: prompt,
    parameters: present({
      max_new_tokens: fields.number('max_tokens'),
      temperature: temperature === null ? null : Math.max(coldest, temperature),
      do_sample: temperature === null ? null : temperature > 0,
      top_p: fields.number('top_p'),
      top_k: fields.number('top_k'),
      seed: fields.number('seed'),
      stop: stop.length > 0 ? stop : null,
      best_of: fields.number('best_of'),
      return_full_text: fields.flag('echo') ?? false,
      details: true,
      ...(isObject(body.parameters) && body.parameters),
    }),
    ...(stream && { stream: true }),
  };
}

const reasonOf = (reason: string | null, { strict }: CallFacts): string | null =>
  reason === null || !strict ? reason : done.has(reason) ? 'stop' : 'length';

const done = new Set(['eos_token', 'stop_sequence', 'stop']);

function chunk(facts: CallFacts, id: string, text: string, details: JsonObject): JsonObject {
  const reason = reasonOf(textOf(details.finish_reason), facts);
  const input = listOf(details.prefill).length;
  const output = countOf(details.generated_tokens);
  return {
    id,
    object: 'text_completion',
    created: facts.now(),
    model: facts.model,
    choices: [{ text, index: 0, logprobs: null, finish_reason: reason }],
    ...(output > 0 && { usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output } }),
    provider: facts.provider,
  };
}

class GenerationTranslator implements StreamTranslator {
  readonly #parts = new PayloadParts();
  readonly #facts: CallFacts;
  readonly #id: string;
  #stopped = false;

  constructor(facts: CallFacts) {
    this.#facts = facts;
    this.#id = facts.newId('cmpl-');
  }

  event(event: ServerEvent): ServerEvent[] {
    return this.#parts.read(event).flatMap((own) => this.#token(own));
  }

  end(): ServerEvent[] {
    const rest = this.#parts.rest().flatMap((own) => this.#token(own));
    return this.#stopped ? [...rest, { event: null, data: '[DONE]' }] : rest;
  }

  /** `{token: {text, special}, generated_text, details}`; the last one has the whole text. */
  #token({ data }: ServerEvent): ServerEvent[] {
    const body = parsed(data);
    if (!isObject(body)) return [];
    if (body.error !== undefined) throw faultIn(424, body) ?? new ProviderFault(424, data);
    const token = objectOf(body.token);
    if (typeof body.generated_text === 'string') this.#stopped = true;
    const text = token.special === true ? '' : (textOf(token.text) ?? '');
    const details = this.#stopped ? { finish_reason: 'eos_token', ...objectOf(body.details) } : {};
    return [{ event: null, data: JSON.stringify(chunk(this.#facts, this.#id, text, details)) }];
  }
}
