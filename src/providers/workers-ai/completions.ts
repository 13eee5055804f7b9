/** Completions of text on Workers AI, whole and streamed. */
import { CompletionPieces, completionAnswer, completionUsage, refuseDemands } from '../completions.ts';
import { faultIn, ProviderFault } from '../faults.ts';
import { Fields } from '../fields.ts';
import { countOf, isObject, objectOf, objectsOf, parsed, present, textOf } from '../json.ts';
import type { CallFacts, JsonObject, ServerEvent, StreamTranslator, Translation } from '../provider.ts';
import { resultIn } from './envelope.ts';

const unknown = ['n', 'best_of', 'stop', 'echo', 'suffix', 'logprobs'] as const;
const taken = new Set(['model', 'user', 'stream_options', ...unknown]);

const usageOf = (raw: unknown): JsonObject | null =>
  isObject(raw) ? completionUsage(countOf(raw.prompt_tokens), countOf(raw.completion_tokens)) : null;

/** What was said, and why it ends there where that is told; null where the model said nothing. Newer models answer with choices. */
function saidIn({ response, choices }: JsonObject): { text: string; finish: string | null } | null {
  if (isObject(response)) return { text: JSON.stringify(response), finish: null };
  const [choice] = objectsOf(choices);
  const text = textOf(response) ?? textOf(choice?.text) ?? textOf(objectOf(choice?.message).content);
  return text === null ? null : { text, finish: textOf(choice?.finish_reason) };
}

/** The last piece is known only when the terminator comes: until then the stream has no finish. */
class PieceReader implements StreamTranslator {
  readonly #pieces: CompletionPieces;
  #usage: JsonObject | null = null;
  #finish = 'stop';

  constructor(facts: CallFacts) {
    this.#pieces = new CompletionPieces(facts);
  }

  event({ data }: ServerEvent): ServerEvent[] {
    if (data === '[DONE]') return this.#pieces.last([{ index: 0, finish: this.#finish }], this.#usage);
    const piece = parsed(data);
    if (!isObject(piece)) throw new ProviderFault(502, 'the provider sent a piece that cannot be read');
    if (piece.errors || piece.error) throw faultIn(502, piece) ?? new ProviderFault(502, data);
    this.#usage = usageOf(piece.usage) ?? this.#usage;
    const said = saidIn(piece);
    this.#finish = said?.finish ?? this.#finish;
    return this.#pieces.said(said?.text ?? null);
  }

  end(): ServerEvent[] {
    return [];
  }
}

export const completions: Translation = {
  request({ body: json, stream }) {
    const body = new Fields(json);
    refuseDemands(body, 'Workers AI', unknown);
    return present({ ...body.others(taken), prompt: body.needText('prompt'), stream: stream || null });
  },
  response(answer, facts) {
    const result = resultIn(answer);
    const said = saidIn(result);
    if (!said) throw new ProviderFault(502, `the answer holds no text: ${JSON.stringify(answer).slice(0, 500)}`);
    const { text, finish } = said;
    const completed = { index: 0, text, finish: finish ?? 'stop' };
    return completionAnswer(facts, facts.newId('cmpl-'), [completed], usageOf(result.usage));
  },
  stream: (facts) => new PieceReader(facts),
};
