/** Which rows of a month a filter chooses, decided on columns and on the numbers of contexts and metadata. */
import type { LogFilter, RangeField } from '../query.ts';
import { rangeFields } from '../query.ts';
import type { Chunk, ContextRow, Month } from './month.ts';

/** Called between chunks; throws where the query was cancelled. */
export type Checkpoint = () => void;

export interface Selection {
  /** Marks the chosen rows of a chunk with 1; null where it has none. */
  rowsOf(chunk: Chunk): Uint8Array | null;
  contexts: readonly (ContextRow | undefined)[];
}

/** Finds rows that only a look at each of them can choose. */
export interface RowFinder {
  /** The numbers of the rows whose trace has feedback in this range. */
  withFeedback(month: Month, filter: LogFilter): number[];
  /** Unmarks the rows that do not hold the text. */
  keepText(month: Month, chunk: Chunk, marks: Uint8Array, search: string): void;
}

export function select(month: Month, filter: LogFilter, finder: RowFinder): Selection | null {
  const contexts = month.contexts();
  const contextMask = new Uint8Array(contexts.length);
  let some = false;
  for (const [number, context] of contexts.entries()) {
    if (!context || !matchesContext(context, filter)) continue;
    contextMask[number] = 1;
    some = true;
  }
  if (!some) return null;
  const metadataMask =
    filter.metadata && Object.keys(filter.metadata).length > 0 ? month.metadataMask(filter.metadata) : null;
  const wanted = wantedRows(month, filter, finder);
  if (wanted?.length === 0) return null;
  const ranges = rangeFields.flatMap((field) => {
    const range = filter.ranges?.[field];
    return range
      ? [{ field, min: range.min ?? Number.NEGATIVE_INFINITY, max: range.max ?? Number.POSITIVE_INFINITY }]
      : [];
  });
  const { from, to, search } = filter;
  return {
    contexts,
    rowsOf(chunk) {
      const marks = wanted ? marksOf(wanted, chunk) : null;
      if (wanted && !marks) return null;
      const chosen = marks ?? new Uint8Array(chunk.rows).fill(1);
      keepBy(chosen, chunk.column('context'), contextMask);
      keepWithin(chosen, chunk.column('created_at'), from, to);
      if (metadataMask) keepBy(chosen, chunk.column('metadata_set'), metadataMask);
      for (const { field, min, max } of ranges) keepRange(chosen, chunk.column(field satisfies RangeField), min, max);
      if (search && chosen.includes(1)) finder.keepText(month, chunk, chosen, search);
      return chosen;
    },
  };
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

function marksOf(wanted: readonly number[], { first, rows }: Chunk): Uint8Array | null {
  let marks: Uint8Array | null = null;
  for (const n of wanted) {
    if (n < first || n >= first + rows) continue;
    marks ??= new Uint8Array(rows);
    marks[n - first] = 1;
  }
  return marks;
}

function keepBy(marks: Uint8Array, numbers: Float64Array, mask: Uint8Array): void {
  for (let row = 0; row < marks.length; row++) if (mask[numbers[row] ?? 0] !== 1) marks[row] = 0;
}

function keepWithin(marks: Uint8Array, times: Float64Array, from: number, to: number): void {
  for (let row = 0; row < marks.length; row++) {
    const time = times[row] ?? 0;
    if (time < from || time >= to) marks[row] = 0;
  }
}

function keepRange(marks: Uint8Array, values: Float64Array, min: number, max: number): void {
  for (let row = 0; row < marks.length; row++) {
    const value = values[row] ?? 0;
    if (value < min || value > max) marks[row] = 0;
  }
}
