/** The sums of an aggregate, each in an array by the number of the group. */
import { exactCents } from '../cents.ts';
import { bucketOf, packed } from '../latency.ts';
import type { Aggregate, OutcomeCount, PlainSum } from '../query.ts';
import { ExactSums } from './exact-sum.ts';
import type { Chunk } from './month.ts';
import { bucketIn, countIn, type Rollup } from './rollup.ts';

/** A group that a row belongs to; -1: to none. */
export type GroupNumber = number;
export type CallOutcome = Omit<OutcomeCount, 'requests' | 'latency'>;

/** What the number of a context says about its rows. */
export interface ContextFacts {
  outcomeOfContext: Int32Array;
  /** Which cache answered: 0 none, 1 the simple one, 2 the semantic one. Null where none did. */
  cacheOfContext: Int32Array | null;
}

const blockOfBuckets = 512;

/** The sums of all groups, each in an array by the group's number. */
export class Sums {
  readonly #outcomes: number;
  readonly #userBytes: number;
  readonly #cost: ExactSums;
  /** By group and cache. */
  readonly #saved: ExactSums;
  readonly #reqUnits: Float64Array;
  readonly #resUnits: Float64Array;
  readonly #totalUnits: Float64Array;
  readonly #firstSeen: Float64Array;
  readonly #lastSeen: Float64Array;
  /** By group and outcome. */
  readonly #counts: Float64Array;
  readonly #latency: Float64Array;
  readonly #histograms: Uint32Array[][] = [];
  readonly #users: Uint8Array;
  readonly #feedback: Float64Array;

  constructor(
    groups: number,
    outcomes: number,
    users: number,
    readonly wanted: ReadonlySet<PlainSum>,
  ) {
    this.#outcomes = outcomes;
    this.#userBytes = Math.ceil(users / 8);
    this.#cost = new ExactSums(groups);
    this.#saved = new ExactSums(2 * groups);
    this.#reqUnits = new Float64Array(groups);
    this.#resUnits = new Float64Array(groups);
    this.#totalUnits = new Float64Array(groups);
    this.#firstSeen = new Float64Array(groups).fill(Number.POSITIVE_INFINITY);
    this.#lastSeen = new Float64Array(groups).fill(Number.NEGATIVE_INFINITY);
    this.#counts = new Float64Array(groups * outcomes);
    this.#latency = new Float64Array(groups * outcomes);
    this.#users = new Uint8Array(groups * this.#userBytes);
    this.#feedback = new Float64Array(groups * 3);
  }

  /** Adds rows of a chunk, given with the group of each. */
  addRows(rows: Uint32Array, groups: Int32Array, chunk: Chunk, facts: ContextFacts): void {
    const { wanted } = this;
    const latencies = wanted.has('latency') ? chunk.column('response_time') : null;
    this.#countRows(rows, groups, chunk.column('context'), facts.outcomeOfContext, latencies);
    if (wanted.has('cost')) this.#cost.addRows(rows, groups, chunk.column('cost'));
    if (wanted.has('units')) {
      sumRows(this.#reqUnits, rows, groups, chunk.column('req_units'));
      sumRows(this.#resUnits, rows, groups, chunk.column('res_units'));
      sumRows(this.#totalUnits, rows, groups, chunk.column('total_units'));
    }
    if (wanted.has('seen')) {
      const times = chunk.column('created_at');
      for (let at = 0; at < rows.length; at++) this.#see(groups[at] ?? -1, times[rows[at] ?? 0] ?? 0);
    }
    if (wanted.has('saved') && facts.cacheOfContext) {
      const contexts = chunk.column('context');
      const places = placesOfSavings(groups, facts.cacheOfContext, (at) => contexts[rows[at] ?? 0] ?? 0);
      this.#saved.addRows(rows, places, chunk.column('saved_cost'));
    }
  }

  #countRows(
    rows: Uint32Array,
    groups: Int32Array,
    contexts: Float64Array,
    outcomeOfContext: Int32Array,
    latencies: Float64Array | null,
  ): void {
    const counts = this.#counts;
    const latency = this.#latency;
    for (let at = 0; at < rows.length; at++) {
      const group = groups[at] ?? -1;
      if (group < 0) continue;
      const row = rows[at] ?? 0;
      const place = group * this.#outcomes + (outcomeOfContext[contexts[row] ?? 0] ?? 0);
      counts[place] = (counts[place] ?? 0) + 1;
      if (latencies) latency[place] = (latency[place] ?? 0) + (latencies[row] ?? 0);
    }
  }

  /** Adds entries of a rollup from a first one on, given with the group of each. */
  addEntries(first: number, groups: Int32Array, rollup: Rollup, facts: ContextFacts): void {
    const { wanted } = this;
    this.#countEntries(first, groups, rollup, facts.outcomeOfContext);
    if (wanted.has('cost')) this.#cost.addEntries(first, groups, rollup.sum('cost'), rollup.sum('costRest'));
    if (wanted.has('units')) {
      sumEntries(this.#reqUnits, first, groups, rollup.sum('reqUnits'));
      sumEntries(this.#resUnits, first, groups, rollup.sum('resUnits'));
      sumEntries(this.#totalUnits, first, groups, rollup.sum('totalUnits'));
    }
    if (wanted.has('seen')) {
      const firstSeen = rollup.sum('firstSeen');
      const lastSeen = rollup.sum('lastSeen');
      for (let at = 0; at < groups.length; at++) {
        this.#see(groups[at] ?? -1, firstSeen[first + at] ?? 0);
        this.#see(groups[at] ?? -1, lastSeen[first + at] ?? 0);
      }
    }
    if (wanted.has('saved') && facts.cacheOfContext) {
      const contexts = rollup.count('context');
      const places = placesOfSavings(groups, facts.cacheOfContext, (at) => contexts[first + at] ?? 0);
      this.#saved.addEntries(first, places, rollup.sum('saved'), rollup.sum('savedRest'));
    }
  }

  #countEntries(first: number, groups: Int32Array, rollup: Rollup, outcomeOfContext: Int32Array): void {
    const contexts = rollup.count('context');
    const requests = rollup.count('requests');
    const latencies = this.wanted.has('latency') ? rollup.sum('latency') : null;
    const counts = this.#counts;
    const latency = this.#latency;
    for (let at = 0; at < groups.length; at++) {
      const group = groups[at] ?? -1;
      if (group < 0) continue;
      const entry = first + at;
      const place = group * this.#outcomes + (outcomeOfContext[contexts[entry] ?? 0] ?? 0);
      counts[place] = (counts[place] ?? 0) + (requests[entry] ?? 0);
      if (latencies) latency[place] = (latency[place] ?? 0) + (latencies[entry] ?? 0);
    }
  }

  #see(group: GroupNumber, time: number): void {
    if (group < 0) return;
    if (time < (this.#firstSeen[group] ?? 0)) this.#firstSeen[group] = time;
    if (time > (this.#lastSeen[group] ?? 0)) this.#lastSeen[group] = time;
  }

  addLatencies(rows: Uint32Array, groups: Int32Array, times: Float64Array): void {
    for (let at = 0; at < rows.length; at++) {
      const group = groups[at] ?? -1;
      if (group >= 0) count(this.#histogramOf(group), bucketOf(times[rows[at] ?? 0] ?? 0), 1);
    }
  }

  addLatenciesOfEntries(first: number, groups: Int32Array, rollup: Rollup): void {
    const ends = rollup.count('latenciesEnd');
    const packed = rollup.latencies();
    for (let at = 0; at < groups.length; at++) {
      const group = groups[at] ?? -1;
      if (group < 0) continue;
      const histogram = this.#histogramOf(group);
      const entry = first + at;
      const end = ends[entry] ?? 0;
      for (let place = entry === 0 ? 0 : (ends[entry - 1] ?? 0); place < end; place++) {
        const both = packed[place] ?? 0;
        count(histogram, bucketIn(both), countIn(both));
      }
    }
  }

  #histogramOf(group: GroupNumber): Uint32Array[] {
    const known = this.#histograms[group];
    if (known) return known;
    const made: Uint32Array[] = [];
    this.#histograms[group] = made;
    return made;
  }

  addUsers(rows: Uint32Array, groups: Int32Array, sets: Float64Array, userOfMetadata: Int32Array): void {
    for (let at = 0; at < rows.length; at++) {
      const group = groups[at] ?? -1;
      if (group >= 0) this.#addUser(group, userOfMetadata[sets[rows[at] ?? 0] ?? 0] ?? -1);
    }
  }

  addUsersOfEntries(first: number, groups: Int32Array, rollup: Rollup, userOfMetadata: Int32Array): void {
    const ends = rollup.count('setsEnd');
    const sets = rollup.sets();
    for (let at = 0; at < groups.length; at++) {
      const group = groups[at] ?? -1;
      if (group < 0) continue;
      const entry = first + at;
      const end = ends[entry] ?? 0;
      for (let place = entry === 0 ? 0 : (ends[entry - 1] ?? 0); place < end; place++) {
        this.#addUser(group, userOfMetadata[sets[place] ?? 0] ?? -1);
      }
    }
  }

  #addUser(group: GroupNumber, user: number): void {
    if (user < 0) return;
    const at = group * this.#userBytes + (user >> 3);
    this.#users[at] = (this.#users[at] ?? 0) | (1 << (user & 7));
  }

  addFeedback(
    rows: Uint32Array,
    groups: Int32Array,
    { first }: Chunk,
    feedback: ReadonlyMap<number, { weighted: number; weight: number }>,
  ): void {
    if (feedback.size === 0) return;
    for (let at = 0; at < rows.length; at++) {
      const group = groups[at] ?? -1;
      const given = group < 0 ? undefined : feedback.get(first + (rows[at] ?? 0));
      if (!given) continue;
      const sums = this.#feedback;
      sums[group * 3] = (sums[group * 3] ?? 0) + 1;
      sums[group * 3 + 1] = (sums[group * 3 + 1] ?? 0) + given.weighted;
      sums[group * 3 + 2] = (sums[group * 3 + 2] ?? 0) + given.weight;
    }
  }

  of(group: GroupNumber, key: string | number, outcomes: readonly string[]): Aggregate {
    const ended = outcomes.flatMap((outcome, number): OutcomeCount[] => {
      const at = group * this.#outcomes + number;
      const requests = this.#counts[at] ?? 0;
      if (requests === 0) return [];
      return [{ ...(JSON.parse(outcome) as CallOutcome), requests, latency: this.#latency[at] ?? 0 }];
    });
    const requests = ended.reduce((total, outcome) => total + outcome.requests, 0);
    return {
      key,
      requests,
      cost: exactCents(this.#cost.of(group)),
      reqUnits: this.#reqUnits[group] ?? 0,
      resUnits: this.#resUnits[group] ?? 0,
      totalUnits: this.#totalUnits[group] ?? 0,
      savedBySimpleCache: exactCents(this.#saved.of(2 * group)),
      savedBySemanticCache: exactCents(this.#saved.of(2 * group + 1)),
      firstSeen: this.#isSeen(requests) ? (this.#firstSeen[group] ?? 0) : 0,
      lastSeen: this.#isSeen(requests) ? (this.#lastSeen[group] ?? 0) : 0,
      outcomes: ended,
      latencies: packed(this.#histograms[group] ?? [], blockOfBuckets),
      users: this.#usersOf(group),
      feedback: {
        requests: this.#feedback[group * 3] ?? 0,
        weighted: this.#feedback[group * 3 + 1] ?? 0,
        weight: this.#feedback[group * 3 + 2] ?? 0,
      },
    };
  }

  #isSeen(requests: number): boolean {
    return requests > 0 && this.wanted.has('seen');
  }

  #usersOf(group: GroupNumber): number {
    let count = 0;
    for (const byte of this.#users.subarray(group * this.#userBytes, (group + 1) * this.#userBytes)) {
      for (let bits = byte; bits !== 0; bits &= bits - 1) count += 1;
    }
    return count;
  }
}

/** Blocks of buckets are made as they are needed: most groups use a few. */
function count(histogram: Uint32Array[], bucket: number, times: number): void {
  const number = (bucket / blockOfBuckets) | 0;
  let block = histogram[number];
  if (block === undefined) {
    block = new Uint32Array(blockOfBuckets);
    histogram[number] = block;
  }
  const at = bucket - number * blockOfBuckets;
  block[at] = (block[at] ?? 0) + times;
}

/** Savings are summed by group and cache. */
function placesOfSavings(
  groups: Int32Array,
  cacheOfContext: Int32Array,
  contextAt: (at: number) => number,
): Int32Array {
  return groups.map((group, at) => {
    const cache = group < 0 ? 0 : (cacheOfContext[contextAt(at)] ?? 0);
    return cache > 0 ? 2 * group + cache - 1 : -1;
  });
}

function sumRows(sums: Float64Array, rows: Uint32Array, groups: Int32Array, values: Float64Array): void {
  for (let at = 0; at < rows.length; at++) {
    const group = groups[at] ?? -1;
    if (group >= 0) sums[group] = (sums[group] ?? 0) + (values[rows[at] ?? 0] ?? 0);
  }
}

function sumEntries(sums: Float64Array, first: number, groups: Int32Array, values: Float64Array): void {
  for (let at = 0; at < groups.length; at++) {
    const group = groups[at] ?? -1;
    if (group >= 0) sums[group] = (sums[group] ?? 0) + (values[first + at] ?? 0);
  }
}
