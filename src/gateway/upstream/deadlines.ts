/** Deadlines of everything under way, kept by one timer: thousands of streams cost no timer each. */
export interface Deadline {
  /** Moves it: `ms` from now. */
  extend(ms: number): void;
  /** It does not come before it is moved again. */
  rest(): void;
  clear(): void;
}

/** Told when a deadline has passed. What lives as long as a stream does it by itself, without a function for it. */
type Waiting = (() => void) | { expired(): void };

const sweepMs = 20;

class Entry implements Deadline {
  at: number;
  /** Null once it is cleared or has passed, so that nothing is kept alive by it. */
  waiting: Waiting | null;

  constructor(at: number, waiting: Waiting) {
    this.at = at;
    this.waiting = waiting;
  }

  extend(ms: number): void {
    this.at = performance.now() + ms;
  }

  rest(): void {
    this.at = Number.POSITIVE_INFINITY;
  }

  clear(): void {
    this.waiting = null;
  }
}

export class Deadlines {
  /** A list, from which the sweep drops what is cleared: a set that every call enters and leaves burdens the garbage collector. */
  #entries: Entry[] = [];
  #timer: ReturnType<typeof setInterval> | undefined;

  /** Tells `waiting` once when `ms` have passed, up to a few milliseconds late. */
  set(ms: number, waiting: Waiting): Deadline {
    const entry = new Entry(performance.now() + ms, waiting);
    this.#entries.push(entry);
    this.#timer ??= setInterval(() => this.#sweep(), sweepMs);
    return entry;
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#entries = [];
  }

  /** In place: thousands are looked at fifty times a second. */
  #sweep(): void {
    const now = performance.now();
    const entries = this.#entries;
    // What an expiry sets anew belongs to the next sweep.
    const swept = entries.length;
    let kept = 0;
    for (let index = 0; index < swept; index++) {
      const entry = entries[index];
      if (!entry?.waiting) continue;
      if (entry.at > now) {
        entries[kept++] = entry;
        continue;
      }
      const { waiting } = entry;
      entry.waiting = null;
      if (typeof waiting === 'function') waiting();
      else waiting.expired();
    }
    entries.copyWithin(kept, swept);
    entries.length -= swept - kept;
    if (this.#entries.length === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
  }
}
