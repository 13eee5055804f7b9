/** A stream of chat completion chunks, read into the steps of an answer. */
import type { AnswerEvent, AnswerReader } from '../chat/answer.ts';
import { finishWithCalls } from '../chat/finish.ts';
import { faultIn, ProviderFault } from '../faults.ts';
import { countOf, isObject, objectOf, objectsOf, parsed, textOf } from '../json.ts';
import type { JsonObject, ServerEvent, Usage } from '../provider.ts';
import { laterUsage } from '../usage.ts';
import { extrasOf, finishOf, isCall, sourcesOf, usageOf } from './answer.ts';
import { StreamedCalls } from './calls.ts';
import { mediaOf, saidIn } from './message.ts';

export const chunkReader = (newId: (prefix: string) => string): AnswerReader => new ChunkReader(newId);

class ChunkReader implements AnswerReader {
  readonly #newId: (prefix: string) => string;
  #started = false;
  #usage: Usage | null = null;
  /** By choice. */
  readonly #calls = new Map<number, StreamedCalls>();
  readonly #spoken = new Set<number>();
  readonly #finished = new Set<number>();
  /** Sources of the whole answer that were told. */
  readonly #told = new Set<string>();
  /** What the provider tells of the whole answer besides. */
  readonly #extras: JsonObject = {};

  constructor(newId: (prefix: string) => string) {
    this.#newId = newId;
  }

  read({ data }: ServerEvent): AnswerEvent[] {
    if (data === '[DONE]') return this.#done();
    const chunk = parsed(data);
    if (!isObject(chunk)) throw new ProviderFault(502, 'the provider sent a chunk that cannot be read');
    if (chunk.error) throw faultIn(statusIn(chunk.error), chunk) ?? new ProviderFault(502, data);
    const usage = usageOf(chunk);
    if (usage) this.#usage = laterUsage(this.#usage, usage);
    Object.assign(this.#extras, extrasOf(chunk));
    return [
      ...this.#opening(chunk),
      ...objectsOf(chunk.choices).flatMap((choice) => this.#choice(choice)),
      ...this.#sources(chunk),
    ];
  }

  end(): AnswerEvent[] {
    return [
      ...[...this.#calls].flatMap(([choice, calls]) => calls.end(choice)),
      ...(Object.keys(this.#extras).length > 0 ? [{ type: 'extras', fields: this.#extras } as const] : []),
      ...(this.#usage ? [{ type: 'usage', usage: this.#usage } as const] : []),
    ];
  }

  /** A verdict on the prompt may come before the answer, and opens nothing. */
  #opening(chunk: JsonObject): AnswerEvent[] {
    if (this.#started || (!chunk.id && objectsOf(chunk.choices).length === 0)) return [];
    this.#started = true;
    return [{ type: 'start', id: textOf(chunk.id) || null, model: textOf(chunk.model) || null }];
  }

  /** They stand beside every chunk, or beside one of them: each is told once. */
  #sources(chunk: JsonObject): AnswerEvent[] {
    const annotations = sourcesOf(chunk).filter((source) => {
      const written = JSON.stringify(source);
      return !this.#told.has(written) && this.#told.add(written);
    });
    return annotations.length > 0 ? [{ type: 'annotations', choice: 0, annotations }] : [];
  }

  #choice(raw: JsonObject): AnswerEvent[] {
    const choice = countOf(raw.index);
    const delta = objectOf(raw.delta ?? raw.message);
    const said = saidIn(delta);
    const annotations = objectsOf(delta.annotations);
    const reason = textOf(raw.finish_reason);
    const calls = callsIn(delta);
    this.#spoken.add(choice);
    return [
      ...(said.thought === '' ? [] : [{ type: 'thinking', choice, text: said.thought } as const]),
      ...(said.text === '' ? [] : [textEvent(choice, said.text, raw.logprobs)]),
      ...(said.refusal === '' ? [] : [{ type: 'refusal', choice, text: said.refusal } as const]),
      ...mediaOf(delta).map((media) => ({ type: 'media', choice, media }) as const),
      ...(annotations.length === 0 ? [] : [{ type: 'annotations', choice, annotations } as const]),
      ...(calls.length === 0 ? [] : this.#callsOf(choice).read(choice, calls)),
      ...(reason ? this.#finish(choice, reason) : []),
    ];
  }

  #callsOf(choice: number): StreamedCalls {
    const known = this.#calls.get(choice);
    if (known) return known;
    const calls = new StreamedCalls(this.#newId);
    this.#calls.set(choice, calls);
    return calls;
  }

  #finish(choice: number, providerReason: string | null): AnswerEvent[] {
    if (this.#finished.has(choice)) return [];
    this.#finished.add(choice);
    const reason = finishWithCalls(finishOf(providerReason), this.#calls.get(choice)?.any ?? false);
    return [{ type: 'finish', choice, reason, providerReason, stopSequence: null }];
  }

  /** The terminator is a word too: servers that never say why the model stopped still say that it did. */
  #done(): AnswerEvent[] {
    return [...this.#spoken].flatMap((choice) => this.#finish(choice, null));
  }
}

const textEvent = (choice: number, text: string, logprobs: unknown): AnswerEvent => ({
  type: 'text',
  choice,
  text,
  ...(logprobs ? { logprobs } : {}),
});

/** An error's code is the status that the provider would have answered with, where it is one. */
function statusIn(error: unknown): number {
  const code = Number(objectOf(error).code);
  return Number.isInteger(code) && code >= 400 && code <= 599 ? code : 502;
}

const callsIn = (delta: JsonObject): JsonObject[] => [
  ...objectsOf(delta.tool_calls),
  ...(isObject(delta.function_call) ? [{ index: 0, function: delta.function_call }].filter(isCall) : []),
];
