/** Counts open streams, and has memory collected when their number has changed much: by itself the runtime may wait until the heap has grown fourfold, and thousands of calls that begin together leave more behind than their streams take. */
import { fullGC } from 'bun:jsc';

/** With fewer of them, what the runtime does by itself is enough. */
const many = 1_000;
/** While they only go on they leave something behind too. */
const collectedEveryMs = 3_000;

export class OpenStreams {
  readonly #collect: () => void;
  readonly #everyMs: number;
  #open = 0;
  /** How many there were when memory was collected. Each time costs as much as there is, so that they are to have doubled or halved. */
  #counted = many / 2;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(collect: () => void = fullGC, everyMs = collectedEveryMs) {
    this.#collect = collect;
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

  readonly #tidy = (): void => {
    clearTimeout(this.#timer);
    this.#counted = Math.max(this.#open, many / 2);
    this.#collect();
    if (this.#open >= many) this.#timer = setTimeout(this.#tidy, this.#everyMs).unref();
  };
}
