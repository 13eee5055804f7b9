/** How long calls wait for the store of the limits. */
import { LimitStoreAway } from './engine.ts';

/** A timer that comes so late says that this process was busy: answers may be there that it has not read yet. */
const lateMs = 10;
/** It reads them in this time, and no call waits longer for them. */
const graceMs = 5;

interface Waiting {
  until: number;
  expire(): void;
}

export interface Timing {
  /** Monotonic, in ms. */
  now(): number;
  /** Answers how to take it back. */
  after(ms: number, run: () => void): () => void;
}

export const systemTiming: Timing = {
  now: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

/** One timer for all that wait. */
export class Deadlines {
  readonly #ms: number;
  readonly #timing: Timing;
  readonly #waiting: Set<Waiting> = new Set();
  #cancel: (() => void) | null = null;
  #dueAt = 0;

  constructor(ms: number, timing: Timing = systemTiming) {
    this.#ms = ms;
    this.#timing = timing;
  }

  /** When a call that begins now is answered at the latest, however often it asks. */
  start(): number {
    return this.#timing.now() + this.#ms;
  }

  within<T>(work: Promise<T>, until = this.start()): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const expire = () => reject(new LimitStoreAway(`no answer within ${this.#ms} ms`));
      const waiting: Waiting = { until, expire };
      this.#waiting.add(waiting);
      if (!this.#cancel || until < this.#dueAt) this.#wait(until - this.#timing.now());
      work.then(resolve, reject).finally(() => this.#waiting.delete(waiting));
    });
  }

  stop(): void {
    this.#cancel?.();
    for (const waiting of this.#waiting) waiting.expire();
    this.#waiting.clear();
  }

  #wait(ms: number, isGrace = false): void {
    this.#cancel?.();
    this.#dueAt = this.#timing.now() + ms;
    this.#cancel = this.#timing.after(Math.max(1, ms), () => this.#expire(isGrace));
  }

  #expire(isGrace: boolean): void {
    this.#cancel = null;
    const now = this.#timing.now();
    if (!isGrace && now - this.#dueAt > lateMs) {
      this.#wait(graceMs, true);
      return;
    }
    let next = Number.POSITIVE_INFINITY;
    for (const waiting of this.#waiting) {
      if (waiting.until > now) next = Math.min(next, waiting.until);
      else {
        this.#waiting.delete(waiting);
        waiting.expire();
      }
    }
    if (next !== Number.POSITIVE_INFINITY) this.#wait(next - now);
  }
}
