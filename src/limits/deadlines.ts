/** How long calls wait for the store of the limits. */
import { LimitStoreAway } from './engine.ts';

const lateMs = 10;

interface Waiting {
  until: number;
  expire(): void;
}

/** One timer for all that wait, since all wait equally long. */
export class Deadlines {
  readonly #ms: number;
  readonly #waiting: Set<Waiting> = new Set();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #dueAt = 0;

  constructor(ms: number) {
    this.#ms = ms;
  }

  within<T>(work: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const waiting: Waiting = {
        until: performance.now() + this.#ms,
        expire: () => reject(new LimitStoreAway(`no answer within ${this.#ms} ms`)),
      };
      this.#waiting.add(waiting);
      if (!this.#timer) this.#wait(this.#ms);
      work.then(resolve, reject).finally(() => this.#waiting.delete(waiting));
    });
  }

  #wait(ms: number): void {
    this.#dueAt = performance.now() + ms;
    this.#timer = setTimeout(() => this.#expire(), ms);
  }

  stop(): void {
    clearTimeout(this.#timer);
    for (const waiting of this.#waiting) waiting.expire();
    this.#waiting.clear();
  }

  #expire(): void {
    this.#timer = undefined;
    const now = performance.now();
    // A timer that comes late says that this process was busy: answers may be there that it has not read yet.
    if (now - this.#dueAt > lateMs) {
      this.#wait(this.#ms);
      return;
    }
    for (const waiting of this.#waiting) {
      if (waiting.until > now) {
        this.#wait(Math.max(1, waiting.until - now));
        return;
      }
      this.#waiting.delete(waiting);
      waiting.expire();
    }
  }
}
