/** Sums over the chosen rows, by columns: each measure is one pass over an array. */

import { type Aggregate, type AggregateQuery, type LogFilter, plainSums } from '../query.ts';
import type { Chunk, ContextRow, Month } from './month.ts';
import { scan, spanOf } from './scan.ts';
import { type Checkpoint, isOfContexts, type RowFinder, type Selection, select } from './selection.ts';
import { type CallOutcome, type ContextFacts, type GroupNumber, Sums } from './sums.ts';

interface MonthPlan extends ContextFacts {
  month: Month;
  selection: Selection;
  /** By the number of the context, where contexts decide the group. */
  groupOfContext: Int32Array | null;
  /** By the number of the metadata. */
  groupOfMetadata: Int32Array | null;
  userOfMetadata: Int32Array | null;
}

export interface FeedbackSums {
  /** The weighted sum and the weight of the feedback on a row's trace, by the row's number. */
  onRows(month: Month, query: AggregateQuery): ReadonlyMap<number, { weighted: number; weight: number }>;
}

/** Numbers for keys, in the order in which they were met. */
class Index<K> {
  readonly keys: K[] = [];
  readonly #numbers = new Map<K, number>();

  of(key: K): number {
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    this.#numbers.set(key, this.keys.length);
    return this.keys.push(key) - 1;
  }
}

export function aggregate(
  months: readonly Month[],
  query: AggregateQuery,
  finder: RowFinder & FeedbackSums,
  checkpoint: Checkpoint,
): Aggregate[] {
  const { filter, group, measures = [] } = query;
  const groups = new Index<string | number>();
  const users = new Index<string>();
  const outcomes = new Index<string>();
  const edges = group.by === 'time' ? Float64Array.from(group.edges) : null;
  if (group.by === 'time') for (const edge of group.edges.slice(0, -1)) groups.of(edge);
  if (group.by === 'nothing') groups.of('');
  const plans: MonthPlan[] = [];
  for (const month of months) {
    const selection = select(month, filter, finder);
    if (!selection) continue;
    const { contexts } = selection;
    plans.push({
      month,
      selection,
      groupOfContext:
        group.by === 'field' ? numbered(contexts, (context) => groupOf(groups, context?.[group.field])) : null,
      outcomeOfContext: numbered(contexts, (context) =>
        context ? outcomes.of(JSON.stringify(outcomeOf(context))) : 0,
      ),
      cacheOfContext: contexts.some((context) => cacheOf(context) > 0) ? numbered(contexts, cacheOf) : null,
      groupOfMetadata:
        group.by === 'metadata' ? numbered(month.metadataValues(group.key), (value) => groupOf(groups, value)) : null,
      userOfMetadata: measures.includes('users')
        ? numbered(month.metadataValues('_user'), (value) => (value === null ? -1 : users.of(value)))
        : null,
    });
    checkpoint();
  }
  const sums = new Sums(groups.keys.length, outcomes.keys.length, users.keys.length, new Set(query.sums ?? plainSums));
  const latencies = measures.includes('latencies');
  const fromRollups = isOfContexts(filter) && group.by !== 'metadata' && !measures.includes('feedback');
  for (const plan of plans) {
    const feedback = measures.includes('feedback') ? finder.onRows(plan.month, query) : null;
    scan(
      { ...plan, filter, edges, fromRollups },
      {
        entries(rollup, first, end, hour) {
          const groups = groupEntries(
            rollup.count('context').subarray(first, end),
            plan,
            edges ? spanOf(edges, hour) : 0,
          );
          sums.addEntries(first, groups, rollup, plan);
          if (latencies) sums.addLatenciesOfEntries(first, groups, rollup);
          if (plan.userOfMetadata) sums.addUsersOfEntries(first, groups, rollup, plan.userOfMetadata);
        },
        rows(chunk, rows) {
          const groups = edges ? byTime(rows, chunk, edges) : byNumber(rows, chunk, plan);
          sums.addRows(rows, groups, chunk, plan);
          if (latencies) sums.addLatencies(rows, groups, chunk.column('response_time'));
          if (plan.userOfMetadata) sums.addUsers(rows, groups, chunk.column('metadata_set'), plan.userOfMetadata);
          if (feedback) sums.addFeedback(rows, groups, chunk, feedback);
        },
      },
      checkpoint,
    );
  }
  return groups.keys.flatMap((key, number) => {
    const row = sums.of(number, key, outcomes.keys);
    // A span of time without calls is a fact; a value without calls is not asked for.
    return row.requests > 0 || group.by === 'time' || group.by === 'nothing' ? [row] : [];
  });
}

/** How many rows a filter chooses. */
export function countRows(
  months: readonly Month[],
  filter: LogFilter,
  finder: RowFinder & FeedbackSums,
  checkpoint: Checkpoint,
): number {
  const [all] = aggregate(months, { filter, group: { by: 'nothing' }, sums: [] }, finder, checkpoint);
  return all?.requests ?? 0;
}

const numbered = <T>(list: readonly T[], numberOf: (item: T) => number): Int32Array => Int32Array.from(list, numberOf);

const groupOf = (groups: Index<string | number>, value: unknown): GroupNumber =>
  typeof value === 'number' || (typeof value === 'string' && value !== '') ? groups.of(value) : -1;

const cacheOf = (context: ContextRow | undefined): number =>
  context?.cache_status === 'HIT' ? 1 : context?.cache_status === 'SEMANTIC HIT' ? 2 : 0;

const outcomeOf = (context: ContextRow): CallOutcome => ({
  status: context.response_status_code,
  success: context.is_success,
  cacheStatus: context.cache_status,
  retry: context.retry_success_count,
  fallback: context.mode === 'fallback' && context.last_used_option_index > 0,
  costKnown: context.cost_known,
});

function groupEntries(contexts: Uint32Array, { selection, groupOfContext }: MonthPlan, span: number): Int32Array {
  const { contextMask } = selection;
  const groups = new Int32Array(contexts.length).fill(-1);
  for (let at = 0; at < contexts.length; at++) {
    const context = contexts[at] ?? 0;
    if (contextMask[context] === 1) groups[at] = groupOfContext ? (groupOfContext[context] ?? -1) : span;
  }
  return groups;
}

function byNumber(rows: Uint32Array, chunk: Chunk, { groupOfContext, groupOfMetadata }: MonthPlan): Int32Array {
  const groups = new Int32Array(rows.length);
  const table = groupOfContext ?? groupOfMetadata;
  if (!table) return groups;
  const numbers = chunk.column(groupOfContext ? 'context' : 'metadata_set');
  for (let at = 0; at < rows.length; at++) groups[at] = table[numbers[rows[at] ?? 0] ?? 0] ?? -1;
  return groups;
}

/** Rows come nearly in the order of time, so that the span of the last one is mostly that of the next. */
function byTime(rows: Uint32Array, chunk: Chunk, edges: Float64Array): Int32Array {
  const groups = new Int32Array(rows.length);
  const last = edges.length - 2;
  let span = spanOf(edges, chunk.firstAt);
  if (span === last || chunk.lastAt < (edges[span + 1] ?? 0)) return groups.fill(span);
  const times = chunk.column('created_at');
  for (let at = 0; at < rows.length; at++) {
    const time = times[rows[at] ?? 0] ?? 0;
    while (span < last && time >= (edges[span + 1] ?? 0)) span++;
    while (span > 0 && time < (edges[span] ?? 0)) span--;
    groups[at] = span;
  }
  return groups;
}
