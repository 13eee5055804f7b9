/** A stream of events to a client: written as they come, kept alive by comments, and told when the client leaves. */
import { GatewayError } from '../../gateway/errors.ts';
import { type BodyLease, GrowingBody } from '../../gateway/request/body-budget.ts';
import { InFlight } from '../../in-flight.ts';
import type { BodySource, Reply, Sink } from '../../wire/server/reply.ts';
import { keepAlive } from '../protocol/events.ts';

const encoder = new TextEncoder();
const alive = encoder.encode(keepAlive);

/** Proxies cut streams that are silent for half a minute. */
const keepAliveMs = 25_000;

/** One timer for all streams. */
export class KeepAlive {
  readonly #streams = new Set<EventStream>();
  readonly #inFlight = new InFlight();
  #timer: ReturnType<typeof setInterval> | null = null;

  add(stream: EventStream): void {
    this.#streams.add(stream);
    if (!stream.lasting) this.#inFlight.begin();
    this.#timer ??= setInterval(() => {
      for (const one of this.#streams) one.beat();
    }, keepAliveMs);
  }

  remove(stream: EventStream): void {
    if (this.#streams.delete(stream) && !stream.lasting) this.#inFlight.end();
    if (this.#streams.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  get size(): number {
    return this.#streams.size;
  }

  /** Resolves when no answer is under way any more. */
  idle(): Promise<void> {
    return this.#inFlight.none();
  }

  /** Ends the streams of clients that listen for ever, so that a shutdown need not wait for them. */
  endLasting(): void {
    for (const stream of [...this.#streams]) if (stream.lasting) stream.end();
  }
}

/** More than a client may leave unread; one that takes nothing is cut off. */
const mostWaiting = 16 * 1024 * 1024;

export class EventStream implements BodySource {
  /** It stays open until somebody leaves, and is no answer to anything. */
  readonly lasting: boolean;
  readonly #keeper: KeepAlive;
  readonly #onLeave: () => void;
  #sink: Sink | null = null;
  #waiting: Uint8Array[] = [];
  #size = 0;
  #ended = false;
  #left = false;
  #full = false;
  readonly #lease: BodyLease;
  readonly #unread: GrowingBody;

  /** `lease`: counts what the client leaves unread. */
  constructor(keeper: KeepAlive, lease: BodyLease, onLeave: () => void = () => undefined, lasting = true) {
    this.lasting = lasting;
    this.#lease = lease;
    this.#unread = new GrowingBody(lease.hold);
    this.#keeper = keeper;
    this.#onLeave = onLeave;
    keeper.add(this);
  }

  get gone(): boolean {
    return this.#left || this.#ended;
  }

  write(text: string): void {
    if (this.gone) return;
    this.#push(encoder.encode(text));
  }

  beat(): void {
    if (!this.gone && this.#waiting.length === 0) this.#push(alive);
  }

  #push(bytes: Uint8Array): void {
    if (this.#sink && !this.#full) {
      this.#send(bytes);
      return;
    }
    this.#waiting.push(bytes);
    this.#size += bytes.length;
    if (this.#size > mostWaiting || !this.#isCounted()) this.#cut();
  }

  /** False where others leave no room for what this client does not read. */
  #isCounted(): boolean {
    try {
      this.#unread.reach(this.#size);
      return true;
    } catch (fault) {
      if (fault instanceof GatewayError) return false;
      throw fault;
    }
  }

  #send(bytes: Uint8Array): void {
    const room = this.#sink?.write(bytes);
    if (!room) return;
    this.#full = true;
    room.then(() => {
      this.#full = false;
      this.#drain();
    });
  }

  #drain(): void {
    while (!this.#full && this.#waiting.length > 0) {
      const next = this.#waiting.shift();
      if (!next) break;
      this.#size -= next.length;
      this.#send(next);
    }
    if (!this.#ended || this.#full || this.#waiting.length > 0) return;
    this.#lease.release();
    this.#sink?.end();
  }

  #cut(): void {
    this.#left = true;
    this.#waiting = [];
    this.#lease.release();
    this.#keeper.remove(this);
    this.#sink?.cut(new Error('The client does not read its stream'));
    this.#onLeave();
  }

  end(): void {
    if (this.gone) return;
    this.#ended = true;
    this.#keeper.remove(this);
    if (this.#sink) this.#drain();
  }

  deliver(to: Sink): void {
    this.#sink = to;
    this.#drain();
  }

  left(): void {
    if (this.#left) return;
    this.#left = true;
    this.#waiting = [];
    this.#lease.release();
    this.#keeper.remove(this);
    if (!this.#ended) this.#onLeave();
  }

  reply(headers: Readonly<Record<string, string>> = {}): Reply {
    return {
      status: 200,
      headers: {
        'content-type': 'text/event-stream',
        'cache-control': 'no-cache, no-transform',
        'x-accel-buffering': 'no',
        ...headers,
      },
      body: this,
    };
  }
}
