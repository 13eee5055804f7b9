/** The tool calls of a streamed answer, numbered from 0 however the server numbers them. */
import type { AnswerEvent } from '../chat/answer.ts';
import { objectOf, textOf } from '../json.ts';
import type { JsonObject } from '../provider.ts';
import { argumentText } from './answer.ts';

interface OpenCall {
  call: number;
  /** As the server gave it; null where it gave none. */
  id: string | null;
  named: boolean;
  /** Arguments that came before the name. */
  held: string;
  argued: boolean;
}

export class StreamedCalls {
  readonly #newId: (prefix: string) => string;
  readonly #all: OpenCall[] = [];
  /** The call that the server's index means at the moment. */
  readonly #byIndex = new Map<number, OpenCall>();

  constructor(newId: (prefix: string) => string) {
    this.#newId = newId;
  }

  /** Whether anything was called at all. */
  get any(): boolean {
    return this.#all.some(({ named }) => named);
  }

  read(choice: number, calls: readonly JsonObject[]): AnswerEvent[] {
    return calls.flatMap((raw) => this.#piece(choice, raw));
  }

  /** A call without arguments says so once. */
  end(choice: number): AnswerEvent[] {
    return this.#all
      .filter(({ named, argued }) => named && !argued)
      .map(({ call }) => ({ type: 'arguments', choice, call, text: '{}' }));
  }

  #piece(choice: number, raw: JsonObject): AnswerEvent[] {
    const called = objectOf(raw.function);
    const name = textOf(called.name) || null;
    const open = this.#meant(raw, name);
    const events: AnswerEvent[] = [];
    if (!open.named && name !== null) {
      open.named = true;
      const id = open.id ?? this.#newId('call_');
      events.push({
        type: 'tool-call',
        choice,
        call: open.call,
        id,
        name,
        signature: textOf(called.thought_signature),
      });
    }
    const empty = called.arguments === undefined || called.arguments === null || called.arguments === '';
    open.held += empty ? '' : argumentText(called.arguments);
    if (open.named && open.held !== '') {
      events.push({ type: 'arguments', choice, call: open.call, text: open.held });
      open.held = '';
      open.argued = true;
    }
    return events;
  }

  /** Some servers leave the index out, or give every call the same: a name under a new id is a new call. */
  #meant(raw: JsonObject, name: string | null): OpenCall {
    const index = typeof raw.index === 'number' ? raw.index : null;
    const id = textOf(raw.id) || null;
    const current = index === null ? this.#all.at(-1) : this.#byIndex.get(index);
    const isNext = current?.named && name !== null && (index === null || (id !== null && current.id !== id));
    if (current && !isNext) {
      current.id ??= id;
      return current;
    }
    const open = { call: this.#all.length, id, named: false, held: '', argued: false };
    this.#all.push(open);
    if (index !== null) this.#byIndex.set(index, open);
    return open;
  }
}
