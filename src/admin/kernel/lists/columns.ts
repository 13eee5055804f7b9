/** Columns of rows in memory, each packed as its kind allows. What they answer, they answer as the store would. */

/** A value that the program does not write, or no room for it: the rows cannot be held, and are read from the store. */
export class Unholdable extends Error {}

export type Value = string | number | null;

/** For every row whether it is meant: one or zero. Columns take away those that do not answer to a condition. */
export type Mask = Uint8Array;

/** A quarter more than is needed, so that rows are seldom copied and little room stays empty. */
export const roomier = (buffer: ArrayBuffer, bytes: number, each: number): ArrayBuffer =>
  buffer.transfer(Math.ceil((bytes * 1.25) / each) * each);

const firstRows = 1_024;

/** One of few values, or none: rows hold the number of theirs. */
export class Words {
  readonly #codes = new Map<Value, number>();
  #rows = new Uint32Array(firstRows);
  #length = 0;

  append(value: Value): void {
    if (this.#length === this.#rows.length)
      this.#rows = new Uint32Array(roomier(this.#rows.buffer, this.#rows.byteLength, 4));
    this.#rows[this.#length++] = this.#codeOf(value);
  }

  #codeOf(value: Value): number {
    const known = this.#codes.get(value);
    if (known !== undefined) return known;
    this.#codes.set(value, this.#codes.size);
    return this.#codes.size - 1;
  }

  among(mask: Mask, values: readonly Value[]): void {
    const wanted = new Uint8Array(this.#codes.size);
    for (const value of values) {
      const code = this.#codes.get(value);
      if (code !== undefined) wanted[code] = 1;
    }
    const rows = this.#rows;
    for (let row = 0; row < mask.length; row++) mask[row] = (mask[row] ?? 0) & (wanted[rows[row] ?? 0] ?? 0);
  }
}

/** What a key that never expires has in place of a time; before every time of that year, as its text is. */
const never = '9999';
const neverMs = Date.parse('9999-01-01T00:00:00.000Z') - 0.5;
const timeForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Times as the program writes them, whose texts stand in the same order as their numbers. */
export class Times {
  #rows = new Float64Array(firstRows);
  #length = 0;

  append(value: Value): void {
    if (this.#length === this.#rows.length)
      this.#rows = new Float64Array(roomier(this.#rows.buffer, this.#rows.byteLength, 8));
    this.#rows[this.#length++] = numberOf(value);
  }

  compare(one: number, other: number): number {
    return (this.#rows[one] ?? 0) - (this.#rows[other] ?? 0);
  }

  /** Says of a row how far behind a time it is. */
  from(time: string): (row: number) => number {
    const start = numberOf(time);
    const rows = this.#rows;
    return (row) => (rows[row] ?? 0) - start;
  }

  atMost(mask: Mask, time: string): void {
    const last = numberOf(time);
    const rows = this.#rows;
    for (let row = 0; row < mask.length; row++) {
      if ((rows[row] ?? 0) > last) mask[row] = 0;
    }
  }
}

function numberOf(value: Value): number {
  if (value === never) return neverMs;
  const number = typeof value === 'string' && timeForm.test(value) ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(number)) throw new Unholdable('A row has a value that is no time');
  return number;
}

/** Paths may be long; those of a hundred thousand audit rows are about 3 MB. */
const mostTextBytes = 32 * 1_024 ** 2;
/** No text has this byte in it, so none is found across two of them. */
const between = 0xff;

/** Texts in one piece, in the order of their rows, so that all are searched at once. */
export class Texts {
  #bytes = Buffer.from(new ArrayBuffer(firstRows * 32));
  /** Where each text starts; behind the last one, where the next will. */
  #starts = new Uint32Array(firstRows);
  #length = 0;

  append(value: Value): void {
    if (typeof value !== 'string') throw new Unholdable('A row has a value that is no text');
    const start = this.#startOf(this.#length);
    const end = start + Buffer.byteLength(value);
    if (end > mostTextBytes) throw new Unholdable('The texts of the rows take too much room');
    if (end >= this.#bytes.length) this.#bytes = Buffer.from(roomier(this.#bytes.buffer, end + 1, 1));
    this.#bytes.write(value, start);
    this.#bytes[end] = between;
    this.#length++;
    if (this.#length === this.#starts.length) {
      this.#starts = new Uint32Array(roomier(this.#starts.buffer, this.#starts.byteLength, 4));
    }
    this.#starts[this.#length] = end + 1;
  }

  #startOf(row: number): number {
    return this.#starts[row] ?? 0;
  }

  /** As bytes, which both engines compare. */
  compare(one: number, other: number): number {
    const bytes = this.#bytes;
    let a = this.#startOf(one);
    let b = this.#startOf(other);
    const aEnd = this.#startOf(one + 1) - 1;
    const bEnd = this.#startOf(other + 1) - 1;
    while (a < aEnd && b < bEnd && bytes[a] === bytes[b]) {
      a++;
      b++;
    }
    if (a === aEnd || b === bEnd) return Number(a < aEnd) - Number(b < bEnd);
    return (bytes[a] ?? 0) - (bytes[b] ?? 0);
  }

  holding(mask: Mask, part: string): void {
    const sought = Buffer.from(part);
    const texts = this.#bytes.subarray(0, this.#startOf(this.#length));
    const starts = this.#starts;
    let row = 0;
    for (let at = texts.indexOf(sought); at >= 0; at = texts.indexOf(sought, starts[row])) {
      while ((starts[row + 1] ?? 0) <= at) mask[row++] = 0;
      row++;
    }
    mask.fill(0, row);
  }
}
