/** Comments that keep silent streams open: proxies cut what says nothing for half a minute. One timer serves all streams. */

const everyMs = 15_000;

/** Runs something again and again, until the answer is called. */
export type Every = (ms: number, run: () => void) => () => void;

const byTimer: Every = (ms, run) => {
  const timer = setInterval(run, ms);
  return () => clearInterval(timer);
};

export class Heartbeat {
  readonly #streams = new Set<() => void>();
  readonly #every: Every;
  #stop: (() => void) | null = null;

  constructor(every: Every = byTimer) {
    this.#every = every;
  }

  /** Told every fifteen seconds, until the answer is called. */
  add(beat: () => void): () => void {
    this.#streams.add(beat);
    this.#stop ??= this.#every(everyMs, () => {
      for (const one of this.#streams) one();
    });
    return () => {
      this.#streams.delete(beat);
      if (this.#streams.size > 0 || this.#stop === null) return;
      this.#stop();
      this.#stop = null;
    };
  }
}
