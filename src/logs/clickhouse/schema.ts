/** The tables in ClickHouse, made and migrated by the program. */
import type { ClickHouseClient } from '@clickhouse/client';
import type { Retention } from '../embedded/files.ts';

const dayMs = 86_400_000;
/** A time to live ends before 2106, where the engine's times begin anew: what is kept for longer has none. */
const mostDays = 20_000;
/** Inserts whose tokens a table remembers, so that a segment that comes again is not stored twice. */
const rememberedInserts = 10_000;

const logs = `
create table if not exists gw_logs (
  id String,
  organisation_id LowCardinality(String),
  workspace_id LowCardinality(String),
  workspace_slug LowCardinality(String),
  api_key_id LowCardinality(String),
  user_id LowCardinality(Nullable(String)),
  created_at DateTime64(3, 'UTC') codec(Delta, ZSTD),
  is_success Bool,
  endpoint_type LowCardinality(String),
  ai_org LowCardinality(String),
  ai_model LowCardinality(String),
  req_units Float64,
  res_units Float64,
  total_units Float64,
  cached_units Float64,
  reasoning_units Float64,
  usage_estimated Bool,
  cost Decimal(38, 9),
  cost_known Bool,
  saved_cost Decimal(38, 9),
  request_url String codec(ZSTD),
  request_method LowCardinality(String),
  response_status_code UInt16,
  response_time Float64,
  upstream_response_time Float64,
  gateway_processing_time Float64,
  first_token_time Nullable(Float64),
  is_proxy_call Bool,
  cache_status LowCardinality(Nullable(String)),
  cache_type LowCardinality(Nullable(String)),
  stream_mode UInt8,
  retry_success_count UInt16,
  trace_id String,
  span_id String,
  span_name String,
  parent_span_id String,
  internal_trace_id String,
  mode LowCardinality(String),
  virtual_key LowCardinality(String),
  integration_id LowCardinality(Nullable(String)),
  config LowCardinality(String),
  config_id LowCardinality(Nullable(String)),
  config_version_id LowCardinality(Nullable(String)),
  last_used_option_index UInt16,
  last_used_option_path LowCardinality(String),
  prompt_id LowCardinality(Nullable(String)),
  prompt_version_id LowCardinality(Nullable(String)),
  prompt_slug LowCardinality(String),
  source LowCardinality(String),
  runtime LowCardinality(String),
  runtime_version LowCardinality(String),
  sdk_version LowCardinality(String),
  error_message Nullable(String) codec(ZSTD),
  ignored_config_keys Array(String),
  metadata Map(LowCardinality(String), String) codec(ZSTD),
  attempt String codec(ZSTD),
  prompt_preview String codec(ZSTD),
  answer_preview String codec(ZSTD),
  index logs_id id type bloom_filter(0.001) granularity 4,
  index logs_trace trace_id type bloom_filter(0.001) granularity 4,
  index logs_span span_id type bloom_filter(0.001) granularity 4,
  index logs_metadata mapValues(metadata) type bloom_filter(0.01) granularity 4
) engine = MergeTree
partition by toYYYYMM(created_at)
order by (organisation_id, workspace_id, created_at, ai_model, id)
settings non_replicated_deduplication_window = ${rememberedInserts}`;

const bodies = `
create table if not exists gw_log_bodies (
  id String,
  organisation_id LowCardinality(String),
  workspace_id LowCardinality(String),
  created_at DateTime64(3, 'UTC') codec(Delta, ZSTD),
  messages String codec(ZSTD(3)),
  request String codec(ZSTD(3)),
  transformed_request String codec(ZSTD(3)),
  response String codec(ZSTD(3)),
  original_response String codec(ZSTD(3)),
  hook_results String codec(ZSTD(3)),
  index bodies_id id type bloom_filter(0.001) granularity 1,
  index bodies_text lowerUTF8(concat(request, ' ', response)) type text(tokenizer = ngrams(3)) granularity 1
) engine = MergeTree
partition by toYYYYMMDD(created_at)
order by (organisation_id, workspace_id, created_at, id)
settings non_replicated_deduplication_window = ${rememberedInserts}, index_granularity = 1024`;

/** A later state of a feedback replaces the earlier one. */
const feedbacks = `
create table if not exists gw_feedbacks (
  id String,
  organisation_id LowCardinality(String),
  workspace_id LowCardinality(String),
  trace_id String,
  value Int16,
  weight Float64,
  metadata Map(LowCardinality(String), String),
  created_at DateTime64(3, 'UTC'),
  version UInt64
) engine = ReplacingMergeTree(version)
order by (organisation_id, workspace_id, trace_id, id)`;

const timings = 'alter table gw_logs add column if not exists timings String codec(ZSTD)';

const guardrails = 'alter table gw_logs add column if not exists guardrails String codec(ZSTD)';

const mcpColumns = `
alter table gw_logs
  add column if not exists mcp_server LowCardinality(String),
  add column if not exists mcp_method LowCardinality(String),
  add column if not exists mcp_tool LowCardinality(String),
  add column if not exists mcp String codec(ZSTD)`;

const finalRequest = 'alter table gw_log_bodies add column if not exists final_request String codec(ZSTD(3))';

/** Where bodies lie in an object store. */
const objectPath = 'alter table gw_logs add column if not exists object_path String codec(ZSTD)';

/** In their order; a released one is never changed, a new one is appended. */
const migrations: readonly string[] = [
  logs,
  bodies,
  feedbacks,
  mcpColumns,
  timings,
  guardrails,
  objectPath,
  finalRequest,
];

/** Brings the tables to this release's form. Two nodes that do it at once do the same, since every step may be repeated. */
export async function migrateClickHouse(client: ClickHouseClient, { bodyMs, rowMs }: Retention): Promise<void> {
  await client.command({
    query: 'create table if not exists gw_migrations (version UInt32) engine = ReplacingMergeTree order by version',
  });
  const found = await client.query({
    query: 'select max(version) as version from gw_migrations',
    format: 'JSONEachRow',
  });
  const [row] = await found.json<{ version: number }>();
  const done = Number(row?.version ?? 0);
  if (done > migrations.length) throw new Error(`The tables in ClickHouse are of a newer release (version ${done})`);
  for (const [at, query] of migrations.entries()) {
    if (at < done) continue;
    await client.command({ query });
    await client.insert({ table: 'gw_migrations', values: [{ version: at + 1 }], format: 'JSONEachRow' });
  }
  for (const [table, ms] of [
    ['gw_logs', rowMs],
    ['gw_log_bodies', bodyMs],
    ['gw_feedbacks', rowMs],
  ] as const) {
    await keepFor(client, table, Math.max(1, Math.ceil(ms / dayMs)));
  }
}

/** A change of the same time to live would make ClickHouse look through all parts again. */
async function keepFor(client: ClickHouseClient, table: string, days: number): Promise<void> {
  const found = await client.query({
    query: 'select engine_full from system.tables where database = currentDatabase() and name = {table:String}',
    query_params: { table },
    format: 'JSONEachRow',
  });
  const [row] = await found.json<{ engine_full: string }>();
  const [, present] = /TTL .*toIntervalDay\((\d+)\)/.exec(row?.engine_full ?? '') ?? [];
  if (days > mostDays) {
    if (present) await client.command({ query: `alter table ${table} remove ttl` });
  } else if (Number(present) !== days) {
    await client.command({ query: `alter table ${table} modify ttl toDateTime(created_at) + toIntervalDay(${days})` });
  }
}
