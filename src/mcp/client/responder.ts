/** The answer to one posted request: plain JSON, unless something must be said before it is there. */
import type { BodyLease } from '../../gateway/request/body-budget.ts';
import type { Reply } from '../../wire/server/reply.ts';
import { type SseEvent, writeSse } from '../protocol/events.ts';
import { EventStream, type KeepAlive } from './event-stream.ts';

const encoder = new TextEncoder();

/** Where the answer to a request goes, and what is said before it. */
export interface McpResponder {
  event(event: Partial<SseEvent> & { data: string }): void;
  message(message: object): void;
  finish(text: string, status: number, headers?: Readonly<Record<string, string>>, eventId?: string | null): void;
  end(): void;
}

export class Responder implements McpResponder {
  readonly reply: Promise<Reply>;
  readonly #resolve: (reply: Reply) => void;
  readonly #keeper: KeepAlive;
  readonly #lease: BodyLease;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #onLeave: () => void;
  #stream: EventStream | null = null;
  #done = false;

  constructor(keeper: KeepAlive, lease: BodyLease, headers: Readonly<Record<string, string>>, onLeave: () => void) {
    const { promise, resolve } = Promise.withResolvers<Reply>();
    this.reply = promise;
    this.#resolve = resolve;
    this.#keeper = keeper;
    this.#lease = lease;
    this.#headers = headers;
    this.#onLeave = onLeave;
  }

  /** True once events have gone out: from then on an error is an event too. */
  get streaming(): boolean {
    return this.#stream !== null;
  }

  get gone(): boolean {
    return this.#stream?.gone ?? false;
  }

  event(event: Partial<SseEvent> & { data: string }): void {
    if (this.#done) return;
    if (!this.#stream) {
      this.#stream = new EventStream(this.#keeper, this.#lease, this.#onLeave, false);
      this.#resolve(this.#stream.reply(this.#headers));
    }
    this.#stream.write(writeSse(event));
  }

  message(message: object): void {
    this.event({ data: JSON.stringify(message) });
  }

  /** The last word; `text` is the JSON of the response. */
  finish(
    text: string,
    status: number,
    headers: Readonly<Record<string, string>> = {},
    eventId: string | null = null,
  ): void {
    if (this.#done) return;
    if (this.#stream) {
      this.event({ data: text, id: eventId });
      this.end();
      return;
    }
    this.#done = true;
    this.#resolve({
      status,
      headers: { 'content-type': 'application/json', ...this.#headers, ...headers },
      body: encoder.encode(text),
    });
  }

  /** Ends a stream without a response: the client takes it up again. */
  end(): void {
    this.#done = true;
    this.#stream?.end();
  }
}

/** For messages that nobody waits for an answer to. */
export const silent: McpResponder = {
  event: () => undefined,
  message: () => undefined,
  finish: () => undefined,
  end: () => undefined,
};

/** Keeps the last word of an answer; what comes before it concerns nobody. */
export class Gathered implements McpResponder {
  last = '';
  event = silent.event;
  message = silent.message;
  end = silent.end;

  finish(text: string): void {
    this.last = text;
  }
}
