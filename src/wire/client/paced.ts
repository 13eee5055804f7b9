/** A body that comes in small helpings, between which the other requests have their turn: what a provider sends at once may be many events. */
import { type Polled, promised, type Waker } from '../polled.ts';
import { type ByteReader, polled, type ReadBytes } from './answer.ts';
import type { Bytes } from './collected.ts';

const helping = 64 * 1024;

export class PacedBody implements ByteReader, Polled<ReadBytes> {
  readonly #body: ByteReader;
  readonly #source: Polled<ReadBytes>;
  /** What came and was more than a helping. */
  #rest: Bytes | null = null;
  #handedOut = 0;
  #waker: Waker | null = null;

  constructor(body: ByteReader) {
    this.#body = body;
    this.#source = polled(body);
  }

  read(): Promise<ReadBytes> {
    return promised(this);
  }

  poll(waker: Waker): ReadBytes | null {
    if (this.#handedOut >= helping) {
      this.#waitForTurn(waker);
      return null;
    }
    const rest = this.#rest;
    const read: ReadBytes | null = rest ? { done: false, value: rest } : this.#source.poll(waker);
    if (!read || read.done) return read;
    this.#handedOut += read.value.length;
    this.#rest = read.value.length > helping ? read.value.subarray(helping) : null;
    return this.#rest ? { ...read, value: read.value.subarray(0, helping) } : read;
  }

  cancel(): Promise<void> {
    this.#rest = null;
    return this.#body.cancel();
  }

  #waitForTurn(waker: Waker): void {
    const alreadyWaits = this.#waker !== null;
    this.#waker = waker;
    if (alreadyWaits) return;
    setImmediate(() => {
      const waiting = this.#waker;
      this.#waker = null;
      this.#handedOut = 0;
      waiting?.wake();
    });
  }
}
