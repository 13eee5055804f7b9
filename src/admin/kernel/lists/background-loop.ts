/** Something that is done in the background again and again, each time a while after the last time. */
export class Tending {
  readonly #work: (signal: AbortSignal) => Promise<void>;
  readonly #pauseMs: number;
  readonly #end = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #underway: Promise<void> = Promise.resolve();

  /** `work` never fails, and may leave off when the signal says so. */
  constructor(work: (signal: AbortSignal) => Promise<void>, pauseMs: number) {
    this.#work = work;
    this.#pauseMs = pauseMs;
    this.#after(0);
  }

  #after(pauseMs: number): void {
    this.#timer = setTimeout(() => {
      this.#underway = this.#once();
    }, pauseMs);
  }

  async #once(): Promise<void> {
    await this.#work(this.#end.signal);
    if (!this.#end.signal.aborted) this.#after(this.#pauseMs);
  }

  async stop(): Promise<void> {
    this.#end.abort();
    clearTimeout(this.#timer);
    await this.#underway;
  }
}
