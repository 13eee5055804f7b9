/** Comments that keep silent streams open: proxies cut what says nothing for half a minute. One timer serves all streams. */

const everyMs = 15_000;

export class Heartbeat {
  readonly #streams = new Set<() => void>();
  #timer: ReturnType<typeof setInterval> | null = null;

  /** Told every fifteen seconds, until the answer is called. */
  add(beat: () => void): () => void {
    this.#streams.add(beat);
    this.#timer ??= setInterval(() => {
      for (const one of this.#streams) one();
    }, everyMs);
    return () => {
      this.#streams.delete(beat);
      if (this.#streams.size > 0 || this.#timer === null) return;
      clearInterval(this.#timer);
      this.#timer = null;
    };
  }
}
