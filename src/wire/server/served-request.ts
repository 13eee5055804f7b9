/** A request under way over a client's connection. */
import { Abort, type AbortListener, signalOf } from '../abort.ts';
import type { ByteReader, ReceivedHeaders } from '../client/answer.ts';
import type { Relay } from '../websocket/relay.ts';
import type { Incoming } from './incoming.ts';
import type { RequestHead } from './request-head.ts';

/** The connection that it came over. */
interface Carrier {
  readonly peer: string;
  readonly secure: boolean;
  upgrade(request: ServedRequest, relay: Relay, headers: Readonly<Record<string, string>>): boolean;
}

export class ServedRequest implements Incoming {
  readonly head: RequestHead;
  readonly body: ByteReader | null;
  readonly #carrier: Carrier;
  readonly #leaving = new Abort();
  #gone: AbortSignal | null = null;

  constructor(head: RequestHead, body: ByteReader | null, carrier: Carrier) {
    this.head = head;
    this.body = body;
    this.#carrier = carrier;
  }

  get left(): boolean {
    return this.#leaving.aborted;
  }

  get method(): string {
    return this.head.method;
  }

  get target(): string {
    return this.head.target;
  }

  get headers(): ReceivedHeaders {
    return this.head.headers;
  }

  get length(): number | null {
    const { framing } = this.head;
    return framing?.by === 'length' ? framing.length : null;
  }

  get peer(): string {
    return this.#carrier.peer;
  }

  get secure(): boolean {
    return this.#carrier.secure;
  }

  get gone(): AbortSignal {
    this.#gone ??= signalOf(this.#leaving);
    return this.#gone;
  }

  onLeave(listener: AbortListener): void {
    this.#leaving.addEventListener('abort', listener);
  }

  upgrade(relay: Relay, headers: Readonly<Record<string, string>>): boolean {
    return this.#carrier.upgrade(this, relay, headers);
  }

  /** The client is gone before it was answered. */
  leave(): void {
    this.#leaving.abort();
  }
}
