/** Rollups: the sums of a block of rows by hour and context, with histograms of response times that can be merged. */
import { bucketOf } from '../latency.ts';
import { ExactSum } from './exact-sum.ts';
import { type Columns, scanColumns } from './schema.ts';

export const hourMs = 3_600_000;

/** Chunks of rows that one rollup covers. Rows of newer chunks are added up one by one. */
export const chunksOfRollup = 16;

/** The parts of a rollup, each an array of its own: a query reads those that it needs. */
export const rollupParts = ['hours', 'counts', 'sums', 'latencies', 'sets'] as const;
export type RollupPart = (typeof rollupParts)[number];

/** The key of a part's array among all parts of a file. */
export const partKey = (part: RollupPart, block: number): number => rollupParts.indexOf(part) * 2 ** 32 + block;

/** The columns of `counts`; the last two say where the entry's own latencies and metadata end. */
export const countColumns = ['context', 'requests', 'latenciesEnd', 'setsEnd'] as const;
/** The columns of `sums`. What a float cannot hold of a sum of money stands in the column after it. */
export const sumColumns = [
  'cost',
  'costRest',
  'saved',
  'savedRest',
  'reqUnits',
  'resUnits',
  'totalUnits',
  'latency',
  'firstSeen',
  'lastSeen',
] as const;

const bitsOfCount = 18;
const mostCounted = 2 ** bitsOfCount - 1;

export interface RollupArrays {
  /** For each hour its start, and where its entries end. Entries stand by hour and context. */
  hours: Float64Array;
  /** Column after column. */
  counts: Uint32Array;
  sums: Float64Array;
  /** Bucket and count in one number. A count that is too large for it stands in several. */
  latencies: Uint32Array;
  /** The numbers of the metadata that an entry's rows have, each once. */
  sets: Uint32Array;
}

/** A stored rollup as queries read it. */
export interface Rollup {
  firstChunk: number;
  /** The chunk after the last one that it covers. */
  endChunk: number;
  hours: Float64Array;
  entries: number;
  count(column: (typeof countColumns)[number]): Uint32Array;
  sum(column: (typeof sumColumns)[number]): Float64Array;
  latencies(): Uint32Array;
  sets(): Uint32Array;
}

export const bucketIn = (packed: number): number => packed >>> bitsOfCount;
export const countIn = (packed: number): number => packed & mostCounted;

/** Adds up rows that stand one after the other, given as chunks. */
export function rollUp(chunks: readonly Columns[]): RollupArrays {
  const all = joined(chunks);
  const order = byHourAndContext(all);
  const hours: number[] = [];
  const entries: Entry[] = [];
  let entry: Entry | null = null;
  for (const row of order) {
    const hour = Math.floor((all.created_at[row] ?? 0) / hourMs) * hourMs;
    const context = all.context[row] ?? 0;
    if (hours.at(-2) !== hour) {
      hours.push(hour, 0);
      entry = null;
    }
    if (entry?.context !== context) {
      entry = new Entry(context);
      entries.push(entry);
    }
    entry.add(all, row);
    hours[hours.length - 1] = entries.length;
  }
  return { hours: Float64Array.from(hours), ...packed(entries) };
}

class Entry {
  requests = 0;
  readonly cost = new ExactSum();
  readonly saved = new ExactSum();
  reqUnits = 0;
  resUnits = 0;
  totalUnits = 0;
  latency = 0;
  firstSeen = Number.POSITIVE_INFINITY;
  lastSeen = Number.NEGATIVE_INFINITY;
  readonly latencies = new Map<number, number>();
  readonly sets = new Set<number>();

  constructor(readonly context: number) {}

  add(columns: Columns, row: number): void {
    const time = columns.created_at[row] ?? 0;
    const latency = columns.response_time[row] ?? 0;
    const bucket = bucketOf(latency);
    this.requests += 1;
    this.cost.add(columns.cost[row] ?? 0);
    this.saved.add(columns.saved_cost[row] ?? 0);
    this.reqUnits += columns.req_units[row] ?? 0;
    this.resUnits += columns.res_units[row] ?? 0;
    this.totalUnits += columns.total_units[row] ?? 0;
    this.latency += latency;
    this.firstSeen = Math.min(this.firstSeen, time);
    this.lastSeen = Math.max(this.lastSeen, time);
    this.latencies.set(bucket, (this.latencies.get(bucket) ?? 0) + 1);
    this.sets.add(columns.metadata_set[row] ?? 0);
  }
}

function packed(entries: readonly Entry[]): Omit<RollupArrays, 'hours'> {
  const counts = new Uint32Array(countColumns.length * entries.length);
  const sums = new Float64Array(sumColumns.length * entries.length);
  const latencies: number[] = [];
  const sets: number[] = [];
  for (const [at, entry] of entries.entries()) {
    for (const [bucket, count] of entry.latencies) {
      for (let left = count; left > 0; left -= mostCounted) {
        latencies.push(bucket * 2 ** bitsOfCount + Math.min(left, mostCounted));
      }
    }
    for (const set of entry.sets) sets.push(set);
    const counted = [entry.context, entry.requests, latencies.length, sets.length];
    for (const [column, value] of counted.entries()) counts[column * entries.length + at] = value;
    const { cost, saved, reqUnits, resUnits, totalUnits, latency, firstSeen, lastSeen } = entry;
    const summed = [
      cost.sum,
      cost.rest,
      saved.sum,
      saved.rest,
      reqUnits,
      resUnits,
      totalUnits,
      latency,
      firstSeen,
      lastSeen,
    ];
    for (const [column, value] of summed.entries()) sums[column * entries.length + at] = value;
  }
  return { counts, sums, latencies: Uint32Array.from(latencies), sets: Uint32Array.from(sets) };
}

function joined(chunks: readonly Columns[]): Columns {
  const rows = chunks.reduce((total, { context }) => total + context.length, 0);
  const all = {} as Columns;
  for (const name of scanColumns) {
    const column = new Float64Array(rows);
    let at = 0;
    for (const chunk of chunks) {
      column.set(chunk[name], at);
      at += chunk.context.length;
    }
    all[name] = column;
  }
  return all;
}

/** The numbers of the rows. One sort of plain numbers, each of which holds the hour, the context and the row. */
function byHourAndContext({ created_at, context }: Columns): Uint32Array {
  const rows = context.length;
  let firstHour = Number.POSITIVE_INFINITY;
  let contexts = 0;
  for (let row = 0; row < rows; row++) {
    firstHour = Math.min(firstHour, Math.floor((created_at[row] ?? 0) / hourMs));
    contexts = Math.max(contexts, (context[row] ?? 0) + 1);
  }
  const keys = new Float64Array(rows);
  for (let row = 0; row < rows; row++) {
    const hour = Math.floor((created_at[row] ?? 0) / hourMs) - firstHour;
    keys[row] = (hour * contexts + (context[row] ?? 0)) * rows + row;
  }
  return Uint32Array.from(keys.sort(), (key) => key % rows);
}
