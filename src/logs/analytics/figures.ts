/** The figures that graphs and groups show, from what the log store counted. */

import { exactCents } from '../cents.ts';
import { mergeLatencies, percentiles } from '../latency.ts';
import type { Aggregate, OutcomeCount } from '../query.ts';

const sum = <T>(list: readonly T[], value: (item: T) => number): number =>
  list.reduce((total, item) => total + value(item), 0);

const counted = ({ outcomes }: Aggregate, holds: (outcome: OutcomeCount) => boolean): number =>
  sum(outcomes, (outcome) => (holds(outcome) ? outcome.requests : 0));

const ratio = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole);

const isHit = ({ cacheStatus }: OutcomeCount): boolean => cacheStatus === 'HIT' || cacheStatus === 'SEMANTIC HIT';
const isConsidered = ({ cacheStatus }: OutcomeCount): boolean => cacheStatus !== null && cacheStatus !== 'DISABLED';

export const errors = (row: Aggregate): number => counted(row, ({ success }) => !success);
export const errorRate = (row: Aggregate): number => 100 * ratio(errors(row), row.requests);
export const successRate = (row: Aggregate): number => 100 * ratio(row.requests - errors(row), row.requests);
/** Calls whose cost is not known, so that no sum of costs holds it. */
export const unpriced = (row: Aggregate): number => counted(row, ({ costKnown }) => !costKnown);
/** Of the calls whose cost is known. */
export const averageCost = (row: Aggregate): number => ratio(row.cost, row.requests - unpriced(row));
export const averageTokens = (row: Aggregate): number => ratio(row.totalUnits, row.requests);
export const averageInput = (row: Aggregate): number => ratio(row.reqUnits, row.requests);
export const averageOutput = (row: Aggregate): number => ratio(row.resUnits, row.requests);

export const simpleHits = (row: Aggregate): number => counted(row, ({ cacheStatus }) => cacheStatus === 'HIT');
export const semanticHits = (row: Aggregate): number =>
  counted(row, ({ cacheStatus }) => cacheStatus === 'SEMANTIC HIT');
export const hits = (row: Aggregate): number => counted(row, isHit);
/** Over the calls that the cache was asked about. */
export const hitRate = (row: Aggregate): number => 100 * ratio(hits(row), counted(row, isConsidered));

const latencyOf = (row: Aggregate, holds: (outcome: OutcomeCount) => boolean): number =>
  ratio(
    sum(row.outcomes, (outcome) => (holds(outcome) ? outcome.latency : 0)),
    counted(row, holds),
  );
export const averageLatency = (row: Aggregate): number => latencyOf(row, () => true);
export const averageHitLatency = (row: Aggregate): number => latencyOf(row, isHit);
export const averageMissLatency = (row: Aggregate): number => latencyOf(row, (outcome) => !isHit(outcome));
export const latencyAt = (row: Aggregate, ...levels: number[]): number[] => percentiles(row.latencies, levels);

export const rescuedByFallback = (row: Aggregate): number =>
  counted(row, ({ success, fallback }) => success && fallback);

/** Successes by the number of the retry that brought them. */
export function rescuedByRetry({ outcomes }: Aggregate): { retry_success_count: number; count: number }[] {
  const counts = new Map<number, number>();
  for (const { success, retry, requests } of outcomes) {
    if (success && retry > 0) counts.set(retry, (counts.get(retry) ?? 0) + requests);
  }
  return [...counts].sort(([a], [b]) => a - b).map(([retry_success_count, count]) => ({ retry_success_count, count }));
}

/** Failed calls by their status. */
export function errorStatuses({ outcomes }: Aggregate): { status: number; count: number }[] {
  const counts = new Map<number, number>();
  for (const { success, status, requests } of outcomes) {
    if (!success) counts.set(status, (counts.get(status) ?? 0) + requests);
  }
  return [...counts].sort(([a], [b]) => a - b).map(([status, count]) => ({ status, count }));
}

/** Several as one. How many users they have together cannot be known from how many each has. */
export function mergeAggregates(rows: readonly Aggregate[]): Aggregate {
  const seen = rows.filter(({ requests }) => requests > 0);
  return {
    key: '',
    requests: sum(rows, (row) => row.requests),
    cost: exactCents(sum(rows, (row) => row.cost)),
    reqUnits: sum(rows, (row) => row.reqUnits),
    resUnits: sum(rows, (row) => row.resUnits),
    totalUnits: sum(rows, (row) => row.totalUnits),
    savedBySimpleCache: exactCents(sum(rows, (row) => row.savedBySimpleCache)),
    savedBySemanticCache: exactCents(sum(rows, (row) => row.savedBySemanticCache)),
    firstSeen: seen.length === 0 ? 0 : Math.min(...seen.map((row) => row.firstSeen)),
    lastSeen: seen.length === 0 ? 0 : Math.max(...seen.map((row) => row.lastSeen)),
    outcomes: rows.flatMap((row) => row.outcomes),
    latencies: mergeLatencies(rows.map((row) => row.latencies)),
    users: 0,
    feedback: {
      requests: sum(rows, (row) => row.feedback.requests),
      weighted: sum(rows, (row) => row.feedback.weighted),
      weight: sum(rows, (row) => row.feedback.weight),
    },
  };
}
