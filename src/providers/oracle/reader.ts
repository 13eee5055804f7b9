/** Streams of OCI in both of its formats, read into the steps of an answer. */
import type { AnswerEvent, AnswerReader } from '../chat/answer.ts';
import { finishWithCalls } from '../chat/finish.ts';
import { faultIn, ProviderFault } from '../faults.ts';
import { countOf, isObject, objectOf, parsed, textOf } from '../json.ts';
import type { JsonObject, ServerEvent, Usage } from '../provider.ts';
import { callsIn, finishOf, type ReadCall, readUsage, textIn } from './answer.ts';

interface OpenCall {
  call: number;
  hasArguments: boolean;
}

export class OracleReader implements AnswerReader {
  readonly #newId: (prefix: string) => string;
  #started = false;
  #usage: Usage | null = null;
  /** The calls of each choice, in their order. */
  readonly #calls = new Map<number, OpenCall[]>();

  constructor(newId: (prefix: string) => string) {
    this.#newId = newId;
  }

  read({ data }: ServerEvent): AnswerEvent[] {
    if (data === '[DONE]') return [];
    const record = parsed(data);
    if (!isObject(record)) throw new ProviderFault(502, 'the provider sent a record that cannot be read');
    if ('code' in record && 'message' in record && typeof record.message === 'string') {
      throw faultIn(502, record) ?? new ProviderFault(502, data);
    }
    this.#usage = readUsage(record.usage) ?? this.#usage;
    const opening: AnswerEvent[] = this.#started ? [] : [{ type: 'start', id: null, model: null }];
    this.#started = true;
    return [...opening, ...this.#choice(record)];
  }

  end(): AnswerEvent[] {
    return this.#usage ? [{ type: 'usage', usage: this.#usage }] : [];
  }

  /** The last record of the older format repeats the whole text and the calls, and says that it is the last. */
  #choice(record: JsonObject): AnswerEvent[] {
    const choice = countOf(record.index);
    const message = objectOf(record.message);
    const reason = textOf(record.finishReason);
    const repeats = reason !== null && record.apiFormat === 'COHERE';
    const text = repeats ? '' : textIn(message) || (textOf(record.text) ?? '');
    const thought = textOf(message.reasoningContent);
    const calls = repeats && this.#calls.has(choice) ? [] : callsIn(message.toolCalls ?? record.toolCalls);
    const events: AnswerEvent[] = [
      ...(thought ? [{ type: 'thinking', choice, text: thought } as const] : []),
      ...(text ? [{ type: 'text', choice, text } as const] : []),
      ...calls.flatMap((call) => this.#call(choice, call)),
    ];
    return reason === null ? events : [...events, ...this.#finish(choice, reason)];
  }

  /** A call that has a name is a new one; what has none goes on with the last. */
  #call(choice: number, { id, name, arguments: text }: ReadCall): AnswerEvent[] {
    const open = this.#calls.get(choice) ?? [];
    this.#calls.set(choice, open);
    const events: AnswerEvent[] = [];
    if (name) {
      const call = open.length;
      open.push({ call, hasArguments: false });
      events.push({ type: 'tool-call', choice, call, id: id || this.#newId('call_'), name, signature: null });
    }
    const last = open.at(-1);
    if (last && text !== '') {
      last.hasArguments = true;
      events.push({ type: 'arguments', choice, call: last.call, text });
    }
    return events;
  }

  #finish(choice: number, reason: string): AnswerEvent[] {
    const calls = this.#calls.get(choice) ?? [];
    const bare = calls.filter(({ hasArguments }) => !hasArguments);
    return [
      ...bare.map(({ call }): AnswerEvent => ({ type: 'arguments', choice, call, text: '{}' })),
      {
        type: 'finish',
        choice,
        reason: finishWithCalls(finishOf(reason), calls.length > 0),
        providerReason: reason,
        stopSequence: null,
      },
    ];
  }
}
