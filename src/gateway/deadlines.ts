/** Deadlines of everything under way, kept by one timer: thousands of streams cost no timer each. */
export interface Deadline {
  /** Moves it: `ms` from now. */
  extend(ms: number): void;
  clear(): void;
}

const sweepMs = 20;

interface Entry {
  at: number;
  expire(): void;
}

export class Deadlines {
  readonly #entries = new Set<Entry>();
  #timer: ReturnType<typeof setInterval> | undefined;

  /** Calls `expire` once when `ms` have passed, up to a few milliseconds late. */
  set(ms: number, expire: () => void): Deadline {
    const entry: Entry = { at: performance.now() + ms, expire };
    this.#entries.add(entry);
    this.#timer ??= setInterval(() => this.#sweep(), sweepMs);
    return {
      extend: (more) => {
        entry.at = performance.now() + more;
      },
      clear: () => {
        this.#entries.delete(entry);
      },
    };
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#entries.clear();
  }

  #sweep(): void {
    const now = performance.now();
    for (const entry of this.#entries) {
      if (entry.at > now) continue;
      this.#entries.delete(entry);
      entry.expire();
    }
    if (this.#entries.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
  }
}
