/** The sums of an aggregate, each in an array by the number of the group. */
import { exactCents } from '../cents.ts';
import { bucketOf } from '../latency.ts';
import type { Aggregate, OutcomeCount } from '../query.ts';
import type { Chunk } from './month.ts';

/** A group that a row belongs to; -1: to none. */
export type GroupNumber = number;
export type CallOutcome = Omit<OutcomeCount, 'requests' | 'latency'>;

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

  constructor(groups: number, outcomes: number, users: number) {
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

  add(groupOfRow: Int32Array, outcomeOfContext: Int32Array, chunk: Chunk, latencies: boolean): void {
    this.#count(groupOfRow, outcomeOfContext, chunk);
    this.#cost.add(groupOfRow, chunk.column('cost'));
    sum(this.#reqUnits, groupOfRow, chunk.column('req_units'));
    sum(this.#resUnits, groupOfRow, chunk.column('res_units'));
    sum(this.#totalUnits, groupOfRow, chunk.column('total_units'));
    this.#see(groupOfRow, chunk.column('created_at'));
    if (latencies) this.#measure(groupOfRow, chunk.column('response_time'));
  }

  #count(groupOfRow: Int32Array, outcomeOfContext: Int32Array, chunk: Chunk): void {
    const contexts = chunk.column('context');
    const times = chunk.column('response_time');
    const counts = this.#counts;
    const latency = this.#latency;
    for (let row = 0; row < groupOfRow.length; row++) {
      const group = groupOfRow[row] ?? -1;
      if (group < 0) continue;
      const at = group * this.#outcomes + (outcomeOfContext[contexts[row] ?? 0] ?? 0);
      counts[at] = (counts[at] ?? 0) + 1;
      latency[at] = (latency[at] ?? 0) + (times[row] ?? 0);
    }
  }

  #see(groupOfRow: Int32Array, times: Float64Array): void {
    const first = this.#firstSeen;
    const last = this.#lastSeen;
    for (let row = 0; row < groupOfRow.length; row++) {
      const group = groupOfRow[row] ?? -1;
      if (group < 0) continue;
      const time = times[row] ?? 0;
      if (time < (first[group] ?? 0)) first[group] = time;
      if (time > (last[group] ?? 0)) last[group] = time;
    }
  }

  /** Blocks of buckets are made as they are needed: most groups use a few. */
  #measure(groupOfRow: Int32Array, times: Float64Array): void {
    for (let row = 0; row < groupOfRow.length; row++) {
      const group = groupOfRow[row] ?? -1;
      if (group < 0) continue;
      const bucket = bucketOf(times[row] ?? 0);
      const number = (bucket / blockOfBuckets) | 0;
      let histogram = this.#histograms[group];
      if (histogram === undefined) {
        histogram = [];
        this.#histograms[group] = histogram;
      }
      let block = histogram[number];
      if (block === undefined) {
        block = new Uint32Array(blockOfBuckets);
        histogram[number] = block;
      }
      const at = bucket - number * blockOfBuckets;
      block[at] = (block[at] ?? 0) + 1;
    }
  }

  addSaved(groupOfRow: Int32Array, chunk: Chunk, cacheOfContext: Int32Array): void {
    const contexts = chunk.column('context');
    const places = new Int32Array(groupOfRow.length).fill(-1);
    for (let row = 0; row < groupOfRow.length; row++) {
      const group = groupOfRow[row] ?? -1;
      const cache = group < 0 ? 0 : (cacheOfContext[contexts[row] ?? 0] ?? 0);
      if (cache > 0) places[row] = 2 * group + cache - 1;
    }
    this.#saved.add(places, chunk.column('saved_cost'));
  }

  addUsers(groupOfRow: Int32Array, sets: Float64Array, userOfMetadata: Int32Array): void {
    for (let row = 0; row < groupOfRow.length; row++) {
      const group = groupOfRow[row] ?? -1;
      const user = group < 0 ? -1 : (userOfMetadata[sets[row] ?? 0] ?? -1);
      if (user < 0) continue;
      const at = group * this.#userBytes + (user >> 3);
      this.#users[at] = (this.#users[at] ?? 0) | (1 << (user & 7));
    }
  }

  addFeedback(
    groupOfRow: Int32Array,
    { first, rows }: Chunk,
    feedback: ReadonlyMap<number, { weighted: number; weight: number }>,
  ): void {
    for (const [n, { weighted, weight }] of feedback) {
      const group = n < first || n >= first + rows ? -1 : (groupOfRow[n - first] ?? -1);
      if (group < 0) continue;
      const sums = this.#feedback;
      sums[group * 3] = (sums[group * 3] ?? 0) + 1;
      sums[group * 3 + 1] = (sums[group * 3 + 1] ?? 0) + weighted;
      sums[group * 3 + 2] = (sums[group * 3 + 2] ?? 0) + weight;
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
      cost: this.#cost.of(group),
      reqUnits: this.#reqUnits[group] ?? 0,
      resUnits: this.#resUnits[group] ?? 0,
      totalUnits: this.#totalUnits[group] ?? 0,
      savedBySimpleCache: this.#saved.of(2 * group),
      savedBySemanticCache: this.#saved.of(2 * group + 1),
      firstSeen: requests === 0 ? 0 : (this.#firstSeen[group] ?? 0),
      lastSeen: requests === 0 ? 0 : (this.#lastSeen[group] ?? 0),
      outcomes: ended,
      latencies: this.#latenciesOf(group),
      users: this.#usersOf(group),
      feedback: {
        requests: this.#feedback[group * 3] ?? 0,
        weighted: this.#feedback[group * 3 + 1] ?? 0,
        weight: this.#feedback[group * 3 + 2] ?? 0,
      },
    };
  }

  #latenciesOf(group: GroupNumber): Map<number, number> {
    const counts = new Map<number, number>();
    for (const [number, block] of this.#histograms[group]?.entries() ?? []) {
      block?.forEach((count, at) => {
        if (count > 0) counts.set(number * blockOfBuckets + at, count);
      });
    }
    return counts;
  }

  #usersOf(group: GroupNumber): number {
    let count = 0;
    for (const byte of this.#users.subarray(group * this.#userBytes, (group + 1) * this.#userBytes)) {
      for (let bits = byte; bits !== 0; bits &= bits - 1) count += 1;
    }
    return count;
  }
}

function sum(sums: Float64Array, groupOfRow: Int32Array, values: Float64Array): void {
  for (let row = 0; row < groupOfRow.length; row++) {
    const group = groupOfRow[row] ?? -1;
    if (group >= 0) sums[group] = (sums[group] ?? 0) + (values[row] ?? 0);
  }
}

/** Sums of money: what a float cannot hold of a sum is kept beside it (Neumaier), so that the order of rows does not matter. */
class ExactSums {
  readonly #sums: Float64Array;
  readonly #rests: Float64Array;

  constructor(groups: number) {
    this.#sums = new Float64Array(groups);
    this.#rests = new Float64Array(groups);
  }

  add(groupOfRow: Int32Array, values: Float64Array): void {
    const sums = this.#sums;
    const rests = this.#rests;
    for (let row = 0; row < groupOfRow.length; row++) {
      const group = groupOfRow[row] ?? -1;
      if (group < 0) continue;
      const value = values[row] ?? 0;
      const before = sums[group] ?? 0;
      const after = before + value;
      const lost = Math.abs(before) >= Math.abs(value) ? before - after + value : value - after + before;
      sums[group] = after;
      rests[group] = (rests[group] ?? 0) + lost;
    }
  }

  of(group: GroupNumber): number {
    return exactCents((this.#sums[group] ?? 0) + (this.#rests[group] ?? 0));
  }
}
