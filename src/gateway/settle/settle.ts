/** What remains when a request has ended, however it ended: usage, cost, and one log record for each target that was tried. */
import type { PlanNode } from '../../catalog/plan.ts';
import type { LogBodies, LogMetrics, LogRecord } from '../../logs/record.ts';
import { type Cost, noCost } from '../../pricing/pricer.ts';
import type { Usage } from '../../providers/provider.ts';
import { noUsage } from '../../providers/usage.ts';
import { type AttemptRecord, asItStands, isSuccess } from '../attempt/answer.ts';
import type { Target } from '../attempt/target.ts';
import type { RequestContext } from '../context.ts';
import type { GatewayDeps } from '../deps.ts';
import { clientLeft } from '../errors.ts';
import type { HeaderFields } from '../request/headers.ts';
import { keptBodies } from './log-bodies.ts';
import { estimateUsage, isStream, usageOfAnswer } from './usage.ts';

/** What the client finally got. */
export interface Outcome {
  status: number;
  headers: Readonly<HeaderFields>;
  /** What was sent; null where bytes only passed through. */
  body: Uint8Array | null;
}

export function settle(
  deps: GatewayDeps,
  context: RequestContext,
  records: readonly AttemptRecord[],
  outcome: Outcome,
): void {
  const endedAt = performance.now();
  const answered = records.at(-1);
  for (const record of records) {
    deps.sink.append(
      record === answered
        ? new CallRecord(deps, context, record, outcome, endedAt)
        : new CallRecord(deps, asChild(context), record, null, endedAt),
    );
  }
}

/** Targets that were tried before the one that answered have spans of their own, below the request's. */
const asChild = (context: RequestContext): RequestContext => ({
  ...context,
  spanId: Bun.randomUUIDv7(),
  parentSpanId: context.spanId,
});

/** A record that is worked out when it is read: the spool reads many at once, which costs each of them far less. */
class CallRecord implements LogRecord {
  readonly #deps: GatewayDeps;
  readonly #context: RequestContext;
  readonly #record: AttemptRecord;
  readonly #outcome: Outcome | null;
  readonly #endedAt: number;
  #metrics: LogMetrics | null = null;
  #bodies: Partial<LogBodies> | null = null;

  constructor(
    deps: GatewayDeps,
    context: RequestContext,
    record: AttemptRecord,
    outcome: Outcome | null,
    endedAt: number,
  ) {
    this.#deps = deps;
    this.#context = context;
    this.#record = asItStands(record);
    this.#outcome = outcome;
    this.#endedAt = endedAt;
  }

  get weight(): number {
    return weightOf(this.#context, this.#record, this.#outcome);
  }

  get metrics(): LogMetrics {
    this.#metrics ??= metricsOf(
      this.#context,
      this.#record,
      billing(this.#deps, this.#context, this.#record),
      this.#outcome,
      this.#endedAt,
    );
    return this.#metrics;
  }

  get bodies(): Partial<LogBodies> {
    this.#bodies ??= keptBodies(this.#deps, this.#context, this.#record, this.#outcome);
    return this.#bodies;
  }
}

/** The bytes that a record keeps alive until it is written. What was received and what was sent are mostly the same ones. */
function weightOf({ body }: RequestContext, { received, upstream }: AttemptRecord, outcome: Outcome | null): number {
  const asked = 'bytes' in body ? body.bytes.length : 0;
  const changed = upstream?.changed && upstream.body instanceof Uint8Array ? upstream.body.length : 0;
  return asked + changed + Math.max(received?.length ?? 0, outcome?.body?.length ?? 0);
}

interface Billing {
  usage: Usage;
  estimated: boolean;
  cost: Cost;
  model: string;
}

/** Who answered is billed, and so is a stream that the client left: what was produced was paid for. Failed targets are not. */
function billing(deps: GatewayDeps, context: RequestContext, record: AttemptRecord): Billing {
  const { target, status } = record;
  const produced = isSuccess(status);
  const left = wasLeft(record);
  const asked = target?.rule?.baseModel ?? askedModel(target);
  const reported = usageOfAnswer(context.matched.route.kind, record, Boolean(asked));
  const model = asked || reported?.model || target?.model || '';
  if (!target || !(produced || left)) return { usage: noUsage, estimated: false, cost: noCost, model };
  const told = record.usageOpen ? null : (reported?.usage ?? null);
  const estimate = told ? null : estimateUsage(context, record);
  const usage = told ?? completed(estimate, reported?.usage ?? null);
  const cost = deps.pricer.cost({
    provider: target.provider.id,
    model,
    usage,
    prices: target.rule?.prices ?? null,
    adjustments: target.saved?.pricingAdjustments ?? null,
    batch: false,
    reportsCost: target.provider.reportsCost === true,
  });
  return { usage, estimated: estimate !== null, cost, model };
}

/** Some streams begin with what was asked, and tell at their end what was produced. */
function completed(estimate: Usage | null, begun: Usage | null): Usage {
  if (!estimate || !begun) return estimate ?? begun ?? noUsage;
  return {
    ...begun,
    inputTokens: begun.inputTokens || estimate.inputTokens,
    outputTokens: Math.max(begun.outputTokens, estimate.outputTokens),
  };
}

/** As it was asked for; none where that is only a name of the customer's, and the provider tells what stands behind it. */
const askedModel = (target: Target | null): string | null | undefined =>
  target?.provider.billedModel ? target.provider.billedModel(target) : target?.model;

function metricsOf(
  context: RequestContext,
  record: AttemptRecord,
  billed: Billing,
  outcome: Outcome | null,
  endedAt: number,
): LogMetrics {
  const { caller, workspace, plan, own, matched } = context;
  const { usage } = billed;
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
    is_success: isSuccess(record.status),
    endpoint_type: matched.route.kind,
    ai_org: record.target?.provider.id ?? '',
    ai_model: billed.model,
    req_units: usage.inputTokens,
    res_units: usage.outputTokens,
    total_units: usage.inputTokens + usage.outputTokens,
    cached_units: usage.cacheReadTokens,
    reasoning_units: usage.reasoningTokens,
    usage_estimated: billed.estimated,
    cost: billed.cost.known ? billed.cost.cents : 0,
    request_url: withoutSecrets(record.upstream?.url ?? '').slice(0, longestUrl),
    request_method: record.upstream?.method ?? context.request.method,
    response_status_code: record.status,
    response_time: responseTime,
    upstream_response_time: record.upstreamMs,
    gateway_processing_time: Math.max(0, responseTime - record.upstreamMs),
    first_token_time: record.firstTokenMs,
    is_proxy_call: matched.route.kind === 'proxy',
    cache_status: record.cacheStatus,
    cache_type: null,
    stream_mode: isStream(record) ? 1 : 0,
    retry_success_count: Math.max(0, record.retryCount),
    trace_id: context.traceId,
    span_id: context.spanId,
    span_name: context.spanName,
    parent_span_id: context.parentSpanId,
    internal_trace_id: context.requestId,
    mode: modeAbove(plan.root, record.path),
    virtual_key: record.target?.saved?.slug ?? '',
    integration_id: record.target?.saved?.integrationId ?? null,
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
  };
}

const longestError = 1_024;
const longestUrl = 4_096;
const longestRuntime = 128;
const decoder = new TextDecoder();

/** The client did not wait for the end of an answer that had begun. */
const wasLeft = ({ status, responseHeaders }: AttemptRecord): boolean => status === 499 && responseHeaders !== null;

/** Ours, or what the provider said. */
function errorText(record: AttemptRecord): string | null {
  const { error, status, received } = record;
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
