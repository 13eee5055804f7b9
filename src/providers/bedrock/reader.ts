/** A stream of Converse, read into the steps of an answer. */
import type { AnswerEvent, AnswerReader } from '../chat/answer.ts';
import { ProviderFault } from '../faults.ts';
import { countOf, isObject, objectOf, parsed, textOf } from '../json.ts';
import type { JsonObject, ServerEvent } from '../provider.ts';
import { annotationOf, extrasOf, finishOf, stopSequenceOf, usageOf } from './answer.ts';
import { throwException } from './exceptions.ts';

/** A block that has begun. Text begins without a word. */
interface OpenBlock {
  begun: JsonObject;
  /** Its number among the client's tool calls; null where it is none. */
  call: number | null;
  /** Whether a tool has been given any arguments. */
  filled: boolean;
}

export const converseReader = (): AnswerReader => new ConverseReader();

const choice = 0;

class ConverseReader implements AnswerReader {
  readonly #open = new Map<number, OpenBlock>();
  #calls = 0;

  read({ event, data }: ServerEvent): AnswerEvent[] {
    throwException(event, data);
    const body = parsed(data);
    if (!isObject(body)) throw new ProviderFault(502, 'the provider sent an event that cannot be read');
    switch (event) {
      case 'messageStart':
        return [{ type: 'start', id: null, model: null }];
      case 'contentBlockStart':
        return this.#begin(countOf(body.contentBlockIndex), objectOf(body.start));
      case 'contentBlockDelta':
        return this.#grow(this.#open.get(countOf(body.contentBlockIndex)), objectOf(body.delta));
      case 'contentBlockStop':
        return this.#close(countOf(body.contentBlockIndex));
      case 'messageStop':
        return this.#finish(body);
      case 'metadata':
        return lastWords(body);
      default:
        return [];
    }
  }

  end(): AnswerEvent[] {
    return [];
  }

  #begin(index: number, begun: JsonObject): AnswerEvent[] {
    const block: OpenBlock = { begun, call: null, filled: false };
    this.#open.set(index, block);
    const call = objectOf(begun.toolUse);
    if (!isObject(begun.toolUse) || call.type === 'server_tool_use') return [];
    block.call = this.#calls++;
    const [id, name] = [textOf(call.toolUseId) ?? '', textOf(call.name) ?? ''];
    return [{ type: 'tool-call', choice, call: block.call, id, name, signature: null }];
  }

  #grow(block: OpenBlock | undefined, delta: JsonObject): AnswerEvent[] {
    if (typeof delta.text === 'string') return said(delta.text);
    if (isObject(delta.toolUse)) return written(block, textOf(delta.toolUse.input) ?? '');
    if (isObject(delta.reasoningContent)) return thought(delta.reasoningContent);
    if (isObject(delta.citation)) {
      const annotations = annotationOf(delta.citation);
      return annotations.length > 0 ? [{ type: 'annotations', choice, annotations }] : [];
    }
    if (isObject(delta.image)) return pictured(delta.image, objectOf(block?.begun.image));
    return [];
  }

  #close(index: number): AnswerEvent[] {
    const block = this.#open.get(index);
    this.#open.delete(index);
    return block && isObject(block.begun.toolUse) && !block.filled ? written(block, '{}') : [];
  }

  #finish(body: JsonObject): AnswerEvent[] {
    const word = textOf(body.stopReason);
    const stopSequence = stopSequenceOf(body);
    return [
      { type: 'finish', choice, reason: finishOf(word), providerReason: word, stopSequence },
      ...told(extrasOf(body)),
    ];
  }
}

const said = (text: string): AnswerEvent[] => (text === '' ? [] : [{ type: 'text', choice, text }]);

function written(block: OpenBlock | undefined, text: string): AnswerEvent[] {
  if (!block || text === '') return [];
  block.filled = true;
  return block.call === null ? [] : [{ type: 'arguments', choice, call: block.call, text }];
}

function thought({ text, signature, redactedContent }: JsonObject): AnswerEvent[] {
  if (typeof redactedContent === 'string') return [{ type: 'redacted-thinking', choice, content: redactedContent }];
  if (typeof signature === 'string') return signature === '' ? [] : [{ type: 'signature', choice, signature }];
  return typeof text === 'string' && text !== '' ? [{ type: 'thinking', choice, text }] : [];
}

function pictured({ source }: JsonObject, { format }: JsonObject): AnswerEvent[] {
  const base64 = textOf(objectOf(source).bytes);
  if (base64 === null) return [];
  const mime = `image/${textOf(format) ?? 'png'}`;
  const media = { type: 'media', kind: 'image', mime, source: { from: 'data', base64 } } as const;
  return [{ type: 'media', choice, media: { ...media, name: null, detail: null, cache: null } }];
}

function lastWords(body: JsonObject): AnswerEvent[] {
  const usage = usageOf(body.usage);
  return [...told(extrasOf(body)), ...(usage ? [{ type: 'usage', usage } as const] : [])];
}

const told = (fields: JsonObject): AnswerEvent[] =>
  Object.keys(fields).length > 0 ? [{ type: 'extras', fields }] : [];
