/** What remains when a request has ended, however it ended: usage, cost, and one log record for each target that was tried. */
import type { PlanNode } from '../../catalog/plan.ts';
import { exactCents } from '../../logs/cents.ts';
import type {
  AttemptReason,
  CallTimings,
  LogBodies,
  LogMetrics,
  LogRecord,
  TelemetryFacts,
} from '../../logs/record.ts';
import { type AttemptRecord, isSuccess } from '../attempt/answer.ts';
import type { RequestContext } from '../context.ts';
import type { GatewayDeps } from '../deps.ts';
import { clientLeft } from '../errors.ts';
import { guardrailSummary, loggedResults } from '../guardrails/state.ts';
import { admissionOf } from '../limits/admission.ts';
import { logBodies } from './log-bodies.ts';
import { type Outcome, type SettledCall, type Settlement, settlementOf, wasLeft } from './settlement.ts';
import { isStream } from './usage.ts';

export function settle(
  deps: GatewayDeps,
  context: RequestContext,
  records: readonly AttemptRecord[],
  outcome: Outcome,
): void {
  const endedAt = performance.now();
  const answered = records.at(-1);
  for (const record of records) {
    const call =
      record === answered
        ? new SettledAttempt(deps, context, record, outcome)
        : new SettledAttempt(deps, asChild(context), record, null);
    for (const settler of deps.settlers) settler(call);
    deps.sink.append(new CallRecord(deps, call, endedAt, records));
  }
}

/** Targets that were tried before the one that answered have spans of their own, below the request's. */
const asChild = (context: RequestContext): RequestContext => ({
  ...context,
  spanId: Bun.randomUUIDv7(),
  parentSpanId: context.spanId,
});

/** Usage and price are worked out when somebody first asks for them. */
class SettledAttempt implements SettledCall {
  readonly context: RequestContext;
  readonly record: AttemptRecord;
  readonly outcome: Outcome | null;
  readonly #deps: GatewayDeps;
  #settlement: Settlement | null = null;

  constructor(deps: GatewayDeps, context: RequestContext, record: AttemptRecord, outcome: Outcome | null) {
    this.#deps = deps;
    this.context = context;
    // What happens to the attempt's record later is no part of this one.
    this.record = { ...record };
    this.outcome = outcome;
  }

  get settlement(): Settlement {
    this.#settlement ??= settlementOf(this.#deps, this.context, this.record);
    return this.#settlement;
  }
}

/** A record that is worked out when it is read: the spool reads many at once, which costs each of them far less. */
class CallRecord implements LogRecord {
  readonly #deps: GatewayDeps;
  readonly #call: SettledCall;
  readonly #endedAt: number;
  /** All targets of the request, this one among them. */
  readonly #records: readonly AttemptRecord[];
  #metrics: LogMetrics | null = null;
  #bodies: Partial<LogBodies> | null = null;

  constructor(deps: GatewayDeps, call: SettledCall, endedAt: number, records: readonly AttemptRecord[]) {
    this.#deps = deps;
    this.#call = call;
    this.#endedAt = endedAt;
    this.#records = records;
  }

  get weight(): number {
    return weightOf(this.#call);
  }

  get workspaceId(): string {
    return this.#call.context.workspace.workspaceId;
  }

  get metrics(): LogMetrics {
    this.#metrics ??= metricsOf(this.#call, this.#endedAt, this.#records);
    return this.#metrics;
  }

  get facts(): TelemetryFacts {
    return factsOf(this.#call, this.#endedAt);
  }

  get bodies(): Partial<LogBodies> {
    const { context, record, outcome } = this.#call;
    this.#bodies ??= logBodies(this.#deps, context, record, outcome);
    return this.#bodies;
  }
}

/** The bytes that a record keeps alive until it is written. What was received and what was sent are mostly the same ones. */
function weightOf({ context: { body }, record: { received, upstream, finalRequest }, outcome }: SettledCall): number {
  const sent = 'bytes' in body ? body.bytes.length : 0;
  const asked = finalRequest ? 2 * sent : sent;
  const changed = upstream?.changed && upstream.body instanceof Uint8Array ? upstream.body.length : 0;
  return asked + changed + Math.max(received?.length ?? 0, outcome?.body?.length ?? 0);
}

function metricsOf(
  { context, record, settlement, outcome }: SettledCall,
  endedAt: number,
  records: readonly AttemptRecord[],
): LogMetrics {
  const { caller, workspace, plan, own, matched, service } = context;
  const { usage, cost } = settlement;
  const responseTime = (outcome ? endedAt : record.endedAt) - (outcome ? context.startedAt : record.startedAt);
  return {
    // The target that answered is found under the request's own id, which the client was told.
    id: outcome ? context.requestId : Bun.randomUUIDv7(),
    organisation_id: caller.organisationId,
    workspace_id: workspace.workspaceId,
    workspace_slug: workspace.workspaceSlug,
    api_key_id: caller.keyId,
    user_id: caller.userId,
    created_at: context.receivedAt,
    is_success: isSuccess(record.status) && record.failure === undefined,
    endpoint_type: matched.route.kind,
    ai_org: record.target?.provider.id ?? service?.kind ?? '',
    ai_model: settlement.model,
    req_units: usage.inputTokens,
    res_units: usage.outputTokens,
    total_units: usage.inputTokens + usage.outputTokens,
    cached_units: usage.cacheReadTokens,
    reasoning_units: usage.reasoningTokens,
    usage_estimated: settlement.estimated,
    cost: cost.known ? exactCents(cost.cents) : 0,
    cost_known: cost.known,
    request_url: withoutSecrets(record.upstream?.url ?? service?.url ?? '').slice(0, longestUrl),
    request_method: record.upstream?.method ?? context.request.method,
    response_status_code: record.status,
    response_time: responseTime,
    upstream_response_time: record.upstreamMs,
    gateway_processing_time: Math.max(0, responseTime - record.upstreamMs),
    first_token_time: record.firstTokenMs,
    is_proxy_call: matched.route.kind === 'proxy',
    cache_status: record.cacheStatus,
    cache_type: record.cacheStatus === 'DISABLED' ? null : (record.leaf?.cache?.mode ?? null),
    stream_mode: isStream(record) ? 1 : 0,
    retry_success_count: Math.max(0, record.retryCount) + record.replays,
    trace_id: context.traceId,
    span_id: context.spanId,
    span_name: context.spanName,
    parent_span_id: context.parentSpanId,
    internal_trace_id: context.requestId,
    mode: modeAbove(plan.root, record.path),
    virtual_key: record.target?.saved?.slug ?? service?.slug ?? '',
    integration_id: record.target?.saved?.integrationId ?? service?.integrationId ?? null,
    config: plan.saved?.slug ?? (own.get('config') ? 'inline' : ''),
    config_id: plan.saved?.configId ?? null,
    config_version_id: plan.saved?.versionId ?? null,
    last_used_option_index: lastIndex(record.path),
    last_used_option_path: record.path,
    source: matched.route.kind === 'proxy' ? 'proxy' : 'gateway',
    runtime: own.get('runtime')?.slice(0, longestRuntime) ?? '',
    runtime_version: own.get('runtime-version')?.slice(0, longestRuntime) ?? '',
    sdk_version: own.get('sdk-version')?.slice(0, longestRuntime) ?? '',
    error_message: errorText(record)?.slice(0, longestError) ?? null,
    ignored_config_keys: plan.ignoredKeys,
    metadata: metadataAt(context, record),
    prompt_id: context.prompt?.id ?? null,
    prompt_version_id: context.prompt?.versionId ?? null,
    prompt_slug: context.prompt?.slug ?? '',
    saved_cost: record.savedCents ?? 0,
    attempt: service ? null : reasonOf(record, records),
    mcp_server: service?.mcp ? service.slug : '',
    mcp_method: service?.mcp ? service.method : '',
    mcp_tool: service?.mcp ? service.tool : '',
    mcp: service?.mcp ?? null,
    timings: service ? null : timingsOf(context, record),
    guardrails: record.guard && guardrailSummary(record.guard),
  };
}

/** What only telemetry tells. */
function factsOf({ context, record, outcome }: SettledCall, endedAt: number): TelemetryFacts {
  const { startedAt, identifiedAt, parentSampled, caller } = context;
  const { sentAt, guard, retries, upstreamMs } = record;
  const waited = retries.reduce((total, { waitMs }) => total + waitMs, 0);
  const until = outcome ? endedAt : record.endedAt;
  return {
    hooks: guard && loggedResults(guard),
    beganMs: Math.max(0, record.startedAt - startedAt),
    parentSampled,
    keyName: caller.keyName,
    authenticationMs: identifiedAt - startedAt,
    limitCheckMs: admissionOf(context)?.checkedMs ?? null,
    postProcessingMs: sentAt === null ? null : Math.max(0, until - sentAt - upstreamMs - waited),
  };
}

/** What the gateway's own time went to. */
function timingsOf({ startedAt, selectedAt }: RequestContext, record: AttemptRecord): CallTimings {
  const { sentAt, cacheMs, translationMs } = record;
  // A target behind another one begins when that has failed.
  const begunAt = Math.max(selectedAt, record.startedAt);
  return {
    request_parsing: thousandths(selectedAt - startedAt),
    pre_processing: sentAt === null ? null : thousandths(Math.max(0, sentAt - begunAt - (cacheMs ?? 0))),
    cache_processing: cacheMs === null ? null : thousandths(cacheMs),
    response_parsing: translationMs === null ? null : thousandths(translationMs),
  };
}

const thousandths = (ms: number): number => Math.round(ms * 1_000) / 1_000;

/** Why the target was tried: the rule, what failed before it, and its retries. */
function reasonOf(record: AttemptRecord, records: readonly AttemptRecord[]): AttemptReason {
  if (records.length === 1 && record.retries.length === 0) {
    return { rule: record.rule, after: none, retries: none, waited_ms: 0 };
  }
  const before = records.findIndex(({ path, startedAt }) => path === record.path && startedAt === record.startedAt);
  return {
    rule: record.rule,
    after: records.slice(0, Math.max(0, before)).map((failed) => ({
      path: failed.path,
      provider: failed.target?.provider.id ?? '',
      status: failed.status,
      reason: errorText(failed)?.slice(0, longestReason) ?? '',
    })),
    retries: record.retries.map(({ status, waitMs }) => ({ status, wait_ms: waitMs })),
    waited_ms: record.retries.reduce((total, { waitMs }) => total + waitMs, 0),
  };
}

const none: readonly never[] = [];
const longestReason = 200;
const longestError = 1_024;
const longestUrl = 4_096;
const longestRuntime = 128;
const decoder = new TextDecoder();

/** Ours, or what the provider said. */
function errorText(record: AttemptRecord): string | null {
  const { error, status, received, failure } = record;
  if (failure !== undefined) return failure;
  if (error) return error.message;
  // What had come by then is an answer, and may be of those that must not be kept.
  if (wasLeft(record)) return clientLeft().message;
  return isSuccess(status) || !received ? null : decoder.decode(received.subarray(0, 4 * longestError));
}

/** What the config says of a target stands where the request itself said nothing. */
function metadataAt({ metadata, plan }: RequestContext, { leaf }: AttemptRecord): Readonly<Record<string, string>> {
  let merged: Record<string, string> | null = null;
  for (const name in leaf?.metadata) {
    if (metadata[name] !== plan.metadata[name]) continue;
    merged ??= { ...metadata };
    merged[name] = leaf?.metadata[name] ?? '';
  }
  return merged ?? metadata;
}

/** The strategy that chose the target: the nearest one above it. */
function modeAbove(root: PlanNode, path: string): LogMetrics['mode'] {
  let mode: LogMetrics['mode'] = 'single';
  let node: PlanNode | undefined = root;
  while (node?.kind === 'strategy' && node.path !== path) {
    mode = node.mode;
    node = childTowards(node.children, path);
  }
  return mode;
}

function childTowards(children: readonly PlanNode[], path: string): PlanNode | undefined {
  for (const child of children) if (path === child.path || path.startsWith(`${child.path}.`)) return child;
  return undefined;
}

const lastIndex = (path: string): number =>
  path.endsWith(']') ? Number(path.slice(path.lastIndexOf('[') + 1, -1)) : 0;

/** Keys in a query must not reach the log. */
const withoutSecrets = (url: string): string =>
  url.includes('?') ? url.replace(/([?&][^=&]*(?:key|token|secret|signature)[^=&]*=)[^&]*/gi, '$1****') : url;
