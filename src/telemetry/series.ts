/** Series of samples by their labels, bounded in number, so that no client can make the program's memory grow. */
import type { Labels, Sample } from './exposition.ts';

const rest = 'other';
/** Values that callers choose are cut. */
const longestValue = 128;

export class Series<T> {
  readonly #most: number;
  readonly #make: () => T;
  readonly #known = new Map<string, { labels: Labels; values: T }>();

  constructor(most: number, make: () => T) {
    this.#most = most;
    this.#make = make;
  }

  /** Combinations beyond the bound are counted together, under labels that all say `other`. */
  of(labels: Labels): T {
    return this.#found(labels) ?? this.#found(othersOf(labels), true) ?? this.#make();
  }

  *all(): Generator<{ labels: Labels; values: T }> {
    yield* this.#known.values();
  }

  #found(labels: Labels, always = false): T | null {
    const key = Object.values(labels).join('\u0000');
    const known = this.#known.get(key);
    if (known) return known.values;
    if (this.#known.size >= this.#most && !always) return null;
    const made = { labels: cut(labels), values: this.#make() };
    this.#known.set(key, made);
    return made.values;
  }
}

const othersOf = (labels: Labels): Labels => Object.fromEntries(Object.keys(labels).map((name) => [name, rest]));

const cut = (labels: Labels): Labels =>
  Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, value.slice(0, longestValue)]));

/** How many measurements fell into each bucket, and their sum. */
export class Histogram {
  readonly #bounds: readonly number[];
  readonly #counts: Float64Array;
  #sum = 0;

  /** `bounds` rise. */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Float64Array(bounds.length + 1);
  }

  add(measured: number): void {
    let at = 0;
    while (at < this.#bounds.length && measured > (this.#bounds[at] ?? 0)) at++;
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
    this.#sum += measured;
  }

  /** None where nothing was measured. */
  samples(name: string, labels: Labels): Sample[] {
    const samples: Sample[] = [];
    let total = 0;
    for (const [at, bound] of this.#bounds.entries()) {
      total += this.#counts[at] ?? 0;
      samples.push({ metricName: `${name}_bucket`, labels: { ...labels, le: bound }, value: total });
    }
    total += this.#counts[this.#bounds.length] ?? 0;
    if (total === 0) return [];
    samples.push({ metricName: `${name}_bucket`, labels: { ...labels, le: '+Inf' }, value: total });
    samples.push({ metricName: `${name}_sum`, labels, value: this.#sum });
    samples.push({ metricName: `${name}_count`, labels, value: total });
    return samples;
  }
}
