/** Sums over the chosen rows, by columns: each measure is one pass over an array. */
import type { Aggregate, AggregateQuery, GroupBy } from '../query.ts';
import type { Chunk, ContextRow, Month } from './month.ts';
import { type Checkpoint, type RowFinder, type Selection, select } from './selection.ts';
import { type CallOutcome, type GroupNumber, Sums } from './sums.ts';

interface MonthPlan {
  month: Month;
  selection: Selection;
  /** By the number of the context: its group (where contexts decide), and how calls of it ended. */
  groupOfContext: Int32Array | null;
  outcomeOfContext: Int32Array;
  /** Which cache answered calls of a context: 0 none, 1 the simple one, 2 the semantic one. Null where none did. */
  cacheOfContext: Int32Array | null;
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
  const sums = new Sums(groups.keys.length, outcomes.keys.length, users.keys.length);
  for (const plan of plans) {
    const feedback = measures.includes('feedback') ? finder.onRows(plan.month, query) : null;
    for (const chunk of plan.month.chunks(filter.from, filter.to)) {
      checkpoint();
      const marks = plan.selection.rowsOf(chunk);
      if (!marks) continue;
      const groupOfRow = groupRows(plan, chunk, marks, edges, group);
      sums.add(groupOfRow, plan.outcomeOfContext, chunk, measures.includes('latencies'));
      if (plan.cacheOfContext) sums.addSaved(groupOfRow, chunk, plan.cacheOfContext);
      if (plan.userOfMetadata) sums.addUsers(groupOfRow, chunk.column('metadata_set'), plan.userOfMetadata);
      if (feedback) sums.addFeedback(groupOfRow, chunk, feedback);
    }
  }
  return groups.keys.flatMap((key, number) => {
    const row = sums.of(number, key, outcomes.keys);
    // A span of time without calls is a fact; a value without calls is not asked for.
    return row.requests > 0 || group.by === 'time' || group.by === 'nothing' ? [row] : [];
  });
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

function groupRows(
  plan: MonthPlan,
  chunk: Chunk,
  marks: Uint8Array,
  edges: Float64Array | null,
  group: GroupBy,
): Int32Array {
  const groupOfRow = new Int32Array(chunk.rows).fill(-1);
  if (edges) {
    byTime(groupOfRow, marks, chunk.column('created_at'), edges);
    return groupOfRow;
  }
  const table = plan.groupOfContext ?? plan.groupOfMetadata;
  const numbers = chunk.column(group.by === 'metadata' ? 'metadata_set' : 'context');
  for (let row = 0; row < marks.length; row++) {
    if (marks[row] === 1) groupOfRow[row] = table ? (table[numbers[row] ?? 0] ?? -1) : 0;
  }
  return groupOfRow;
}

/** Rows come nearly in the order of time, so that the span of the last one is mostly that of the next. */
function byTime(groupOfRow: Int32Array, marks: Uint8Array, times: Float64Array, edges: Float64Array): void {
  const last = edges.length - 2;
  let span = 0;
  for (let row = 0; row < marks.length; row++) {
    if (marks[row] !== 1) continue;
    const time = times[row] ?? 0;
    while (span < last && time >= (edges[span + 1] ?? 0)) span++;
    while (span > 0 && time < (edges[span] ?? 0)) span--;
    groupOfRow[row] = span;
  }
}
