/** Which rows of a month a filter chooses, decided on columns and on the numbers of contexts and metadata. */

import type { LogFilter, RangeField } from '../query.ts';
import { rangeFields } from '../query.ts';
import type { Chunk, ContextRow, Month } from './month.ts';
import { chunkRows } from './schema.ts';

/** Called between chunks; throws where the query was cancelled. */
export type Checkpoint = () => void;

export interface Selection {
  /** The places of the chosen rows in a chunk, rising. The array is good until the next call. */
  rowsOf(chunk: Chunk): Uint32Array;
  contexts: readonly (ContextRow | undefined)[];
  /** By the number of the context: 1 where the filter allows it. */
  contextMask: Uint8Array;
}

/** Finds rows that only a look at each of them can choose. */
export interface RowFinder {
  /** The numbers of the rows whose trace has feedback in this range, rising. */
  withFeedback(month: Month, filter: LogFilter): number[];
  /** Those of the rows that hold the text. */
  withText(month: Month, chunk: Chunk, rows: Uint32Array, search: string): Uint32Array;
}

/** True where time and context alone decide which rows a filter chooses, so that rollups can answer it. */
export const isOfContexts = ({ ranges, traceIds, spanIds, metadata, feedback, search }: LogFilter): boolean =>
  !(traceIds || spanIds || feedback || search) && isEmpty(ranges) && isEmpty(metadata);

const isEmpty = (conditions: object | undefined): boolean => !conditions || Object.keys(conditions).length === 0;

export function select(month: Month, filter: LogFilter, finder: RowFinder): Selection | null {
  const contexts = month.contexts();
  const contextMask = new Uint8Array(contexts.length);
  let allowed = 0;
  let present = 0;
  for (const [number, context] of contexts.entries()) {
    if (!context) continue;
    present += 1;
    if (!matchesContext(context, filter)) continue;
    contextMask[number] = 1;
    allowed += 1;
  }
  if (allowed === 0) return null;
  const metadataMask = isEmpty(filter.metadata) ? null : month.metadataMask(filter.metadata ?? {});
  const wanted = wantedRows(month, filter, finder);
  if (wanted?.length === 0) return null;
  const ranges = rangeFields.flatMap((field) => {
    const range = filter.ranges?.[field];
    return range
      ? [{ field, min: range.min ?? Number.NEGATIVE_INFINITY, max: range.max ?? Number.POSITIVE_INFINITY }]
      : [];
  });
  const { from, to, search } = filter;
  const scratch = new Scratch();
  return {
    contexts,
    contextMask,
    rowsOf(chunk) {
      let rows = wanted ? scratch.within(wanted, chunk) : scratch.every(chunk.rows);
      if (allowed < present) rows = scratch.keepBy(rows, chunk.column('context'), contextMask);
      // Of a range, only what lies before its end belongs to it.
      if (chunk.firstAt < from || chunk.lastAt >= to)
        rows = scratch.keepWithin(rows, chunk.column('created_at'), from, to);
      if (metadataMask) rows = scratch.keepBy(rows, chunk.column('metadata_set'), metadataMask);
      for (const { field, min, max } of ranges) {
        rows = scratch.keepRange(rows, chunk.column(field satisfies RangeField), min, max);
      }
      return search && rows.length > 0 ? finder.withText(month, chunk, rows, search) : rows;
    },
  };
}

/** Narrows lists of rows without making new ones. */
class Scratch {
  #kept = new Uint32Array(chunkRows);
  #every = Uint32Array.from({ length: chunkRows }, (_, row) => row);

  every(rows: number): Uint32Array {
    if (rows > this.#every.length) {
      this.#every = Uint32Array.from({ length: rows }, (_, row) => row);
      this.#kept = new Uint32Array(rows);
    }
    return rows === this.#every.length ? this.#every : this.#every.subarray(0, rows);
  }

  within(wanted: readonly number[], { first, rows }: Chunk): Uint32Array {
    this.every(rows);
    let kept = 0;
    for (let at = firstAtLeast(wanted, first); at < wanted.length; at++) {
      const row = (wanted[at] ?? 0) - first;
      if (row >= rows) break;
      this.#kept[kept++] = row;
    }
    return this.#kept.subarray(0, kept);
  }

  keepBy(rows: Uint32Array, numbers: Float64Array, mask: Uint8Array): Uint32Array {
    const into = this.#kept;
    let kept = 0;
    for (let at = 0; at < rows.length; at++) {
      const row = rows[at] ?? 0;
      if (mask[numbers[row] ?? 0] === 1) into[kept++] = row;
    }
    return into.subarray(0, kept);
  }

  keepWithin(rows: Uint32Array, times: Float64Array, from: number, to: number): Uint32Array {
    const into = this.#kept;
    let kept = 0;
    for (let at = 0; at < rows.length; at++) {
      const row = rows[at] ?? 0;
      const time = times[row] ?? 0;
      if (time >= from && time < to) into[kept++] = row;
    }
    return into.subarray(0, kept);
  }

  keepRange(rows: Uint32Array, values: Float64Array, min: number, max: number): Uint32Array {
    const into = this.#kept;
    let kept = 0;
    for (let at = 0; at < rows.length; at++) {
      const row = rows[at] ?? 0;
      const value = values[row] ?? 0;
      if (value >= min && value <= max) into[kept++] = row;
    }
    return into.subarray(0, kept);
  }
}

/** The place of the first number that is not smaller; the numbers rise. */
function firstAtLeast(numbers: readonly number[], bound: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** What of a filter hangs on the context alone. */
function matchesContext(context: ContextRow, { organisationId, scopes, values, models }: LogFilter): boolean {
  if (context.organisation_id !== organisationId) return false;
  const visible = scopes.some(
    ({ workspaceId, userId }) =>
      (workspaceId === null || context.workspace_id === workspaceId) && (userId === null || context.user_id === userId),
  );
  if (!visible) return false;
  if (
    models &&
    !models.some(({ org, model }) => context.ai_org === org && (model === null || context.ai_model === model))
  ) {
    return false;
  }
  for (const [field, listed] of Object.entries(values ?? {})) {
    const value = context[field as keyof ContextRow];
    if (listed && !listed.includes(value === null || value === undefined ? '' : String(value))) return false;
  }
  return true;
}

/** Where a filter names few rows by themselves, their numbers, rising; null where it names none. */
function wantedRows(month: Month, filter: LogFilter, finder: RowFinder): number[] | null {
  const lists: number[][] = [];
  if (filter.traceIds) lists.push(month.rowsOfTraces(filter.traceIds));
  if (filter.spanIds) lists.push(month.rowsOfSpans(filter.spanIds));
  if (filter.feedback) lists.push(finder.withFeedback(month, filter));
  const [first, ...others] = lists;
  if (!first) return null;
  return others.reduce((kept, list) => {
    const among = new Set(list);
    return kept.filter((n) => among.has(n));
  }, first);
}
