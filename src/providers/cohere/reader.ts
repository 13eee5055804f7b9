/** Cohere's stream, read into the steps of an answer. */
import type { AnswerEvent, AnswerReader } from '../chat/answer.ts';
import { faultIn, ProviderFault } from '../faults.ts';
import { countOf, isObject, objectOf, objectsOf, parsed, textOf } from '../json.ts';
import type { JsonObject, ServerEvent } from '../provider.ts';
import { annotationsOf, finishOf, logprobsOf, readUsage } from './answer.ts';

interface OpenCall {
  call: number;
  hasArguments: boolean;
}

/** There is one answer, whatever the events count with their `index`. */
const choice = 0;

export class CohereReader implements AnswerReader {
  readonly #newId: (prefix: string) => string;
  /** By the event's index. */
  readonly #calls = new Map<number, OpenCall>();
  readonly #citations: JsonObject[] = [];

  constructor(newId: (prefix: string) => string) {
    this.#newId = newId;
  }

  read({ data }: ServerEvent): AnswerEvent[] {
    if (data === '[DONE]') return [];
    const event = parsed(data);
    if (!isObject(event)) throw new ProviderFault(502, 'the provider sent an event that cannot be read');
    const message = objectOf(objectOf(event.delta).message);
    switch (event.type) {
      case 'message-start':
        return [{ type: 'start', id: textOf(event.id), model: null }];
      case 'content-start':
      case 'content-delta':
        return saidIn(objectOf(message.content), event.logprobs);
      case 'tool-plan-delta':
        return thought(textOf(message.tool_plan));
      case 'tool-call-start':
        return this.#opened(countOf(event.index), objectOf(message.tool_calls));
      case 'tool-call-delta':
        return this.#written(countOf(event.index), textOf(objectOf(objectOf(message.tool_calls).function).arguments));
      case 'tool-call-end':
        return this.#closed(countOf(event.index));
      case 'citation-start':
        return this.#cited(message.citations);
      case 'message-end':
        return this.#ended(objectOf(event.delta));
      case undefined:
        throw faultIn(502, event) ?? new ProviderFault(502, data);
      default:
        return [];
    }
  }

  end(): AnswerEvent[] {
    return [];
  }

  #opened(index: number, raw: JsonObject): AnswerEvent[] {
    const called = objectOf(raw.function);
    const open = { call: this.#calls.size, hasArguments: false };
    this.#calls.set(index, open);
    const id = textOf(raw.id) || this.#newId('call_');
    const name = textOf(called.name) ?? '';
    return [
      { type: 'tool-call', choice, call: open.call, id, name, signature: null },
      ...this.#written(index, textOf(called.arguments)),
    ];
  }

  #written(index: number, text: string | null): AnswerEvent[] {
    const open = this.#calls.get(index);
    if (!open || !text) return [];
    open.hasArguments = true;
    return [{ type: 'arguments', choice, call: open.call, text }];
  }

  /** A call without arguments has empty ones. */
  #closed(index: number): AnswerEvent[] {
    return this.#calls.get(index)?.hasArguments === false ? this.#written(index, '{}') : [];
  }

  #cited(raw: unknown): AnswerEvent[] {
    const citations = isObject(raw) ? [raw] : objectsOf(raw);
    this.#citations.push(...citations);
    const annotations = citations.flatMap(annotationsOf);
    return annotations.length > 0 ? [{ type: 'annotations', choice, annotations }] : [];
  }

  #ended(delta: JsonObject): AnswerEvent[] {
    const words = textOf(delta.error);
    const reason = textOf(delta.finish_reason) ?? (words ? 'ERROR' : null);
    const usage = readUsage(delta.usage);
    return [
      ...(this.#citations.length > 0 ? [{ type: 'extras', fields: { citations: this.#citations } } as const] : []),
      { type: 'finish', choice, reason: finishOf(reason, words), providerReason: reason, stopSequence: null },
      ...(usage ? [{ type: 'usage', usage } as const] : []),
    ];
  }
}

function saidIn(content: JsonObject, logprobs: unknown): AnswerEvent[] {
  const text = textOf(content.text);
  const probabilities = logprobsOf(logprobs);
  return [
    ...thought(textOf(content.thinking)),
    ...(text ? [{ type: 'text', choice, text, ...(probabilities && { logprobs: probabilities }) } as const] : []),
  ];
}

const thought = (text: string | null): AnswerEvent[] => (text ? [{ type: 'thinking', choice, text }] : []);
