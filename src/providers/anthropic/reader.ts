/** A stream of a message, read into the steps of an answer. */
import type { AnswerEvent, AnswerReader } from '../chat/answer.ts';
import { ProviderFault } from '../faults.ts';
import { argumentsOf, isObject, numberOf, objectOf, objectsOf, parsed, textOf } from '../json.ts';
import type { JsonObject, ServerEvent, Usage } from '../provider.ts';
import { laterUsage, readUsage } from '../usage.ts';
import { extrasOf, faultOf, finishOf } from './answer.ts';
import { readCitations } from './citations.ts';

/** A block that is being written. */
interface OpenBlock {
  begun: JsonObject;
  /** Its number among the tool calls; null where it is none of the client's tools. */
  call: number | null;
  /** Arguments of a tool, as they come. */
  input: string;
  citations: JsonObject[];
  /** Where its text begins in the whole answer. */
  from: number;
}

export const messageReader = (): AnswerReader => new MessageReader();

const choice = 0;

class MessageReader implements AnswerReader {
  #usage: Usage | null = null;
  readonly #open = new Map<number, OpenBlock>();
  #calls = 0;
  #textLength = 0;
  #stopped: { reason: string | null; sequence: string | null } | null = null;
  #finished = false;
  /** How many blocks the opening told. */
  #told = 0;

  read({ data }: ServerEvent): AnswerEvent[] {
    const event = parsed(data);
    if (!isObject(event)) throw new ProviderFault(502, 'the provider sent an event that cannot be read');
    switch (event.type) {
      case 'message_start':
        return this.#start(objectOf(event.message));
      case 'content_block_start':
        return this.#beginNew(numberOf(event.index) ?? 0, objectOf(event.content_block));
      case 'content_block_delta':
        return this.#grow(numberOf(event.index) ?? 0, objectOf(event.delta));
      case 'content_block_stop':
        return this.#close(numberOf(event.index) ?? 0);
      case 'message_delta':
        return this.#change(event);
      case 'message_stop':
        return this.#finish();
      case 'error':
        throw faultOf(event) ?? new ProviderFault(502, data);
      default:
        return [];
    }
  }

  /** A provider that has said why it stopped has said all, also where its last word is missing. */
  end(): AnswerEvent[] {
    return this.#stopped ? this.#finish() : [];
  }

  /** Some servers put content into the opening already, and stop there or go on. */
  #start(message: JsonObject): AnswerEvent[] {
    this.#noteUsage(message.usage);
    if (textOf(message.stop_reason) !== null) {
      this.#stopped = { reason: textOf(message.stop_reason), sequence: textOf(message.stop_sequence) };
    }
    const blocks = objectsOf(message.content);
    this.#told = blocks.length;
    return [
      { type: 'start', id: textOf(message.id), model: textOf(message.model) },
      ...blocks.flatMap((block, index) => this.#whole(index, block)),
    ];
  }

  #whole(index: number, block: JsonObject): AnswerEvent[] {
    const begun = this.#begin(index, block);
    const opened = this.#open.get(index);
    opened?.citations.push(...objectsOf(block.citations));
    const signature = block.type === 'thinking' ? textOf(block.signature) : null;
    return [...begun, ...(signature ? [{ type: 'signature', choice, signature } as const] : []), ...this.#close(index)];
  }

  /** What was told whole in the opening is not told again. */
  #beginNew(index: number, begun: JsonObject): AnswerEvent[] {
    return index < this.#told ? [] : this.#begin(index, begun);
  }

  #begin(index: number, begun: JsonObject): AnswerEvent[] {
    const block: OpenBlock = { begun, call: null, input: '', citations: [], from: this.#textLength };
    this.#open.set(index, block);
    switch (begun.type) {
      case 'text':
        return this.#said(textOf(begun.text) ?? '');
      case 'thinking':
        return thought(textOf(begun.thinking) ?? '');
      case 'redacted_thinking':
        return [{ type: 'redacted-thinking', choice, content: textOf(begun.data) ?? '' }];
      case 'tool_use':
        return this.#beginCall(block);
      default:
        return [];
    }
  }

  #beginCall(block: OpenBlock): AnswerEvent[] {
    const call = this.#calls++;
    block.call = call;
    const [id, name] = [textOf(block.begun.id) ?? '', textOf(block.begun.name) ?? ''];
    return [{ type: 'tool-call', choice, call, id, name, signature: null }];
  }

  #grow(index: number, delta: JsonObject): AnswerEvent[] {
    const block = this.#open.get(index);
    if (!block) return [];
    switch (delta.type) {
      case 'text_delta':
        return this.#said(textOf(delta.text) ?? '');
      case 'thinking_delta':
        return thought(textOf(delta.thinking) ?? '');
      case 'signature_delta':
        return [{ type: 'signature', choice, signature: textOf(delta.signature) ?? '' }];
      case 'citations_delta':
        block.citations.push(objectOf(delta.citation));
        return [];
      case 'input_json_delta':
        return this.#arguments(block, textOf(delta.partial_json) ?? '');
      case 'compaction_delta':
        block.begun = { ...block.begun, content: delta.content };
        return [];
      default:
        return [];
    }
  }

  #arguments(block: OpenBlock, text: string): AnswerEvent[] {
    block.input += text;
    return block.call === null || text === '' ? [] : [{ type: 'arguments', choice, call: block.call, text }];
  }

  #close(index: number): AnswerEvent[] {
    const block = this.#open.get(index);
    if (!block) return [];
    this.#open.delete(index);
    switch (block.begun.type) {
      case 'text':
        return this.#cited(block);
      case 'tool_use':
        // A call without arguments, or one whose arguments came whole.
        return block.input === '' ? this.#arguments(block, JSON.stringify(objectOf(block.begun.input))) : [];
      case 'thinking':
      case 'redacted_thinking':
        return [];
      default:
        return [{ type: 'block', choice, block: wholeBlock(block) }];
    }
  }

  #cited({ citations, from }: OpenBlock): AnswerEvent[] {
    const { annotations, others } = readCitations(citations, { from, to: this.#textLength });
    return [
      ...(annotations.length > 0 ? [{ type: 'annotations', choice, annotations } as const] : []),
      ...(others.length > 0 ? [{ type: 'extras', fields: { citations: others } } as const] : []),
    ];
  }

  #change(event: JsonObject): AnswerEvent[] {
    const delta = objectOf(event.delta);
    this.#noteUsage(event.usage);
    if (textOf(delta.stop_reason) !== null) {
      this.#stopped = { reason: textOf(delta.stop_reason), sequence: textOf(delta.stop_sequence) };
    }
    const fields = extrasOf({ ...delta, context_management: event.context_management });
    return Object.keys(fields).length > 0 ? [{ type: 'extras', fields }] : [];
  }

  #finish(): AnswerEvent[] {
    if (this.#finished) return [];
    this.#finished = true;
    const reason = this.#stopped?.reason ?? null;
    return [
      {
        type: 'finish',
        choice,
        reason: finishOf(reason),
        providerReason: reason,
        stopSequence: this.#stopped?.sequence ?? null,
      },
      ...(this.#usage ? [{ type: 'usage', usage: this.#usage } as const] : []),
    ];
  }

  #said(text: string): AnswerEvent[] {
    this.#textLength += text.length;
    return text === '' ? [] : [{ type: 'text', choice, text }];
  }

  #noteUsage(raw: unknown): void {
    const usage = readUsage(raw);
    if (usage) this.#usage = laterUsage(this.#usage, usage);
  }
}

const thought = (text: string): AnswerEvent[] => (text === '' ? [] : [{ type: 'thinking', choice, text }]);

/** A tool that the provider runs gets its arguments piece by piece as well. */
const wholeBlock = ({ begun, input }: OpenBlock): JsonObject =>
  input === '' ? begun : { ...begun, input: argumentsOf(input) };
