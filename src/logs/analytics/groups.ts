/** The groups of calls that can be asked for, and their columns. */
import type { Aggregate, GroupBy, GroupField, Measure, PlainSum } from '../query.ts';
import * as figure from './figures.ts';

const field = (name: GroupField): GroupBy => ({ by: 'field', field: name });
const metadata = (key: string): GroupBy => ({ by: 'metadata', key });

/** What calls are grouped by, in the words of the service, and where a record has it. */
export const groupings = {
  ai_service: field('ai_org'),
  model: field('ai_model'),
  status_code: field('response_status_code'),
  api_key: field('api_key_id'),
  config: field('config'),
  workspace: field('workspace_slug'),
  provider: field('virtual_key'),
  prompt: field('prompt_slug'),
  mcp_server: field('mcp_server'),
  mcp_method: field('mcp_method'),
  mcp_tool: field('mcp_tool'),
  agent_server: metadata('agent.server'),
  agent_method: metadata('agent.method'),
  user: field('user_id'),
} as const satisfies Record<string, GroupBy>;
export type Grouping = keyof typeof groupings;
export const groupingNames = Object.keys(groupings) as [Grouping, ...Grouping[]];

/** Columns besides the number of requests, shown only where they are asked for. */
export const columns = {
  cost: (row) => row.cost,
  unpriced_requests: figure.unpriced,
  total_tokens: (row) => row.totalUnits,
  avg_tokens: figure.averageTokens,
  avg_input_tokens: figure.averageInput,
  avg_output_tokens: figure.averageOutput,
  avg_latency: figure.averageLatency,
  p95_latency: (row) => figure.latencyAt(row, 95)[0] ?? 0,
  p99_latency: (row) => figure.latencyAt(row, 99)[0] ?? 0,
  success_rate: figure.successRate,
  error_count: figure.errors,
  cache_hit_rate: figure.hitRate,
  last_seen: (row) => new Date(row.lastSeen).toISOString(),
  first_seen: (row) => new Date(row.firstSeen).toISOString(),
} as const satisfies Record<string, (row: Aggregate) => number | string>;
export type Column = keyof typeof columns;
export const columnNames = Object.keys(columns) as [Column, ...Column[]];

const sumBehind: Partial<Record<string, PlainSum>> = {
  cost: 'cost',
  total_tokens: 'units',
  avg_tokens: 'units',
  avg_input_tokens: 'units',
  avg_output_tokens: 'units',
  avg_latency: 'latency',
  last_seen: 'seen',
  first_seen: 'seen',
} satisfies Partial<Record<Column, PlainSum>>;

/** The sums that some columns are made of. */
export const sumsOf = (wanted: readonly string[]): PlainSum[] => [
  ...new Set(wanted.flatMap((column) => sumBehind[column] ?? [])),
];

/** What else they need: percentiles cost more than sums. */
export const measuresOf = (wanted: readonly string[]): Measure[] =>
  wanted.some((column) => column === 'p95_latency' || column === 'p99_latency') ? ['latencies'] : [];

/** Sorted by a column or by the key, rows that are equal in it by their key. */
export function sortGroups(
  rows: readonly Aggregate[],
  by: Column | 'requests' | 'key',
  descending: boolean,
): Aggregate[] {
  const sortValue = (row: Aggregate): number | string =>
    by === 'requests' ? row.requests : by === 'key' ? row.key : columns[by](row);
  const sign = descending ? -1 : 1;
  return rows
    .map((row) => ({ row, value: sortValue(row) }))
    .sort((a, b) => sign * compare(a.value, b.value) || compare(a.row.key, b.row.key))
    .map(({ row }) => row);
}

const compare = (a: number | string, b: number | string): number => (a < b ? -1 : a > b ? 1 : 0);
