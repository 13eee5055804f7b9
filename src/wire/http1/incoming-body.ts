/** A body on its way in: what came and was not read yet waits here, and a reader who is slow slows the server down. */
import type { ByteReader, ReadBytes } from '../client/answer.ts';
import { type Bytes, bodyTooLarge, type Look, readThrough } from '../client/collected.ts';
import { type Polled, promised, type Waker } from '../polled.ts';

/** The connection that the bytes come from. */
export interface Flow {
  pause(): void;
  resume(): void;
  /** Closes it in the middle of the answer. */
  abandon(): void;
}

const mostWaiting = 256 * 1024;
/** What each piece takes besides its bytes, so that crumbs are not piled up either. */
const pieceCost = 256;
const end: ReadBytes = { done: true };

export class IncomingBody implements ByteReader, Polled<ReadBytes> {
  readonly #flow: Flow;
  /** Null where nothing waits, as for most of the time: there are thousands of these. */
  #waiting: Bytes[] | null = null;
  #size = 0;
  #paused = false;
  #complete = false;
  #broken: { by: unknown } | null = null;
  #waker: Waker | null = null;

  constructor(flow: Flow) {
    this.#flow = flow;
  }

  push(bytes: Bytes): void {
    if (this.#waiting) this.#waiting.push(bytes);
    else this.#waiting = [bytes];
    this.#size += bytes.length + pieceCost;
    this.#wake();
    if (this.#size > mostWaiting && !this.#paused) {
      this.#paused = true;
      this.#flow.pause();
    }
  }

  complete(): void {
    this.#complete = true;
    this.#wake();
  }

  /** What came before is still read. */
  break(fault: unknown): void {
    this.#broken = { by: fault };
    this.#wake();
  }

  read(): Promise<ReadBytes> {
    return promised(this);
  }

  poll(waker: Waker): ReadBytes | null {
    const value = this.#waiting?.shift();
    if (value) {
      if (this.#waiting?.length === 0) this.#waiting = null;
      this.#taken(value.length);
      return { done: false, value };
    }
    if (this.#complete) return end;
    if (this.#broken) throw this.#broken.by;
    this.#waker = waker;
    return null;
  }

  async cancel(): Promise<void> {
    this.#waiting = null;
    if (this.#open) this.#flow.abandon();
  }

  /** Most answers are here with their head. */
  whole(limit: number, look?: Look): Bytes | Promise<Bytes> {
    const only = this.#waiting?.[0];
    if (!this.#complete || this.#waiting?.length !== 1 || !only) return readThrough(this, limit, look);
    this.#waiting = null;
    if (only.length > limit) throw bodyTooLarge(limit);
    return only;
  }

  /** The connection still delivers to it. */
  get #open(): boolean {
    return !this.#complete && !this.#broken;
  }

  #wake(): void {
    const waker = this.#waker;
    this.#waker = null;
    waker?.wake();
  }

  #taken(size: number): void {
    this.#size -= size + pieceCost;
    if (!this.#paused || this.#size > mostWaiting / 2) return;
    this.#paused = false;
    if (this.#open) this.#flow.resume();
  }
}
