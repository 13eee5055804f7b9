/** A message in the making: each step of an answer changes it and gives the events that tell of the change. */
import type { Annotation, AnswerEvent } from '../../chat/answer.ts';
import { argumentsOf, objectsOf } from '../../json.ts';
import type { CallFacts, JsonObject, Usage } from '../../provider.ts';
import { webCitation } from '../citations.ts';
import { asMarkdown } from '../markdown.ts';
import { seal } from '../sealed.ts';
import { wholeNames } from '../tool-names.ts';
import { type Block, BlockQueue, newBlock } from './blocks.ts';
import { stopReason } from './stop-reason.ts';
import { messagesUsage } from './usage.ts';

type Finish = Extract<AnswerEvent, { type: 'finish' }>;

export class MessageInMaking {
  readonly #facts: CallFacts;
  readonly #wholeName: (called: string) => string;
  readonly #queue = new BlockQueue();
  readonly #calls = new Map<number, Block>();
  #head: JsonObject | null = null;
  #text = '';
  /** Sources that no text has taken yet. */
  readonly #uncited: Annotation[] = [];
  #refused = false;
  #finish: Finish | null = null;
  #usage: Usage | null = null;

  constructor(facts: CallFacts) {
    this.#facts = facts;
    this.#wholeName = wholeNames(facts);
  }

  /** A message has one answer; what belongs to others beside it is none of its own. */
  apply(event: AnswerEvent): JsonObject[] {
    if ('choice' in event && event.choice !== 0) return [];
    const opening = this.#head ? [] : this.#open(event);
    return [...opening, ...this.#step(event)];
  }

  /** The last events, once the model has said that it is done; none before. */
  end(): JsonObject[] {
    if (!this.#finish) return [];
    return [
      ...this.#citedLate(),
      ...this.#queue.endAll(),
      { type: 'message_delta', delta: this.#ending(this.#finish), usage: messagesUsage(this.#usage) },
      { type: 'message_stop' },
    ];
  }

  /** The message as it stands. */
  get whole(): JsonObject {
    return {
      ...this.#head,
      content: this.#queue.blocks.map(written),
      ...(this.#finish && this.#ending(this.#finish)),
      usage: messagesUsage(this.#usage),
    };
  }

  #open(event: AnswerEvent): JsonObject[] {
    const { model, newId } = this.#facts;
    const start = event.type === 'start' ? event : { id: null, model: null };
    const head = {
      id: start.id?.startsWith('msg_') ? start.id : newId('msg_'),
      type: 'message',
      role: 'assistant',
      model: start.model ?? model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: messagesUsage(null),
    };
    this.#head = head;
    return [{ type: 'message_start', message: head }];
  }

  #step(event: AnswerEvent): JsonObject[] {
    switch (event.type) {
      case 'text':
        return this.#say(event.text);
      case 'refusal':
        this.#refused = true;
        return this.#say(event.text);
      case 'media':
        return this.#say(asMarkdown(event.media));
      case 'thinking':
        return this.#think(event.text);
      case 'signature':
        return this.#sign(event.signature);
      case 'redacted-thinking':
        return this.#queue.push(newBlock('whole', { type: 'redacted_thinking', data: event.content }));
      case 'block':
        return isOwnBlock(event.block) ? this.#queue.push(newBlock('whole', { ...event.block })) : [];
      case 'tool-call':
        return this.#call(event);
      case 'arguments':
        return this.#argue(event.call, event.text);
      case 'annotations':
        return this.#cite(event.annotations);
      case 'finish':
        this.#finish ??= event;
        return [];
      case 'usage':
        this.#usage = event.usage;
        return [];
      case 'start':
      case 'extras':
        return [];
    }
  }

  #ending(finish: Finish): JsonObject {
    return stopReason(finish, { called: this.#calls.size > 0, refused: this.#refused });
  }

  #say(text: string): JsonObject[] {
    if (text === '') return [];
    const { block, events } = this.#ready('text', { type: 'text', text: '' });
    block.content.text = `${block.content.text}${text}`;
    this.#text += text;
    return [...events, ...this.#queue.add(block, { type: 'text_delta', text }), ...this.#cite([])];
  }

  #think(thinking: string): JsonObject[] {
    if (thinking === '') return [];
    const { block, events } = this.#ready('thinking', { type: 'thinking', thinking: '', signature: '' });
    block.content.thinking = `${block.content.thinking}${thinking}`;
    return [...events, ...this.#queue.add(block, { type: 'thinking_delta', thinking })];
  }

  #sign(signature: string): JsonObject[] {
    const { block, events } = this.#ready('thinking', { type: 'thinking', thinking: '', signature: '' });
    block.content.signature = signature;
    return [...events, ...this.#queue.add(block, { type: 'signature_delta', signature }), ...this.#queue.end(block)];
  }

  /** The last block where it is of this kind, else a new one. */
  #ready(kind: Block['kind'], content: JsonObject): { block: Block; events: JsonObject[] } {
    const { last } = this.#queue;
    if (last?.kind === kind) return { block: last, events: [] };
    const block = newBlock(kind, content);
    return { block, events: this.#queue.push(block) };
  }

  /** A tool's block has no room for a provider's mark; a thought that nobody reads goes before it and carries it. */
  #call({ call, id, name, signature }: Extract<AnswerEvent, { type: 'tool-call' }>): JsonObject[] {
    const mark = signature === null ? null : seal({ holds: 'call', id, signature });
    const carrier = mark === null ? [] : this.#queue.push(newBlock('whole', { type: 'redacted_thinking', data: mark }));
    const block = newBlock('call', { type: 'tool_use', id, name: this.#wholeName(name), input: {} });
    this.#calls.set(call, block);
    return [...carrier, ...this.#queue.push(block)];
  }

  #argue(call: number, text: string): JsonObject[] {
    const block = this.#calls.get(call);
    if (!block || text === '') return [];
    block.json += text;
    if (text.trim() !== '') block.closes = text.trimEnd().endsWith('}');
    return this.#queue.add(block, { type: 'input_json_delta', partial_json: text });
  }

  /** Sources stand on text. Those that come before it, or when it is closed, wait for the next. */
  #cite(annotations: readonly Annotation[]): JsonObject[] {
    const { last } = this.#queue;
    this.#uncited.push(...annotations);
    if (last?.kind !== 'text' || this.#uncited.length === 0) return [];
    return this.#uncited.splice(0).flatMap((annotation) => {
      const found = webCitation(annotation);
      if (!found) return [];
      const citation = {
        type: 'web_search_result_location',
        cited_text: this.#text.slice(found.from, found.to),
        encrypted_index: '',
        title: found.title,
        url: found.url,
      };
      last.content.citations = [...objectsOf(last.content.citations), citation];
      return this.#queue.add(last, { type: 'citations_delta', citation });
    });
  }

  /** No text came behind them: they get a block of their own, if there was any text that they can belong to. */
  #citedLate(): JsonObject[] {
    if (this.#uncited.length === 0 || this.#text === '') return [];
    const { events } = this.#ready('text', { type: 'text', text: '' });
    return [...events, ...this.#cite([])];
  }
}

const written = ({ kind, content, json }: Block): JsonObject =>
  kind === 'call' ? { ...content, input: argumentsOf(json) } : content;

/** Blocks of tools that a provider of this very dialect ran; those of others mean nothing here. */
const isOwnBlock = ({ type }: Readonly<JsonObject>): boolean =>
  typeof type === 'string' && /^(?:server_tool_use|mcp_tool_use|container_upload|\w+_tool_result)$/.test(type);
