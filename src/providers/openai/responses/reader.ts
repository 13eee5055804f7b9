/** The stream of a response, read into the steps of an answer. */
import type { AnswerEvent, AnswerReader } from '../../chat/answer.ts';
import { faultIn, ProviderFault } from '../../faults.ts';
import { countOf, isObject, objectOf, objectsOf, parsed, textOf } from '../../json.ts';
import type { JsonObject, ServerEvent } from '../../provider.ts';
import { readResponseUsage } from '../../usage.ts';
import { betweenParts, failureOf, finishOf, nested, signatureOf } from './answer.ts';

export class ResponsesStreamReader implements AnswerReader {
  /** The number of each call, by its item's id. */
  readonly #calls = new Map<string, number>();
  readonly #argued = new Set<number>();

  read({ data }: ServerEvent): AnswerEvent[] {
    // Some servers end this dialect as they end chat.
    if (data === '[DONE]') return [];
    const event = parsed(data);
    if (!isObject(event)) throw new ProviderFault(502, 'the provider sent an event that cannot be read');
    const choice = 0;
    const text = textOf(event.delta) ?? '';
    switch (event.type) {
      case 'response.created': {
        const { id, model } = objectOf(event.response);
        return [{ type: 'start', id: textOf(id), model: textOf(model) }];
      }
      case 'response.output_text.delta': {
        const logprobs = objectsOf(event.logprobs);
        return [{ type: 'text', choice, text, ...(logprobs.length > 0 && { logprobs: { content: logprobs } }) }];
      }
      case 'response.refusal.delta':
        return [{ type: 'refusal', choice, text }];
      case 'response.reasoning_summary_text.delta':
        return [{ type: 'thinking', choice, text }];
      case 'response.reasoning_summary_part.added':
        return countOf(event.summary_index) > 0 ? [{ type: 'thinking', choice, text: betweenParts }] : [];
      case 'response.output_text.annotation.added':
        return [{ type: 'annotations', choice, annotations: [nested(objectOf(event.annotation))] }];
      case 'response.output_item.added':
        return this.#opened(objectOf(event.item));
      case 'response.function_call_arguments.delta':
        return this.#argue(textOf(event.item_id), text);
      case 'response.output_item.done':
        return this.#closed(objectOf(event.item));
      case 'response.completed':
      case 'response.incomplete':
        return this.#finished(objectOf(event.response));
      case 'response.failed':
        throw failureOf(objectOf(event.response));
      case 'error':
        throw faultIn(502, isObject(event.error) ? event : { error: event }) ?? new ProviderFault(502, data);
      default:
        return [];
    }
  }

  end(): AnswerEvent[] {
    return [];
  }

  #opened(item: JsonObject): AnswerEvent[] {
    if (item.type !== 'function_call') return [];
    const call = this.#calls.size;
    this.#calls.set(textOf(item.id) ?? '', call);
    const [id, name] = [textOf(item.call_id) ?? '', textOf(item.name) ?? ''];
    return [{ type: 'tool-call', choice: 0, call, id, name, signature: null }];
  }

  #argue(id: string | null, text: string): AnswerEvent[] {
    const call = this.#calls.get(id ?? '');
    if (call === undefined || text === '') return [];
    this.#argued.add(call);
    return [{ type: 'arguments', choice: 0, call, text }];
  }

  #closed(item: JsonObject): AnswerEvent[] {
    const call = this.#calls.get(textOf(item.id) ?? '');
    if (call !== undefined && !this.#argued.has(call))
      return this.#argue(textOf(item.id), textOf(item.arguments) || '{}');
    const signature = item.type === 'reasoning' ? signatureOf(item) : null;
    return signature === null ? [] : [{ type: 'signature', choice: 0, signature }];
  }

  #finished(response: JsonObject): AnswerEvent[] {
    const usage = readResponseUsage(response);
    const providerReason = textOf(objectOf(response.incomplete_details).reason);
    const reason = finishOf(response, this.#calls.size > 0);
    return [
      { type: 'finish', choice: 0, reason, providerReason, stopSequence: null },
      ...(usage ? [{ type: 'usage', usage } as const] : []),
    ];
  }
}
