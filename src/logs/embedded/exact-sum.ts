/** A sum of money: what a float cannot hold of it is kept beside it (Neumaier), so that the order of what is added does not matter. */
export class ExactSum {
  sum = 0;
  rest = 0;

  add(value: number): void {
    const after = this.sum + value;
    this.rest += lost(this.sum, value, after);
    this.sum = after;
  }
}

/** The same for many sums, each under a number. */
export class ExactSums {
  readonly #sums: Float64Array;
  readonly #rests: Float64Array;

  constructor(count: number) {
    this.#sums = new Float64Array(count);
    this.#rests = new Float64Array(count);
  }

  /** Adds rows to the sums whose numbers stand beside them; -1 stands for none. */
  addRows(rows: Uint32Array, numbers: Int32Array, values: Float64Array): void {
    for (let at = 0; at < rows.length; at++) {
      const number = numbers[at] ?? -1;
      if (number >= 0) this.#add(number, values[rows[at] ?? 0] ?? 0, 0);
    }
  }

  /** Adds sums with their rests, from a first one on. */
  addEntries(first: number, numbers: Int32Array, sums: Float64Array, rests: Float64Array): void {
    for (let at = 0; at < numbers.length; at++) {
      const number = numbers[at] ?? -1;
      if (number >= 0) this.#add(number, sums[first + at] ?? 0, rests[first + at] ?? 0);
    }
  }

  #add(number: number, value: number, rest: number): void {
    const before = this.#sums[number] ?? 0;
    const after = before + value;
    this.#sums[number] = after;
    this.#rests[number] = (this.#rests[number] ?? 0) + lost(before, value, after) + rest;
  }

  of(number: number): number {
    return (this.#sums[number] ?? 0) + (this.#rests[number] ?? 0);
  }
}

const lost = (before: number, value: number, after: number): number =>
  Math.abs(before) >= Math.abs(value) ? before - after + value : value - after + before;
