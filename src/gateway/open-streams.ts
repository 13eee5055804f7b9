/** Counts open streams, and has memory collected when their number has changed much: by itself the runtime may wait until the heap has grown fourfold, and thousands of calls that begin together leave more behind than their streams take. */
/** With fewer of them, what the runtime does by itself is enough. */
const many = 1_000;
/** While they only go on they leave something behind too. */
const collectedEveryMs = 3_000;

export interface Collector {
  /** Holds everything up for some 50 ms with thousands of streams. */
  atOnce(): void;
  /** Mostly beside the work that goes on. */
  inPassing(): void;
}

const ofTheRuntime: Collector = { atOnce: () => Bun.gc(true), inPassing: () => Bun.gc(false) };

export class OpenStreams {
  readonly #collector: Collector;
  readonly #everyMs: number;
  #open = 0;
  /** How many there were when memory was collected. Each time costs as much as there is, so that they are to have doubled or halved. */
  #counted = many / 2;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(collector = ofTheRuntime, everyMs = collectedEveryMs) {
    this.#collector = collector;
    this.#everyMs = everyMs;
  }

  begin(): void {
    this.#open++;
    if (this.#open >= 2 * this.#counted) this.#tidy();
  }

  end(): void {
    this.#open--;
    if (this.#counted >= many && this.#open <= this.#counted / 2) this.#tidy();
  }

  #tidy(): void {
    clearInterval(this.#timer);
    this.#counted = Math.max(this.#open, many / 2);
    this.#collector.atOnce();
    if (this.#open >= many) this.#timer = setInterval(this.#collector.inPassing, this.#everyMs).unref();
  }
}
