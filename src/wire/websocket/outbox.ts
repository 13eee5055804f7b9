/** Frames on their way to the client: what the line does not take at once waits until it does. */

/** Takes as many of the bytes as there is room for, and tells how many; less than 0 when it is closed. */
type Taker = (bytes: Uint8Array) => number;

/** Places in front of the first that waits are given up once there are so many. */
const mostPassed = 1_024;

export class Outbox {
  /** Bytes that wait. */
  size = 0;
  /** Bytes that have left, since the beginning. */
  left = 0;
  readonly #take: Taker;
  #waiting: Uint8Array[] = [];
  /** The place of the first that waits. */
  #first = 0;
  #closed = false;

  constructor(take: Taker) {
    this.#take = take;
  }

  get closed(): boolean {
    return this.#closed;
  }

  write(bytes: Uint8Array): void {
    if (this.#closed) return;
    const rest = this.size > 0 ? bytes : this.#handOver(bytes);
    if (!rest) return;
    this.#waiting.push(rest);
    this.size += rest.length;
  }

  /** There is room again. */
  drain(): void {
    for (let next = this.#waiting[this.#first]; next; next = this.#waiting[this.#first]) {
      const rest = this.#handOver(next);
      if (this.#closed) return;
      this.size -= next.length - (rest?.length ?? 0);
      if (rest) {
        this.#waiting[this.#first] = rest;
        return;
      }
      this.#pass();
    }
  }

  /** Nothing goes any more. */
  close(): void {
    this.#closed = true;
    this.#waiting = [];
    this.#first = 0;
    this.size = 0;
  }

  /** What is not taken; null when all of it is. */
  #handOver(bytes: Uint8Array): Uint8Array | null {
    const taken = this.#take(bytes);
    if (taken < 0) {
      this.close();
      return null;
    }
    this.left += taken;
    return taken < bytes.length ? bytes.subarray(taken) : null;
  }

  #pass(): void {
    this.#first++;
    if (this.#first < this.#waiting.length && this.#first < mostPassed) return;
    this.#waiting.splice(0, this.#first);
    this.#first = 0;
  }
}
