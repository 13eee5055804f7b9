/** A response in the making: each step of an answer changes it and gives the numbered events that tell of the change. */
import type { Annotation, AnswerEvent, FinishReason } from '../../chat/answer.ts';
import type { MediaPart } from '../../chat/conversation.ts';
import type { CallFacts, JsonObject, Usage } from '../../provider.ts';
import { customNames } from '../custom-tools.ts';
import { asMarkdown } from '../markdown.ts';
import { seal } from '../sealed.ts';
import { wholeNames } from '../tool-names.ts';
import { CallItem } from './call-item.ts';
import { logprobsIn, MessageItem, type Tell } from './parts.ts';
import { toldBack } from './settings.ts';
import { ThoughtItem } from './thought-item.ts';
import { responsesUsage } from './usage.ts';

/** Why a response is not complete; null where it is. */
const shortfalls: Readonly<Record<FinishReason, string | null>> = {
  stop: null,
  tool_calls: null,
  length: 'max_output_tokens',
  content_filter: 'content_filter',
};

export class ResponseInMaking {
  readonly #facts: CallFacts;
  readonly #wholeName: (called: string) => string;
  readonly #custom: ReadonlySet<string>;
  /** The items by their index, as they last were. */
  readonly #output: JsonObject[] = [];
  readonly #calls = new Map<number, CallItem>();
  #message: { item: MessageItem; index: number } | null = null;
  #thought: ThoughtItem | null = null;
  #head: JsonObject | null = null;
  #usage: Usage | null = null;
  #finish: FinishReason | null = null;
  #told = 0;
  #spoke = false;
  /** Sources that no text has taken yet. */
  readonly #uncited: Annotation[] = [];

  constructor(facts: CallFacts) {
    this.#facts = facts;
    this.#wholeName = wholeNames(facts);
    this.#custom = customNames(facts);
  }

  /** A response has one answer; what belongs to others beside it is none of its own. */
  apply(event: AnswerEvent): JsonObject[] {
    if ('choice' in event && event.choice !== 0) return [];
    const opening = this.#head ? [] : this.#open(event);
    return [...opening, ...this.#step(event)];
  }

  /** The last events, once the model has said that it is done; none before. */
  end(): JsonObject[] {
    if (!this.#finish) return [];
    const status = shortfalls[this.#finish] ? 'incomplete' : 'completed';
    const cited = this.#citedLate();
    const closing = [
      ...cited,
      ...this.#closeThought(),
      ...this.#closeMessage(status),
      ...this.#closeCalls(() => true, status),
    ];
    return [...closing, this.#tell(`response.${status}`, { response: this.whole })];
  }

  /** The response as it stands. */
  get whole(): JsonObject {
    const shortfall = this.#finish && shortfalls[this.#finish];
    return {
      ...this.#head,
      status: this.#finish ? (shortfall ? 'incomplete' : 'completed') : 'in_progress',
      incomplete_details: shortfall ? { reason: shortfall } : null,
      output: [...this.#output],
      usage: this.#usage && responsesUsage(this.#usage),
    };
  }

  readonly #tell: Tell = (type, fields) => ({ type, sequence_number: this.#told++, ...fields });

  #open(event: AnswerEvent): JsonObject[] {
    const { model, newId, now } = this.#facts;
    const start = event.type === 'start' ? event : { id: null, model: null };
    this.#head = {
      id: start.id?.startsWith('resp_') ? start.id : newId('resp_'),
      object: 'response',
      created_at: now(),
      status: 'in_progress',
      error: null,
      incomplete_details: null,
      model: start.model ?? model,
      ...toldBack(this.#facts),
    };
    const response = this.whole;
    return [this.#tell('response.created', { response }), this.#tell('response.in_progress', { response })];
  }

  #step(event: AnswerEvent): JsonObject[] {
    switch (event.type) {
      case 'text':
        return event.text === '' ? [] : this.#say(event.text, logprobsIn(event.logprobs));
      case 'refusal':
        return event.text === '' ? [] : this.#speak((item) => item.refuse(event.text));
      case 'media':
        return this.#show(event.media);
      case 'thinking':
        return event.text === '' ? [] : this.#think((item) => item.think(event.text));
      case 'signature':
        return [...this.#think((item) => this.#signed(item, event.signature)), ...this.#closeThought()];
      case 'redacted-thinking':
        return this.#sealed(seal({ holds: 'thought', content: event.content }));
      case 'tool-call':
        return this.#call(event);
      case 'arguments':
        return this.#calls.get(event.call)?.argue(event.text) ?? [];
      case 'annotations':
        return this.#cite(event.annotations);
      case 'finish':
        this.#finish ??= event.reason;
        return [];
      case 'usage':
        this.#usage = event.usage;
        return [];
      case 'start':
      case 'block':
      case 'extras':
        return [];
    }
  }

  #say(text: string, logprobs: readonly JsonObject[]): JsonObject[] {
    this.#spoke = true;
    return [...this.#speak((item) => item.say(text, logprobs)), ...this.#cite([])];
  }

  /** Sources stand on text. Those that come before it, or when it is closed, wait for the next. */
  #cite(annotations: readonly Annotation[]): JsonObject[] {
    this.#uncited.push(...annotations);
    if (!this.#message || this.#uncited.length === 0) return [];
    return this.#message.item.cite(this.#uncited.splice(0));
  }

  /** No text came behind them: they get an item of their own, if there was any text that they can belong to. */
  #citedLate(): JsonObject[] {
    if (this.#uncited.length === 0 || !this.#spoke) return [];
    return this.#speak((item) => item.cite(this.#uncited.splice(0)));
  }

  #speak(say: (item: MessageItem) => JsonObject[]): JsonObject[] {
    if (this.#message) return say(this.#message.item);
    const closing = this.#closeOthers();
    const index = this.#output.length;
    const item = new MessageItem(this.#tell, this.#facts.newId('msg_'), index);
    this.#message = { item, index };
    return [...closing, this.#added(item.json('in_progress')), ...say(item)];
  }

  #think(think: (item: ThoughtItem) => JsonObject[]): JsonObject[] {
    if (this.#thought) return think(this.#thought);
    const closing = this.#closeOthers();
    const item = new ThoughtItem(this.#tell, this.#facts.newId('rs_'), this.#output.length);
    this.#thought = item;
    return [...closing, this.#added(item.json()), ...think(item)];
  }

  #signed(item: ThoughtItem, signature: string): JsonObject[] {
    item.sign(signature);
    return [];
  }

  /** A call has no room for a provider's mark; a thought that nobody reads goes before it and carries it. */
  #call({ call, id, name, signature }: Extract<AnswerEvent, { type: 'tool-call' }>): JsonObject[] {
    const carrier = signature === null ? [] : this.#sealed(seal({ holds: 'call', id, signature }));
    const closing = this.#closeOthers();
    const called = this.#wholeName(name);
    const custom = this.#custom.has(called);
    const item = new CallItem(this.#tell, {
      id: this.#facts.newId(custom ? 'ctc_' : 'fc_'),
      callId: id,
      name: called,
      custom,
      index: this.#output.length,
    });
    this.#calls.set(call, item);
    return [...carrier, ...closing, this.#added(item.json('in_progress'))];
  }

  #show(media: MediaPart): JsonObject[] {
    if (media.kind !== 'image' || media.source.from !== 'data') {
      return this.#speak((item) => item.say(asMarkdown(media), []));
    }
    return this.#atOnce({
      id: this.#facts.newId('ig_'),
      type: 'image_generation_call',
      status: 'completed',
      result: media.source.base64,
      output_format: media.mime?.replace(/^image\//, '') ?? 'png',
    });
  }

  #sealed(content: string): JsonObject[] {
    return this.#atOnce({
      id: this.#facts.newId('rs_'),
      type: 'reasoning',
      summary: [],
      encrypted_content: content,
    });
  }

  /** An item that comes whole. */
  #atOnce(item: JsonObject): JsonObject[] {
    const closing = this.#closeOthers();
    const index = this.#output.length;
    return [...closing, this.#added(item), this.#done(index, item)];
  }

  /** Calls may come interleaved: those whose arguments are not whole yet stay open beside the next item. */
  #closeOthers(): JsonObject[] {
    return [
      ...this.#closeThought(),
      ...this.#closeMessage('completed'),
      ...this.#closeCalls((item) => item.isWhole, 'completed'),
    ];
  }

  #closeThought(): JsonObject[] {
    const item = this.#thought;
    this.#thought = null;
    return item ? [...item.close(), this.#done(item.index, item.json())] : [];
  }

  #closeMessage(status: string): JsonObject[] {
    const open = this.#message;
    this.#message = null;
    return open ? [...open.item.closePart(), this.#done(open.index, open.item.json(status))] : [];
  }

  #closeCalls(which: (item: CallItem) => boolean, status: string): JsonObject[] {
    const closing = [...this.#calls].filter(([, item]) => which(item));
    return closing.flatMap(([call, item]) => {
      this.#calls.delete(call);
      return [...item.close(), this.#done(item.index, item.json(status))];
    });
  }

  #added(item: JsonObject): JsonObject {
    this.#output.push(item);
    return this.#tell('response.output_item.added', { output_index: this.#output.length - 1, item });
  }

  #done(output_index: number, item: JsonObject): JsonObject {
    this.#output[output_index] = item;
    return this.#tell('response.output_item.done', { output_index, item });
  }
}
