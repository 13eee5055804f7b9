/** Visits what a filter chooses in a month: whole hours by their rollups where these can answer, all other rows by their columns. */
import type { LogFilter } from '../query.ts';
import type { Chunk, Month } from './month.ts';
import { hourMs, type Rollup } from './rollup.ts';
import type { Checkpoint, Selection } from './selection.ts';

export interface Visitor {
  /** The entries of one hour, of which the context mask of the selection chooses. */
  entries(rollup: Rollup, first: number, end: number, hour: number): void;
  rows(chunk: Chunk, rows: Uint32Array): void;
}

export interface Scan {
  month: Month;
  selection: Selection;
  filter: LogFilter;
  /** Rows of one hour that lie on two sides of an edge are visited by themselves. */
  edges: Float64Array | null;
  fromRollups: boolean;
}

export function scan(
  { month, selection, filter, edges, fromRollups }: Scan,
  visit: Visitor,
  checkpoint: Checkpoint,
): void {
  const rollups = fromRollups ? month.rollups() : [];
  const partly = new Set<number>();
  for (const rollup of rollups) {
    checkpoint();
    const { hours } = rollup;
    for (let at = 0; at < hours.length; at += 2) {
      const hour = hours[at] ?? 0;
      if (hour >= filter.to || hour + hourMs <= filter.from) continue;
      if (isWhole(hour, filter, edges))
        visit.entries(rollup, at === 0 ? 0 : (hours[at - 1] ?? 0), hours[at + 1] ?? 0, hour);
      else partly.add(hour);
    }
  }
  const endOfRollups = rollups.at(-1)?.endChunk ?? 0;
  for (const chunk of month.chunks(filter.from, filter.to)) {
    const isRolledUp = chunk.number !== null && chunk.number < endOfRollups;
    if (isRolledUp && !touches(chunk, partly)) continue;
    checkpoint();
    const chosen = selection.rowsOf(chunk);
    const rows = isRolledUp ? ofHours(chosen, chunk, partly) : chosen;
    if (rows.length > 0) visit.rows(chunk, rows);
  }
}

/** True where an hour lies in the range, and in one span of time. */
function isWhole(hour: number, { from, to }: LogFilter, edges: Float64Array | null): boolean {
  if (hour < from || hour + hourMs > to) return false;
  return !edges || hour + hourMs <= (edges[spanOf(edges, hour) + 1] ?? 0);
}

function touches({ firstAt, lastAt }: Chunk, hours: ReadonlySet<number>): boolean {
  for (const hour of hours) if (hour <= lastAt && hour + hourMs > firstAt) return true;
  return false;
}

function ofHours(rows: Uint32Array, chunk: Chunk, hours: ReadonlySet<number>): Uint32Array {
  const times = chunk.column('created_at');
  return rows.filter((row) => hours.has(Math.floor((times[row] ?? 0) / hourMs) * hourMs));
}

/** The number of the span that holds a moment; moments outside belong to the first or the last. */
export function spanOf(edges: Float64Array, time: number): number {
  let low = 0;
  let high = edges.length - 2;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((edges[middle] ?? 0) <= time) low = middle;
    else high = middle - 1;
  }
  return low;
}
