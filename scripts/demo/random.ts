/** Random numbers that a seed decides (mulberry32), and choices by weight. */
export class SeededRandom {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 up to 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  pick<T>(list: readonly T[]): T {
    const found = list[this.below(list.length)];
    if (found === undefined) throw new Error('There is nothing to choose from');
    return found;
  }

  /** By weight. */
  weighted<T extends { weight: number }>(list: readonly T[]): T {
    let left = this.next() * list.reduce((sum, { weight }) => sum + weight, 0);
    for (const item of list) {
      left -= item.weight;
      if (left <= 0) return item;
    }
    return this.pick(list);
  }

  /** Positive, mostly near the middle, with a long tail. */
  skewed(middle: number, spread = 0.6): number {
    const normal = Math.sqrt(-2 * Math.log(1 - this.next())) * Math.cos(2 * Math.PI * this.next());
    return middle * Math.exp(spread * normal);
  }

  uuidAt(ms: number): string {
    const time = Math.floor(ms).toString(16).padStart(12, '0');
    const digits = (count: number) => Array.from({ length: count }, () => this.below(16).toString(16)).join('');
    return `${time.slice(0, 8)}-${time.slice(8)}-7${digits(3)}-8${digits(3)}-${digits(12)}`;
  }
}
