/** A stream of chat completion chunks, read into the steps of an answer. */
import type { AnswerEvent, AnswerReader } from '../chat/answer.ts';
import { faultIn, ProviderFault } from '../faults.ts';
import { countOf, isObject, objectOf, objectsOf, parsed, textOf } from '../json.ts';
import type { JsonObject, ServerEvent, Usage } from '../provider.ts';
import { laterUsage, readUsage } from '../usage.ts';
import { argumentText, finishOf, thoughtText } from './answer.ts';

/** A call whose name has not come yet. */
interface OpenCall {
  call: number;
  named: boolean;
  held: string;
}

export function chunkReader(newId: (prefix: string) => string): AnswerReader {
  return new ChunkReader(newId);
}

class ChunkReader implements AnswerReader {
  readonly #newId: (prefix: string) => string;
  #started = false;
  #usage: Usage | null = null;
  /** By choice and by the call's index at the provider. */
  readonly #calls = new Map<string, OpenCall>();
  readonly #callCount = new Map<number, number>();

  constructor(newId: (prefix: string) => string) {
    this.#newId = newId;
  }

  read({ data }: ServerEvent): AnswerEvent[] {
    if (data === '[DONE]') return [];
    const chunk = parsed(data);
    if (!isObject(chunk)) throw new ProviderFault(502, 'the provider sent a chunk that cannot be read');
    if (chunk.error) throw faultIn(502, chunk) ?? new ProviderFault(502, data);
    const usage = readUsage(chunk.usage) ?? readUsage(objectOf(chunk.x_groq).usage);
    if (usage) this.#usage = laterUsage(this.#usage, usage);
    return [...this.#opening(chunk), ...objectsOf(chunk.choices).flatMap((choice) => this.#choice(choice))];
  }

  end(): AnswerEvent[] {
    return this.#usage ? [{ type: 'usage', usage: this.#usage }] : [];
  }

  #opening(chunk: JsonObject): AnswerEvent[] {
    if (this.#started) return [];
    this.#started = true;
    return [{ type: 'start', id: textOf(chunk.id) || null, model: textOf(chunk.model) }];
  }

  #choice(raw: JsonObject): AnswerEvent[] {
    const choice = countOf(raw.index);
    const delta = objectOf(raw.delta);
    const events: AnswerEvent[] = [];
    const thought = thoughtText(delta);
    if (thought !== '') events.push({ type: 'thinking', choice, text: thought });
    const text = textOf(delta.content);
    if (text) events.push({ type: 'text', choice, text, ...(raw.logprobs ? { logprobs: raw.logprobs } : {}) });
    const refusal = textOf(delta.refusal);
    if (refusal) events.push({ type: 'refusal', choice, text: refusal });
    const annotations = objectsOf(delta.annotations);
    if (annotations.length > 0) events.push({ type: 'annotations', choice, annotations });
    for (const [position, call] of callsIn(delta).entries()) events.push(...this.#call(choice, call, position));
    const reason = textOf(raw.finish_reason);
    if (reason) {
      const said = this.#callCount.has(choice) && finishOf(reason) === 'stop' ? 'tool_calls' : finishOf(reason);
      events.push({ type: 'finish', choice, reason: said, providerReason: reason, stopSequence: null });
    }
    return events;
  }

  /** Arguments that come before the name are held until it is known. */
  #call(choice: number, raw: JsonObject, position: number): AnswerEvent[] {
    const called = objectOf(raw.function);
    const name = textOf(called.name);
    const place = `${choice}:${typeof raw.index === 'number' ? raw.index : this.#place(raw, choice, position)}`;
    const open = this.#calls.get(place) ?? this.#newCall(choice, place);
    const events: AnswerEvent[] = [];
    if (!open.named && name) {
      open.named = true;
      const id = textOf(raw.id) || this.#newId('call_');
      const signature = textOf(called.thought_signature);
      events.push({ type: 'tool-call', choice, call: open.call, id, name, signature });
    }
    const text = called.arguments === undefined || called.arguments === '' ? '' : argumentText(called.arguments);
    if (!open.named) open.held += text;
    else if (open.held + text !== '') {
      events.push({ type: 'arguments', choice, call: open.call, text: open.held + text });
      open.held = '';
    }
    return events;
  }

  /** Servers that send whole calls leave the index out: each one that has an id is the next. */
  #place(raw: JsonObject, choice: number, position: number): number {
    const begun = this.#callCount.get(choice) ?? 0;
    return textOf(raw.id) ? begun : Math.max(0, begun - 1 + position);
  }

  #newCall(choice: number, place: string): OpenCall {
    const call = this.#callCount.get(choice) ?? 0;
    this.#callCount.set(choice, call + 1);
    const open = { call, named: false, held: '' };
    this.#calls.set(place, open);
    return open;
  }
}

const callsIn = (delta: JsonObject): JsonObject[] => [
  ...objectsOf(delta.tool_calls),
  ...(isObject(delta.function_call) ? [{ index: 0, function: delta.function_call }] : []),
];
