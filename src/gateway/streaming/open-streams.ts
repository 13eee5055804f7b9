/** Counts open streams, and has memory collected when there are many: by itself the runtime lets what they leave behind grow until it takes more than they do. */
import { edenGC } from 'bun:jsc';

/** With fewer of them, what the runtime does by itself is enough. */
const many = 1_000;
/** After so many beginnings and ends, what is new in memory is collected. */
const movesBetween = 500;
/** And every two seconds, though nothing begins or ends: every piece of a stream leaves something. */
const youngEveryMs = 2_000;

export interface Collector {
  /** Looks through all of memory, which holds everything up for some 50 ms with thousands of streams. */
  all(): void;
  /** Looks through what is new, which takes a few milliseconds. */
  young(): void;
}

const runtime: Collector = {
  all: () => Bun.gc(true),
  young: () => void edenGC(),
};

export class OpenStreams {
  readonly #collect: Collector;
  #open = 0;
  /** How many there were when all was collected. Each time costs as much as there is, so that they are to have doubled or halved. */
  #counted = many / 2;
  #moves = 0;
  #timer: ReturnType<typeof setInterval> | null = null;

  constructor(collect = runtime) {
    this.#collect = collect;
  }

  begin(): void {
    this.#open++;
    if (this.#open === many) this.#timer = setInterval(this.#collect.young, youngEveryMs);
    if (this.#open >= 2 * this.#counted) this.#tidy();
    else this.#moved();
  }

  end(): void {
    this.#open--;
    if (this.#open === many - 1 && this.#timer) clearInterval(this.#timer);
    if (this.#counted >= many && this.#open <= this.#counted / 2) this.#tidy();
    else this.#moved();
  }

  #moved(): void {
    if (this.#counted < many) return;
    this.#moves++;
    if (this.#moves < movesBetween) return;
    this.#moves = 0;
    this.#collect.young();
  }

  #tidy(): void {
    this.#counted = Math.max(this.#open, many / 2);
    this.#moves = 0;
    this.#collect.all();
  }
}
