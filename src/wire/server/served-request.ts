/** A request under way over a client's connection. */
import { type Listener, tell } from '../abort.ts';
import type { ByteReader, ReceivedHeaders } from '../answer.ts';
import type { Relay } from '../socket/relay.ts';
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
  left = false;
  readonly #carrier: Carrier;
  /** As a rule there is one. */
  #listener: Listener | null = null;
  #others: Listener[] | null = null;
  #gone: AbortController | null = null;

  constructor(head: RequestHead, body: ByteReader | null, carrier: Carrier) {
    this.head = head;
    this.body = body;
    this.#carrier = carrier;
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
    if (!this.#gone) {
      const gone = new AbortController();
      this.#gone = gone;
      if (this.left) gone.abort();
      else this.onLeave(() => gone.abort());
    }
    return this.#gone.signal;
  }

  onLeave(listener: Listener): void {
    if (this.#listener === null) this.#listener = listener;
    else if (this.#others) this.#others.push(listener);
    else this.#others = [listener];
  }

  upgrade(relay: Relay, headers: Readonly<Record<string, string>>): boolean {
    return this.#carrier.upgrade(this, relay, headers);
  }

  /** The client is gone before it was answered. */
  leave(): void {
    this.left = true;
    const first = this.#listener;
    const others = this.#others ?? [];
    this.#listener = null;
    this.#others = null;
    if (first) tell(first);
    for (const listener of others) tell(listener);
  }
}
