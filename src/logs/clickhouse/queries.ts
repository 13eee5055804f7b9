/** Answers queries from ClickHouse. */
import { type ClickHouseClient, ClickHouseError } from '@clickhouse/client';
import { exactCents } from '../cents.ts';
import { latenciesFrom, mergeLatencies } from '../latency.ts';
import {
  type Aggregate,
  type AggregateQuery,
  type CountedFeedback,
  type Feedback,
  type GroupBy,
  type ListQuery,
  type LogFilter,
  type LogPage,
  LogStoreAway,
  type OfferedValues,
  QueryTimeout,
} from '../query.ts';
import type { KeptBodies, KeptRecord, LogMetrics } from '../record.ts';
import type { OpenQueries } from '../store.ts';
import { connect } from './client.ts';
import { type Condition, conditionOf, feedbackByTrace, knownTime } from './conditions.ts';
import type { MessageHead } from './writer.ts';

const timeoutExceeded = '159';
const mostValues = 1_000;

/** The bucket of `latency.ts`, in the engine's words. */
const ms = 'least(2147483647, toInt64(floor(greatest(response_time, 0) + 0.5)))';
const shift = `if(${ms} < 1024, 0, toInt64(floor(log2(${ms}))) - 9)`;
const bucket = `toUInt32(${shift} * 512 + bitShiftRight(${ms}, ${shift}))`;

interface SumRow {
  key: string | number;
  status: number;
  success: boolean;
  cache_status: string | null;
  retry: number;
  fallback: number;
  cost_known: boolean;
  requests: number;
  latency: number;
  cost: number;
  saved: number;
  req_units: number;
  res_units: number;
  total_units: number;
  first_seen: number;
  last_seen: number;
  latencies: Record<string, number>;
  feedback_requests: number;
  weighted: number;
  weights: number;
}

type StoredMetrics = Omit<LogMetrics, 'created_at' | 'attempt' | 'mcp' | 'timings' | 'guardrails'> & {
  created_ms: number;
  attempt: string;
  mcp: string;
  timings: string;
  guardrails: string;
  prompt_preview: string;
  answer_preview: string;
  object_path: string;
};

interface StoredBodies {
  messages: string;
  request: string;
  transformed_request: string;
  response: string;
  original_response: string;
  hook_results: string;
  final_request: string;
}

type StoredFeedback = Omit<Feedback, 'created_at'> & { created_ms: number };

const columns = '* except (created_at), toUnixTimestamp64Milli(created_at) as created_ms';

export class ClickHouseQueries implements OpenQueries {
  readonly #client: ClickHouseClient;
  readonly #timeoutMs: number;

  constructor(url: string, timeoutMs: number) {
    // The engine ends a query by itself; the client waits a little longer for the news.
    this.#client = connect(url, timeoutMs + 2_000);
    this.#timeoutMs = timeoutMs;
  }

  async find(id: string): Promise<KeptRecord | null> {
    const [row] = await this.#rows<StoredMetrics>(`select ${columns} from gw_logs where id = {id:String} limit 1`, {
      id,
    });
    if (!row) return null;
    const [stored] = await this.#rows<StoredBodies>(
      `select messages, request, transformed_request, response, original_response, hook_results, final_request
       from gw_log_bodies
       where organisation_id = {organisation:String} and workspace_id = {workspace:String}
         and created_at = fromUnixTimestamp64Milli({at:Int64}) and id = {id:String} limit 1`,
      { id, organisation: row.organisation_id, workspace: row.workspace_id, at: row.created_ms },
    );
    return { metrics: metricsFrom(row), bodies: stored ? bodiesFrom(stored) : {}, object: row.object_path || null };
  }

  async list({ filter, sort, descending, offset, after, limit }: ListQuery): Promise<LogPage> {
    const { sql, params } = conditionOf(filter);
    const direction = descending ? 'desc' : 'asc';
    const value = sort === 'created_at' ? 'toUnixTimestamp64Milli(created_at)' : `toFloat64(${sort})`;
    const behind = after ? `and (${value}, id) ${descending ? '<' : '>'} ({value:Float64}, {id:String})` : '';
    const [rows, [count]] = await Promise.all([
      this.#rows<StoredMetrics>(
        `select ${columns} from gw_logs where ${sql} ${behind}
         order by ${sort} ${direction}, id ${direction} limit {limit:UInt32} offset {offset:UInt32}`,
        { ...params, limit, offset: after ? 0 : offset, ...(after && { value: after.value, id: after.id }) },
      ),
      this.#rows<{ total: number }>(`select count() as total from gw_logs where ${sql}`, params),
    ]);
    return {
      total: Number(count?.total ?? 0),
      rows: rows.map((row) => ({
        metrics: metricsFrom(row),
        promptPreview: row.prompt_preview,
        answerPreview: row.answer_preview,
      })),
    };
  }

  async aggregate({ filter, group, measures = [] }: AggregateQuery): Promise<Aggregate[]> {
    const condition = conditionOf(filter);
    const { key, keep, params } = keyOf(group, condition);
    const feedback = measures.includes('feedback');
    const joined = feedback
      ? `left join (${feedbackByTrace}) as feedback
           on feedback.workspace_id = gw_logs.workspace_id and feedback.trace_id = gw_logs.trace_id`
      : '';
    const rows = await this.#rows<SumRow>(
      `select ${key} as key, response_status_code as status, is_success as success, cache_status,
         retry_success_count as retry, mode = 'fallback' and last_used_option_index > 0 as fallback, cost_known,
         count() as requests, sum(response_time) as latency, sum(cost) as cost, sum(saved_cost) as saved,
         sum(gw_logs.req_units) as req_units, sum(gw_logs.res_units) as res_units, sum(gw_logs.total_units) as total_units,
         min(toUnixTimestamp64Milli(created_at)) as first_seen, max(toUnixTimestamp64Milli(created_at)) as last_seen,
         ${measures.includes('latencies') ? `sumMap(map(${bucket}, toUInt64(1)))` : 'map()'} as latencies,
         ${feedback ? "countIf(feedback.trace_id != '')" : '0'} as feedback_requests,
         ${feedback ? 'sum(feedback.weighted)' : '0'} as weighted, ${feedback ? 'sum(feedback.weights)' : '0'} as weights
       from gw_logs ${joined} where ${condition.sql} ${keep}
       group by key, status, success, cache_status, retry, fallback, cost_known`,
      params,
    );
    const users = measures.includes('users') ? await this.#usersBy(key, keep, condition.sql, params) : new Map();
    return merged(rows, group, users);
  }

  async values(filter: LogFilter): Promise<OfferedValues> {
    const { sql, params } = conditionOf(filter);
    const list = (field: string) =>
      `arraySort(groupUniqArrayIf(${mostValues})(toString(${field}), ${field} != '')) as ${field}_values`;
    const fields = ['ai_org', 'ai_model', 'virtual_key', 'config', 'api_key_id', 'prompt_slug'];
    const [row] = await this.#rows<Record<string, string[]>>(
      `select ${fields.map(list).join(', ')},
         arraySort(groupUniqArray(${mostValues})(response_status_code)) as statuses,
         arraySort(groupUniqArrayArray(${mostValues})(mapKeys(metadata))) as keys
       from gw_logs where ${sql}`,
      params,
    );
    const values = (field: string) => row?.[`${field}_values`] ?? [];
    return {
      ai_org: values('ai_org'),
      ai_model: values('ai_model'),
      virtual_key: values('virtual_key'),
      config: values('config'),
      api_key_id: values('api_key_id'),
      prompt_slug: values('prompt_slug'),
      response_status_code: (row?.statuses ?? []).map(Number),
      metadataKeys: row?.keys ?? [],
    };
  }

  async traces(filter: LogFilter): Promise<string[]> {
    const { sql, params } = conditionOf(filter);
    const rows = await this.#rows<{ trace_id: string }>(`select distinct trace_id from gw_logs where ${sql}`, params);
    return rows.map(({ trace_id }) => trace_id);
  }

  async saveFeedback(feedback: readonly Feedback[]): Promise<void> {
    const version = Date.now();
    await this.#guarded(() =>
      this.#client.insert({
        table: 'gw_feedbacks',
        values: feedback.map((one) => ({ ...one, created_at: new Date(one.created_at).toISOString(), version })),
        format: 'JSONEachRow',
      }),
    );
  }

  async findFeedback(id: string): Promise<Feedback | null> {
    const [row] = await this.#rows<StoredFeedback>(
      `select ${columns} from gw_feedbacks final where id = {id:String} limit 1`,
      { id },
    );
    return row ? feedbackFrom(row) : null;
  }

  async feedbackOnTrace(workspaceId: string, traceId: string): Promise<Feedback[]> {
    const rows = await this.#rows<StoredFeedback>(
      `select ${columns} from gw_feedbacks final where workspace_id = {workspace:String} and trace_id = {trace:String}
       order by created_at, id`,
      { workspace: workspaceId, trace: traceId },
    );
    return rows.map(feedbackFrom);
  }

  async feedback(filter: LogFilter): Promise<CountedFeedback[]> {
    // A trace may be older than what was said about it, and feedback may come before the record of its call.
    const { sql, params } = conditionOf({ ...filter, from: 0 });
    const scopes = filter.scopes.map(({ workspaceId }) => workspaceId);
    const everywhere = scopes.includes(null);
    const rows = await this.#rows<{ value: number; weight: number; at: number; model: string | null }>(
      `select value, weight, toUnixTimestamp64Milli(created_at) as at, trace.model as model
       from gw_feedbacks final
       ${isPlain(filter) ? 'left' : 'inner'} join (
         select workspace_id, trace_id, argMax(ai_model, created_at) as model from gw_logs where ${sql}
         group by workspace_id, trace_id
       ) as trace on trace.workspace_id = gw_feedbacks.workspace_id and trace.trace_id = gw_feedbacks.trace_id
       where organisation_id = {organisation:String} ${everywhere ? '' : 'and gw_feedbacks.workspace_id in {workspaces:Array(String)}'}
         and created_at >= fromUnixTimestamp64Milli({since:Int64}) and created_at < fromUnixTimestamp64Milli({to:Int64})
       order by created_at, gw_feedbacks.id`,
      { ...params, since: knownTime(filter.from), ...(!everywhere && { workspaces: scopes }) },
    );
    return rows.map(({ value, weight, at, model }) => ({
      value: Number(value),
      weight: Number(weight),
      createdAt: Number(at),
      model: model ?? '',
    }));
  }

  async close(): Promise<void> {
    await this.#client.close();
  }

  async #usersBy(key: string, keep: string, sql: string, params: Record<string, unknown>) {
    const rows = await this.#rows<{ key: string | number; users: number }>(
      `select ${key} as key, uniqExactIf(metadata['_user'], metadata['_user'] != '') as users
       from gw_logs where ${sql} ${keep} group by key`,
      params,
    );
    return new Map(rows.map((row) => [String(row.key), Number(row.users)]));
  }

  async #rows<T>(query: string, params: Record<string, unknown>): Promise<T[]> {
    return this.#guarded(async () => {
      const result = await this.#client.query({
        query,
        query_params: params,
        format: 'JSONEachRow',
        clickhouse_settings: { max_execution_time: this.#timeoutMs / 1_000 },
      });
      return result.json<T>();
    });
  }

  async #guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const late = error instanceof ClickHouseError ? error.code === timeoutExceeded : /timeout/i.test(String(error));
      if (late) throw new QueryTimeout(this.#timeoutMs);
      throw error instanceof ClickHouseError ? error : new LogStoreAway(String(error));
    }
  }
}

function keyOf(group: GroupBy, { params }: Condition): { key: string; keep: string; params: Record<string, unknown> } {
  if (group.by === 'nothing') return { key: "''", keep: '', params };
  if (group.by === 'time') {
    const key = 'roundDown(toUnixTimestamp64Milli(created_at), {edges:Array(Int64)})';
    return { key, keep: '', params: { ...params, edges: group.edges.slice(0, -1) } };
  }
  if (group.by === 'metadata') {
    const keep = "and mapContains(metadata, {metadata_key:String}) and metadata[{metadata_key:String}] != ''";
    return { key: 'metadata[{metadata_key:String}]', keep, params: { ...params, metadata_key: group.key } };
  }
  const isStatus = group.field === 'response_status_code';
  return { key: group.field, keep: isStatus ? '' : `and ifNull(${group.field}, '') != ''`, params };
}

/** The rows of one key, which differ in how calls ended, make one aggregate. */
function merged(rows: readonly SumRow[], group: GroupBy, users: ReadonlyMap<string, number>): Aggregate[] {
  const byKey = new Map<string | number, SumRow[]>();
  const fixed = group.by === 'time' ? group.edges.slice(0, -1) : group.by === 'nothing' ? [''] : [];
  for (const key of fixed) byKey.set(key, []);
  for (const row of rows) {
    const others = byKey.get(row.key);
    if (others) others.push(row);
    else byKey.set(row.key, [row]);
  }
  const sum = (list: readonly SumRow[], value: (row: SumRow) => number) =>
    list.reduce((total, row) => total + value(row), 0);
  return [...byKey].map(([key, list]) => ({
    key,
    requests: sum(list, (row) => Number(row.requests)),
    cost: exactCents(sum(list, (row) => Number(row.cost))),
    reqUnits: sum(list, (row) => row.req_units),
    resUnits: sum(list, (row) => row.res_units),
    totalUnits: sum(list, (row) => row.total_units),
    savedBySimpleCache: exactCents(sum(list, (row) => (row.cache_status === 'HIT' ? Number(row.saved) : 0))),
    savedBySemanticCache: exactCents(sum(list, (row) => (row.cache_status === 'SEMANTIC HIT' ? Number(row.saved) : 0))),
    firstSeen: list.length === 0 ? 0 : Math.min(...list.map((row) => Number(row.first_seen))),
    lastSeen: list.length === 0 ? 0 : Math.max(...list.map((row) => Number(row.last_seen))),
    outcomes: list.map((row) => ({
      status: row.status,
      success: row.success,
      cacheStatus: row.cache_status,
      retry: row.retry,
      fallback: Boolean(row.fallback),
      costKnown: row.cost_known,
      requests: Number(row.requests),
      latency: row.latency,
    })),
    latencies: mergeLatencies(
      list.map((row) =>
        latenciesFrom(Object.entries(row.latencies).map(([at, count]) => [Number(at), Number(count)] as const)),
      ),
    ),
    users: users.get(String(key)) ?? 0,
    feedback: {
      requests: sum(list, (row) => Number(row.feedback_requests)),
      weighted: sum(list, (row) => Number(row.weighted)),
      weight: sum(list, (row) => Number(row.weights)),
    },
  }));
}

/** True where a filter asks for all rows of its workspaces. */
const isPlain = ({ scopes, organisationId: _, from: __, to: ___, ...conditions }: LogFilter): boolean =>
  scopes.every(({ userId }) => userId === null) &&
  Object.values(conditions).every((condition) => condition === undefined || Object.keys(condition).length === 0);

function metricsFrom({
  created_ms,
  attempt,
  mcp,
  timings,
  guardrails,
  prompt_preview: _,
  answer_preview: __,
  object_path: ___,
  ...row
}: StoredMetrics): LogMetrics {
  return {
    ...row,
    stream_mode: row.stream_mode === 1 ? 1 : 0,
    cost: Number(row.cost),
    saved_cost: Number(row.saved_cost),
    created_at: Number(created_ms),
    attempt: attempt === '' ? null : JSON.parse(attempt),
    mcp: mcp === '' ? null : JSON.parse(mcp),
    timings: timings === '' ? null : JSON.parse(timings),
    guardrails: guardrails === '' ? null : JSON.parse(guardrails),
  };
}

function bodiesFrom(stored: StoredBodies): KeptBodies {
  const heads = JSON.parse(stored.messages) as Partial<Record<keyof KeptBodies, MessageHead>>;
  const texts: Record<keyof KeptBodies, string> = {
    request: stored.request,
    transformedRequest: stored.transformed_request,
    response: stored.response,
    originalResponse: stored.original_response,
    hookResults: stored.hook_results,
    finalRequest: stored.final_request,
  };
  const bodies: KeptBodies = {};
  for (const [name, text] of Object.entries(texts) as [keyof KeptBodies, string][]) {
    const head = heads[name];
    if (!head) continue;
    const { headers, contentType, size, hasBody } = head;
    bodies[name] = { headers, contentType, size, body: hasBody ? Buffer.from(text) : null };
  }
  return bodies;
}

const feedbackFrom = ({ created_ms, ...row }: StoredFeedback): Feedback => ({
  id: row.id,
  organisation_id: row.organisation_id,
  workspace_id: row.workspace_id,
  trace_id: row.trace_id,
  value: Number(row.value),
  weight: Number(row.weight),
  metadata: row.metadata,
  created_at: Number(created_ms),
});
