/** Counts open streams, and has memory collected when their number has changed much: by itself the runtime may wait until the heap has grown fourfold, and thousands of calls that begin together leave more behind than their streams take. */

/** With fewer of them, what the runtime does by itself is enough. */
const many = 1_000;

/** Holds everything up for some 50 ms with thousands of streams. */
const collectAtOnce = (): void => Bun.gc(true);

export class OpenStreams {
  readonly #collect: () => void;
  #open = 0;
  /** How many there were when memory was collected. Each time costs as much as there is, so that they are to have doubled or halved. */
  #counted = many / 2;

  constructor(collect = collectAtOnce) {
    this.#collect = collect;
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
    this.#counted = Math.max(this.#open, many / 2);
    this.#collect();
  }
}
