/** Answers to a client's pings. One that pings without reading is answered once for all of them, so that they do not pile up. */
import type { Outbox } from './outbox.ts';
import { pongFrame } from './written.ts';

export class Pongs {
  readonly #outbox: Outbox;
  /** Where the last one ends, among all bytes that were sent. */
  #lastEndsAt = 0;
  /** What the next one is to say, once the last one has left. */
  #owed: Uint8Array | null = null;

  constructor(outbox: Outbox) {
    this.#outbox = outbox;
  }

  answer(payload: Uint8Array): void {
    if (this.#outbox.left < this.#lastEndsAt) {
      this.#owed = payload;
      return;
    }
    this.#owed = null;
    this.#outbox.write(pongFrame(payload));
    this.#lastEndsAt = this.#outbox.left + this.#outbox.size;
  }

  /** Some of what waited has left. */
  goOn(): void {
    if (this.#owed) this.answer(this.#owed);
  }
}
