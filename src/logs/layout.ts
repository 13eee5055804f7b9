/** The order in which the fields of a record stand in segments and in the store: lists are smaller and faster than named fields. */
import type { LogMetrics } from './record.ts';

// A new field goes to the end of its list: what an older release wrote then simply lacks it.
type Field = keyof LogMetrics;

/** What many records have in common; each combination is stored once. */
export const contextFields = [
  'organisation_id',
  'workspace_id',
  'workspace_slug',
  'api_key_id',
  'user_id',
  'endpoint_type',
  'ai_org',
  'ai_model',
  'request_method',
  'request_url',
  'is_proxy_call',
  'stream_mode',
  'mode',
  'virtual_key',
  'integration_id',
  'config',
  'config_id',
  'config_version_id',
  'source',
  'runtime',
  'runtime_version',
  'sdk_version',
  'is_success',
  'usage_estimated',
  'cost_known',
  'response_status_code',
  'cache_status',
  'cache_type',
  'retry_success_count',
  'span_name',
  'last_used_option_index',
  'last_used_option_path',
  'ignored_config_keys',
  'prompt_id',
  'prompt_version_id',
  'prompt_slug',
  'mcp_server',
  'mcp_method',
  'mcp_tool',
] as const satisfies readonly Field[];

/** What each record has of its own. */
export const measureFields = [
  'id',
  'created_at',
  'req_units',
  'res_units',
  'total_units',
  'cached_units',
  'reasoning_units',
  'cost',
  'response_time',
  'upstream_response_time',
  'gateway_processing_time',
  'first_token_time',
  'trace_id',
  'span_id',
  'parent_span_id',
  'internal_trace_id',
  'error_message',
  'metadata',
  'saved_cost',
  'attempt',
  'mcp',
  'timings',
  'guardrails',
] as const satisfies readonly Field[];

/** Mostly the record's own id: a row says null then, in segments and in the store. */
const oftenId = ['trace_id', 'span_id', 'internal_trace_id'] as const satisfies readonly Field[];
type OftenId = (typeof oftenId)[number];

type Value<F extends Field> = F extends OftenId ? LogMetrics[F] | null : LogMetrics[F];
type Values<Fields extends readonly Field[]> = { -readonly [I in keyof Fields]: Value<Fields[I]> };
type ContextField = (typeof contextFields)[number];
export type Context = Values<typeof contextFields>;
type Measures = Values<typeof measureFields>;

// Written out, because a loop over the names costs several times as much and this runs for every record.
export const contextOf = (m: LogMetrics): Context => [
  m.organisation_id,
  m.workspace_id,
  m.workspace_slug,
  m.api_key_id,
  m.user_id,
  m.endpoint_type,
  m.ai_org,
  m.ai_model,
  m.request_method,
  m.request_url,
  m.is_proxy_call,
  m.stream_mode,
  m.mode,
  m.virtual_key,
  m.integration_id,
  m.config,
  m.config_id,
  m.config_version_id,
  m.source,
  m.runtime,
  m.runtime_version,
  m.sdk_version,
  m.is_success,
  m.usage_estimated,
  m.cost_known,
  m.response_status_code,
  m.cache_status,
  m.cache_type,
  m.retry_success_count,
  m.span_name,
  m.last_used_option_index,
  m.last_used_option_path,
  m.ignored_config_keys,
  m.prompt_id,
  m.prompt_version_id,
  m.prompt_slug,
  m.mcp_server,
  m.mcp_method,
  m.mcp_tool,
];

/** The fields that differ most often come first, so that most comparisons end early. */
export const sameContext = (a: LogMetrics, b: LogMetrics): boolean =>
  a.ai_model === b.ai_model &&
  a.api_key_id === b.api_key_id &&
  a.response_status_code === b.response_status_code &&
  a.request_url === b.request_url &&
  a.stream_mode === b.stream_mode &&
  a.cache_status === b.cache_status &&
  a.last_used_option_path === b.last_used_option_path &&
  a.last_used_option_index === b.last_used_option_index &&
  a.retry_success_count === b.retry_success_count &&
  a.span_name === b.span_name &&
  a.usage_estimated === b.usage_estimated &&
  a.cost_known === b.cost_known &&
  a.is_success === b.is_success &&
  a.cache_type === b.cache_type &&
  a.virtual_key === b.virtual_key &&
  a.config === b.config &&
  a.config_version_id === b.config_version_id &&
  a.endpoint_type === b.endpoint_type &&
  a.runtime === b.runtime &&
  a.runtime_version === b.runtime_version &&
  a.sdk_version === b.sdk_version &&
  a.ai_org === b.ai_org &&
  a.integration_id === b.integration_id &&
  a.config_id === b.config_id &&
  a.user_id === b.user_id &&
  a.mode === b.mode &&
  a.source === b.source &&
  a.request_method === b.request_method &&
  a.is_proxy_call === b.is_proxy_call &&
  a.workspace_slug === b.workspace_slug &&
  a.workspace_id === b.workspace_id &&
  a.organisation_id === b.organisation_id &&
  a.prompt_version_id === b.prompt_version_id &&
  a.prompt_id === b.prompt_id &&
  a.prompt_slug === b.prompt_slug &&
  a.mcp_tool === b.mcp_tool &&
  a.mcp_method === b.mcp_method &&
  a.mcp_server === b.mcp_server &&
  sameKeys(a.ignored_config_keys, b.ignored_config_keys);

/** Nearly always both are empty. */
const sameKeys = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((key, at) => key === b[at]);

/** A record's row: the number of its context, its place among the messages (null: it has none), and its own fields. */
export type Row = [context: number, place: number | null, ...measures: Measures];
/** Where a row's own fields begin; the id is the first of them. */
export const firstMeasure = 2;

export const rowOf = (m: LogMetrics, context: number, place: number | null): Row => [
  context,
  place,
  m.id,
  m.created_at,
  m.req_units,
  m.res_units,
  m.total_units,
  m.cached_units,
  m.reasoning_units,
  m.cost,
  m.response_time,
  m.upstream_response_time,
  m.gateway_processing_time,
  m.first_token_time,
  m.trace_id === m.id ? null : m.trace_id,
  m.span_id === m.id ? null : m.span_id,
  m.parent_span_id,
  m.internal_trace_id === m.id ? null : m.internal_trace_id,
  m.error_message,
  m.metadata,
  m.saved_cost,
  m.attempt,
  m.mcp,
  m.timings,
  m.guardrails,
];

/** Where a context has the workspace. */
export const workspaceAt = 1;
/** Where a row has its trace. */
const traceAt = 14;

/** The trace of a row. */
export const traceOf = (row: Row): string => row[traceAt] ?? row[firstMeasure];

type Named = Record<ContextField | (typeof measureFields)[number], unknown>;

/** The record's fields by their names again. */
export function metricsOf(context: Context, row: Row): LogMetrics {
  const named: [string, unknown][] = [];
  for (const [at, field] of contextFields.entries()) named.push([field, context[at]]);
  for (const [at, field] of measureFields.entries()) named.push([field, row[at + firstMeasure]]);
  return fromNames(Object.fromEntries(named) as Named);
}

/** A record from wherever its fields are found. */
export function metricsFrom(fieldValue: (field: string) => unknown): LogMetrics {
  const fields = [...contextFields, ...measureFields];
  return fromNames(Object.fromEntries(fields.map((field) => [field, fieldValue(field)])) as Named);
}

/** `Named` lacks no field of `LogMetrics`, or this does not compile. */
function fromNames(named: Named): LogMetrics {
  for (const field of oftenId) named[field] ??= named.id;
  const every: Record<Field, unknown> = named;
  return every as LogMetrics;
}
