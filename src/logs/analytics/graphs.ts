/** Every graph: what it asks of the log store, and what it shows. */
import { z } from 'zod';
import { exactCents } from '../cents.ts';
import type { Aggregate, CountedFeedback, Measure, PlainSum } from '../query.ts';
import * as figure from './figures.ts';

interface Drawn {
  summary: Record<string, unknown>;
  data_points: Record<string, unknown>[];
}

/** The calls of each span of time, in order, with the text of its start. */
export interface TimeSpan {
  timestamp: string;
  calls: Aggregate;
}

interface CallGraph {
  of: 'calls';
  sums: readonly PlainSum[];
  measures: readonly Measure[];
  /** True where the summary counts what spans cannot be added up to. */
  needsWhole?: true;
  summary: z.ZodRawShape;
  point: z.ZodRawShape;
  draw(spans: readonly TimeSpan[], whole: Aggregate): Drawn;
}

interface FeedbackGraph {
  of: 'feedback';
  summary: z.ZodRawShape;
  point: z.ZodRawShape;
  draw(given: readonly CountedFeedback[], spans: readonly { timestamp: string; from: number; to: number }[]): Drawn;
}

export type Graph = CallGraph | FeedbackGraph;

const number = z.number();
const timestamp = z.string();
const each = <T extends object>(spans: readonly TimeSpan[], point: (calls: Aggregate) => T) =>
  spans.map(({ timestamp, calls }) => ({ timestamp, ...point(calls) }));

const latencies = (calls: Aggregate) => {
  const [p50 = 0, p90 = 0, p99 = 0] = figure.latencyAt(calls, 50, 90, 99);
  return { avg: figure.averageLatency(calls), p50, p90, p99 };
};
const latencyShape = { avg: number, p50: number, p90: number, p99: number };

const costs = (calls: Aggregate) => ({
  total: calls.cost,
  avg: figure.averageCost(calls),
  unpriced_requests: figure.unpriced(calls),
});
const costShape = {
  total: number,
  avg: number,
  unpriced_requests: number.describe('Calls whose price is not known; neither the total nor the average holds them'),
};

const weightedAverage = (given: readonly CountedFeedback[]): number => {
  const weight = given.reduce((total, one) => total + one.weight, 0);
  return weight === 0 ? 0 : given.reduce((total, one) => total + one.value * one.weight, 0) / weight;
};

export const graphs = {
  requests: {
    of: 'calls',
    sums: [],
    measures: [],
    summary: { total: number },
    point: { timestamp, total: number },
    draw: (spans, whole) => ({
      summary: { total: whole.requests },
      data_points: each(spans, (calls) => ({ total: calls.requests })),
    }),
  },
  cost: {
    of: 'calls',
    sums: ['cost'],
    measures: [],
    summary: costShape,
    point: { timestamp, ...costShape },
    draw: (spans, whole) => ({ summary: costs(whole), data_points: each(spans, costs) }),
  },
  latency: {
    of: 'calls',
    sums: ['latency'],
    measures: ['latencies'],
    summary: latencyShape,
    point: { timestamp, ...latencyShape },
    draw: (spans, whole) => ({ summary: latencies(whole), data_points: each(spans, latencies) }),
  },
  tokens: {
    of: 'calls',
    sums: ['units'],
    measures: [],
    summary: { total: number, avg: number },
    point: { timestamp, total: number, avg: number },
    draw: (spans, whole) => ({
      summary: { total: whole.totalUnits, avg: figure.averageTokens(whole) },
      data_points: each(spans, (calls) => ({ total: calls.totalUnits, avg: figure.averageTokens(calls) })),
    }),
  },
  users: {
    of: 'calls',
    sums: [],
    measures: ['users'],
    needsWhole: true,
    summary: { total: number },
    point: { timestamp, total: number },
    draw: (spans, whole) => ({
      summary: { total: whole.users },
      data_points: each(spans, (calls) => ({ total: calls.users })),
    }),
  },
  'users/requests': {
    of: 'calls',
    sums: [],
    measures: ['users'],
    needsWhole: true,
    summary: { total: number, unique: number, avg: number },
    point: { timestamp, avg: number },
    draw: (spans, whole) => {
      const perUser = ({ requests, users }: Aggregate) => (users === 0 ? 0 : requests / users);
      return {
        summary: { total: whole.requests, unique: whole.users, avg: perUser(whole) },
        data_points: each(spans, (calls) => ({ avg: perUser(calls) })),
      };
    },
  },
  errors: {
    of: 'calls',
    sums: [],
    measures: [],
    summary: { total: number },
    point: { timestamp, total: number },
    draw: (spans, whole) => ({
      summary: { total: figure.errors(whole) },
      data_points: each(spans, (calls) => ({ total: figure.errors(calls) })),
    }),
  },
  'errors/rate': {
    of: 'calls',
    sums: [],
    measures: [],
    summary: { rate: number },
    point: { timestamp, rate: number },
    draw: (spans, whole) => ({
      summary: { rate: figure.errorRate(whole) },
      data_points: each(spans, (calls) => ({ rate: figure.errorRate(calls) })),
    }),
  },
  'errors/stacks': {
    of: 'calls',
    sums: [],
    measures: [],
    summary: { total: number },
    point: { timestamp, stats: z.array(z.object({ response_status_code: number, count: number })) },
    draw: (spans, whole) => ({
      summary: { total: figure.errors(whole) },
      data_points: each(spans, (calls) => ({
        stats: figure.errorStatuses(calls).map(({ status, count }) => ({ response_status_code: status, count })),
      })),
    }),
  },
  'errors/status-codes': {
    of: 'calls',
    sums: [],
    measures: [],
    summary: { total_errors: number, unique_error_codes: number },
    point: { status_code: number, count: number },
    draw: (_, whole) => {
      const statuses = figure.errorStatuses(whole);
      return {
        summary: { total_errors: figure.errors(whole), unique_error_codes: statuses.length },
        data_points: statuses.map(({ status, count }) => ({ status_code: status, count })),
      };
    },
  },
  'requests/rescued': {
    of: 'calls',
    sums: [],
    measures: [],
    summary: { retry: number, fallback: number },
    point: {
      timestamp,
      retry: z.array(z.object({ retry_success_count: number, count: number })),
      fallback: number,
    },
    draw: (spans, whole) => ({
      summary: {
        retry: figure.rescuedByRetry(whole).reduce((total, { count }) => total + count, 0),
        fallback: figure.rescuedByFallback(whole),
      },
      data_points: each(spans, (calls) => ({
        retry: figure.rescuedByRetry(calls),
        fallback: figure.rescuedByFallback(calls),
      })),
    }),
  },
  'cache/hit-rate': {
    of: 'calls',
    sums: ['saved'],
    measures: [],
    summary: { total: number, rate: number },
    point: {
      timestamp,
      simple_hits: number,
      semantic_hits: number,
      rate: number,
      cumulative_simple_cache_savings: number,
      cumulative_semantic_cache_savings: number,
    },
    draw: (spans, whole) => {
      let simple = 0;
      let semantic = 0;
      return {
        summary: { total: figure.hits(whole), rate: figure.hitRate(whole) },
        data_points: each(spans, (calls) => {
          simple = exactCents(simple + calls.savedBySimpleCache);
          semantic = exactCents(semantic + calls.savedBySemanticCache);
          return {
            simple_hits: figure.simpleHits(calls),
            semantic_hits: figure.semanticHits(calls),
            rate: figure.hitRate(calls),
            cumulative_simple_cache_savings: simple,
            cumulative_semantic_cache_savings: semantic,
          };
        }),
      };
    },
  },
  'cache/latency': {
    of: 'calls',
    sums: ['latency'],
    measures: [],
    summary: {},
    point: { timestamp, avg: number },
    draw: (spans) => ({ summary: {}, data_points: each(spans, (calls) => ({ avg: figure.averageHitLatency(calls) })) }),
  },
  feedbacks: {
    of: 'feedback',
    summary: { total: number },
    point: { timestamp, total: number },
    draw: (given, spans) => ({
      summary: { total: given.length },
      data_points: spans.map(({ timestamp, from, to }) => ({ timestamp, total: within(given, from, to).length })),
    }),
  },
  'feedbacks/scores': {
    of: 'feedback',
    summary: { total: number },
    point: { score: number, total: number },
    draw: (given) => {
      const scores = Map.groupBy(given, ({ value }) => value);
      return {
        summary: { total: given.length },
        data_points: [...scores].sort(([a], [b]) => a - b).map(([score, list]) => ({ score, total: list.length })),
      };
    },
  },
  'feedbacks/weighted': {
    of: 'feedback',
    summary: { avg: number },
    point: { timestamp, avg: number },
    draw: (given, spans) => ({
      summary: { avg: weightedAverage(given) },
      data_points: spans.map(({ timestamp, from, to }) => ({
        timestamp,
        avg: weightedAverage(within(given, from, to)),
      })),
    }),
  },
  'feedbacks/ai-models': {
    of: 'feedback',
    summary: {},
    point: { ai_model: z.string(), total: number, avg_weighted_feedback: number },
    draw: (given) => ({
      summary: {},
      data_points: [...Map.groupBy(given, ({ model }) => model)]
        .filter(([model]) => model !== '')
        .map(([ai_model, list]) => ({ ai_model, total: list.length, avg_weighted_feedback: weightedAverage(list) }))
        .sort((a, b) => b.total - a.total || a.ai_model.localeCompare(b.ai_model)),
    }),
  },
} as const satisfies Record<string, Graph>;

const within = (given: readonly CountedFeedback[], from: number, to: number) =>
  given.filter(({ createdAt }) => createdAt >= from && createdAt < to);

export type GraphName = keyof typeof graphs;
export const graphNames = Object.keys(graphs) as GraphName[];
