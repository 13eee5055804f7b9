/** The vectors of one partition, packed: a scan over their signs picks candidates, which are then compared exactly. */

const candidates = 32;
const smallest = 16;

export class Partition<T> {
  readonly dimensions: number;
  readonly #words: number;
  readonly #items: T[] = [];
  #vectors: Float32Array;
  /** One bit for the sign of each dimension. */
  #signs: Uint32Array;
  #distances = new Uint16Array(smallest);

  constructor(dimensions: number) {
    this.dimensions = dimensions;
    this.#words = Math.ceil(dimensions / 32);
    this.#vectors = new Float32Array(smallest * dimensions);
    this.#signs = new Uint32Array(smallest * this.#words);
  }

  get size(): number {
    return this.#items.length;
  }

  /** Answers the slot that it stands in. */
  add(item: T, vector: Float32Array): number {
    const slot = this.#items.length;
    if (slot === this.#distances.length) this.#grow(2 * slot);
    this.#items.push(item);
    const unit = normalised(vector);
    this.#vectors.set(unit, slot * this.dimensions);
    this.#signs.set(signsOf(unit, this.#words), slot * this.#words);
    return slot;
  }

  /** The last one takes the place of the one that goes; it is answered, so that its slot is known. */
  remove(slot: number): T | undefined {
    const lastSlot = this.#items.length - 1;
    const last = this.#items.pop();
    if (slot === lastSlot || last === undefined) return undefined;
    this.#items[slot] = last;
    const { dimensions } = this;
    this.#vectors.copyWithin(slot * dimensions, lastSlot * dimensions, (lastSlot + 1) * dimensions);
    this.#signs.copyWithin(slot * this.#words, lastSlot * this.#words, (lastSlot + 1) * this.#words);
    return last;
  }

  /** The nearest, with the cosine of the two. */
  nearest(vector: Float32Array): { item: T; similarity: number } | null {
    const asked = normalised(vector);
    let best: { item: T; similarity: number } | null = null;
    for (const slot of this.#likely(signsOf(asked, this.#words))) {
      const item = this.#items[slot];
      const similarity = this.#product(asked, slot);
      if (item !== undefined && (!best || similarity > best.similarity)) best = { item, similarity };
    }
    return best;
  }

  /** The slots whose signs differ least. */
  #likely(asked: Uint32Array): number[] {
    const count = this.#items.length;
    const distances = this.#distances;
    const howMany = new Uint32Array(32 * this.#words + 1);
    let at = 0;
    for (let slot = 0; slot < count; slot++) {
      let distance = 0;
      for (let word = 0; word < asked.length; word++) distance += bitsIn((asked[word] ?? 0) ^ (this.#signs[at++] ?? 0));
      distances[slot] = distance;
      howMany[distance] = (howMany[distance] ?? 0) + 1;
    }
    let farthest = 0;
    for (let gathered = howMany[0] ?? 0; gathered < candidates && farthest < howMany.length - 1; ) {
      farthest += 1;
      gathered += howMany[farthest] ?? 0;
    }
    const slots: number[] = [];
    for (let slot = 0; slot < count; slot++) if ((distances[slot] ?? 0) <= farthest) slots.push(slot);
    return slots;
  }

  #product(asked: Float32Array, slot: number): number {
    const from = slot * this.dimensions;
    let sum = 0;
    for (let at = 0; at < asked.length; at++) sum += (asked[at] ?? 0) * (this.#vectors[from + at] ?? 0);
    return sum;
  }

  #grow(slots: number): void {
    const vectors = new Float32Array(slots * this.dimensions);
    vectors.set(this.#vectors);
    this.#vectors = vectors;
    const signs = new Uint32Array(slots * this.#words);
    signs.set(this.#signs);
    this.#signs = signs;
    this.#distances = new Uint16Array(slots);
  }
}

function normalised(vector: Float32Array): Float32Array {
  let sum = 0;
  for (const value of vector) sum += value * value;
  const length = Math.sqrt(sum);
  return length === 0 ? vector : vector.map((value) => value / length);
}

function signsOf(vector: Float32Array, words: number): Uint32Array {
  const signs = new Uint32Array(words);
  for (let at = 0; at < vector.length; at++) {
    if ((vector[at] ?? 0) > 0) signs[at >>> 5] = (signs[at >>> 5] ?? 0) | (1 << (at & 31));
  }
  return signs;
}

/** Adds the bits of a word in pairs, then fours, then bytes. */
function bitsIn(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
