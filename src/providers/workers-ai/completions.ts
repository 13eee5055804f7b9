/** Completions of text on Workers AI, whole and streamed. */
import { faultIn, ProviderFault } from '../faults.ts';
import { Fields } from '../fields.ts';
import { countOf, isObject, parsed, present, textOf } from '../json.ts';
import type { CallFacts, JsonObject, ServerEvent, StreamTranslator, Translation } from '../provider.ts';
import { resultIn } from './envelope.ts';

const known = new Set(['model', 'user', 'n', 'stop', 'stream_options', 'echo', 'best_of', 'logprobs', 'suffix']);

function usageOf(raw: unknown): JsonObject | null {
  if (!isObject(raw)) return null;
  const [input, output] = [countOf(raw.prompt_tokens), countOf(raw.completion_tokens)];
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
}

const completion = (facts: CallFacts, id: string, text: string, finish: string | null, usage: JsonObject | null) =>
  present({
    id,
    object: 'text_completion',
    created: facts.now(),
    model: facts.model,
    choices: [{ index: 0, text, logprobs: null, finish_reason: finish }],
    usage,
    provider: facts.provider,
  });

/** The last piece is known only when the terminator comes: until then the stream has no finish. */
class Pieces implements StreamTranslator {
  readonly #facts: CallFacts;
  readonly #id: string;
  #usage: JsonObject | null = null;

  constructor(facts: CallFacts) {
    this.#facts = facts;
    this.#id = facts.newId('cmpl-');
  }

  event({ data }: ServerEvent): ServerEvent[] {
    if (data === '[DONE]') {
      const last = completion(this.#facts, this.#id, '', 'stop', this.#usage);
      return [
        { event: null, data: JSON.stringify(last) },
        { event: null, data },
      ];
    }
    const piece = parsed(data);
    if (!isObject(piece)) throw new ProviderFault(502, 'the provider sent a piece that cannot be read');
    if (piece.errors || piece.error) throw faultIn(502, piece) ?? new ProviderFault(502, data);
    this.#usage = usageOf(piece.usage) ?? this.#usage;
    const text = textOf(piece.response);
    if (!text) return [];
    return [{ event: null, data: JSON.stringify(completion(this.#facts, this.#id, text, null, null)) }];
  }

  end(): ServerEvent[] {
    return [];
  }
}

export const completions: Translation = {
  request({ body: json, stream }) {
    const body = new Fields(json);
    return present({ ...body.others(known), prompt: body.needText('prompt'), stream: stream || null });
  },
  response(answer, facts) {
    const { response, usage } = resultIn(answer);
    const text = textOf(response) ?? JSON.stringify(response ?? '');
    return completion(facts, facts.newId('cmpl-'), text, 'stop', usageOf(usage));
  },
  stream: (facts) => new Pieces(facts),
};
