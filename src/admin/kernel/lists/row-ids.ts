/** The ids of rows in memory, and the row that has an id: UUIDs, as four numbers each. */
import { roomier, Unholdable, type Value } from './columns.ts';

type Quads = readonly [number, number, number, number];

const form = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export class RowIds {
  #quads = new Uint32Array(4 * 1_024);
  /** Where the row with an id is found: its number and one more, in the id's own slot or the next one that is free. */
  #slots = new Uint32Array(4 * 1_024);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** A row with an id that another has is found in its stead from now on. */
  append(id: Value): void {
    const quads = quadsOf(id);
    const at = this.#length * 4;
    if (at === this.#quads.length) this.#quads = new Uint32Array(roomier(this.#quads.buffer, at * 4, 16));
    this.#quads.set(quads, at);
    this.#length++;
    if (this.#length * 2 > this.#slots.length) this.#spreadSlots();
    this.#slots[this.#slotOf(quads)] = this.#length;
  }

  #spreadSlots(): void {
    this.#slots = new Uint32Array(this.#slots.length * 2);
    for (let row = 0; row < this.#length; row++) this.#slots[this.#slotOf(this.#of(row))] = row + 1;
  }

  #slotOf(id: Quads): number {
    const last = this.#slots.length - 1;
    // The end of an id is chance.
    let slot = id[3] & last;
    for (let row = this.#slots[slot]; row; row = this.#slots[slot]) {
      if (this.#is(row - 1, id)) break;
      slot = (slot + 1) & last;
    }
    return slot;
  }

  #is(row: number, [a, b, c, d]: Quads): boolean {
    const quads = this.#quads;
    const at = row * 4;
    return quads[at + 3] === d && quads[at + 2] === c && quads[at + 1] === b && quads[at] === a;
  }

  #of(row: number): Quads {
    const quads = this.#quads;
    const at = row * 4;
    return [quads[at] ?? 0, quads[at + 1] ?? 0, quads[at + 2] ?? 0, quads[at + 3] ?? 0];
  }

  find(id: Value): number | null {
    const row = this.#slots[this.#slotOf(quadsOf(id))];
    return row ? row - 1 : null;
  }

  text(row: number): string {
    const hex = this.#of(row)
      .map((quad) => quad.toString(16).padStart(8, '0'))
      .join('');
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
  }

  compare(one: number, other: number): number {
    const quads = this.#quads;
    let [a, b] = [one * 4, other * 4];
    const end = a + 3;
    while (a < end && quads[a] === quads[b]) {
      a++;
      b++;
    }
    return (quads[a] ?? 0) - (quads[b] ?? 0);
  }
}

function quadsOf(id: Value): Quads {
  if (typeof id !== 'string' || !form.test(id)) throw new Unholdable('A row has an id that is no UUID');
  return [quadAt(id, 0, 4), quadAt(id, 9, 14), quadAt(id, 19, 24), quadAt(id, 28, 32)];
}

/** Two times four digits. Digit by digit, because pieces of text would take most of the time that a row takes. */
const quadAt = (id: string, high: number, low: number): number => fourAt(id, high) * 0x1_0000 + fourAt(id, low);

const fourAt = (id: string, at: number): number =>
  (digitAt(id, at) << 12) | (digitAt(id, at + 1) << 8) | (digitAt(id, at + 2) << 4) | digitAt(id, at + 3);

function digitAt(id: string, at: number): number {
  const code = id.charCodeAt(at);
  return code < 0x3a ? code - 0x30 : code - 0x57;
}
