/** A response of the model's, told in OpenAI's events from its beginning to its end. */
import type { JsonObject, Usage } from '../../provider.ts';
import type { LiveOutbox } from './outbox.ts';
import type { Item, Thread } from './thread.ts';
import { realtimeUsage } from './usage.ts';

interface FunctionCall {
  callId: string;
  name: string;
  arguments: string;
}

/** How a response ended. */
export interface LiveOutcome {
  status: 'completed' | 'cancelled' | 'failed' | 'incomplete';
  details?: JsonObject;
}

interface Part {
  type: 'audio' | 'text';
  text: string;
}

interface Message {
  id: string;
  content: Part[];
}

export class LiveResponse {
  readonly id: string;
  /** The provider broke it off. */
  interrupted = false;
  /** The client asked for its end. */
  cancelled = false;
  readonly #outbox: LiveOutbox;
  readonly #thread: Thread;
  readonly #newId: (prefix: string) => string;
  readonly #about: JsonObject;
  readonly #output: Item[] = [];
  #message: Message | null = null;

  /** `about` are fields that each description of it has. */
  constructor(outbox: LiveOutbox, thread: Thread, newId: (prefix: string) => string, about: JsonObject) {
    this.#outbox = outbox;
    this.#thread = thread;
    this.#newId = newId;
    this.id = newId('resp_');
    this.#about = { object: 'realtime.response', id: this.id, ...about };
    outbox.tell('response.created', {
      response: { ...this.#about, status: 'in_progress', status_details: null, output: [] },
    });
  }

  get isEmpty(): boolean {
    return this.#message === null && this.#output.length === 0;
  }

  text(delta: string): void {
    this.#tell('response.output_text.delta', { ...this.#partOf('text', delta), delta });
  }

  audio(delta: string): void {
    this.#tell('response.output_audio.delta', { ...this.#partOf('audio', ''), delta });
  }

  /** What the speech says. */
  transcript(delta: string): void {
    this.#tell('response.output_audio_transcript.delta', { ...this.#partOf('audio', delta), delta });
  }

  call({ callId, name, arguments: written }: FunctionCall): void {
    this.#endMessage('completed');
    const item = { id: this.#newId('item_'), object: 'realtime.item', type: 'function_call', call_id: callId, name };
    const place = { output_index: this.#output.length };
    this.#begin({ ...item, status: 'in_progress', arguments: '' });
    const named = { ...place, item_id: item.id, call_id: callId };
    this.#tell('response.function_call_arguments.delta', { ...named, delta: written });
    this.#tell('response.function_call_arguments.done', { ...named, name, arguments: written });
    this.#end({ ...item, status: 'completed', arguments: written });
  }

  finish({ status, details }: LiveOutcome, usage: Usage | null): void {
    this.#endMessage(status === 'completed' ? 'completed' : 'incomplete');
    this.#outbox.tell('response.done', {
      response: {
        ...this.#about,
        status,
        status_details: details ? { type: status, ...details } : null,
        output: this.#output,
        ...(usage && { usage: realtimeUsage(usage) }),
      },
    });
  }

  /** The place of what is said now. Speech and text stand in parts of their own. */
  #partOf(type: Part['type'], said: string): JsonObject {
    const message = this.#message ?? this.#beginMessage();
    let part = message.content.at(-1);
    if (part?.type !== type) {
      this.#endPart(message);
      part = { type, text: '' };
      message.content.push(part);
      this.#tell('response.content_part.added', { ...this.#place(message), part: partOf(part) });
    }
    part.text += said;
    return this.#place(message);
  }

  #beginMessage(): Message {
    const message = { id: this.#newId('item_'), content: [] };
    this.#message = message;
    this.#begin({ ...itemOf(message), status: 'in_progress' });
    return message;
  }

  #endPart(message: Message): void {
    const part = message.content.at(-1);
    if (!part) return;
    const place = this.#place(message);
    if (part.type === 'text') this.#tell('response.output_text.done', { ...place, text: part.text });
    else {
      this.#tell('response.output_audio.done', place);
      this.#tell('response.output_audio_transcript.done', { ...place, transcript: part.text });
    }
    this.#tell('response.content_part.done', { ...place, part: partOf(part) });
  }

  #endMessage(status: string): void {
    const message = this.#message;
    if (!message) return;
    this.#endPart(message);
    this.#end({ ...itemOf(message), status });
    this.#message = null;
  }

  #begin(item: Item): void {
    this.#tell('response.output_item.added', { output_index: this.#output.length, item });
    this.#thread.added(item);
  }

  #end(item: Item): void {
    this.#tell('response.output_item.done', { output_index: this.#output.length, item });
    this.#thread.done(item);
    this.#output.push(item);
  }

  #place = (message: Message): JsonObject => ({
    item_id: message.id,
    output_index: this.#output.length,
    content_index: Math.max(0, message.content.length - 1),
  });

  #tell(type: string, fields: JsonObject): void {
    this.#outbox.tell(type, { response_id: this.id, ...fields });
  }
}

const partOf = ({ type, text }: Part): JsonObject => (type === 'text' ? { type, text } : { type, transcript: text });

const itemOf = ({ id, content }: Message): Item => ({
  id,
  object: 'realtime.item',
  type: 'message',
  role: 'assistant',
  content: content.map(({ type, text }) =>
    type === 'text' ? { type: 'output_text', text } : { type: 'output_audio', transcript: text },
  ),
});
