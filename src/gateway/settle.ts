/** What remains when a request has ended, however it ended: usage, cost, and one log record for each target that was tried. */
import type { PlanNode } from '../catalog/plan.ts';
import type { LogMetrics, LogRecord } from '../logs/record.ts';
import type { Usage } from '../providers/provider.ts';
import { noUsage } from '../providers/usage.ts';
import { isSuccess, type Trail } from './answer.ts';
import type { Journey } from './journey.ts';
import { keptBodies } from './log-bodies.ts';
import type { GatewayParts } from './parts.ts';
import { estimateUsage, isStream, usageOfAnswer } from './usage.ts';

/** What the client finally got. */
export interface Outcome {
  status: number;
  headers: Headers;
  /** What was sent; null where bytes only passed through. */
  body: Uint8Array | null;
}

export function settle(parts: GatewayParts, journey: Journey, trails: readonly Trail[], outcome: Outcome): void {
  const endedAt = performance.now();
  for (const [index, trail] of trails.entries()) {
    const last = index === trails.length - 1;
    parts.sink.append(record(parts, last ? journey : asChild(journey), trail, last ? outcome : null, endedAt));
  }
}

/** Targets that were tried before the one that answered have spans of their own, below the request's. */
const asChild = (journey: Journey): Journey => ({
  ...journey,
  spanId: Bun.randomUUIDv7(),
  parentSpanId: journey.spanId,
});

function record(
  parts: GatewayParts,
  journey: Journey,
  trail: Trail,
  outcome: Outcome | null,
  endedAt: number,
): LogRecord {
  const billed = billing(parts, journey, trail);
  const metrics = metricsOf(journey, trail, billed, outcome, endedAt);
  return { metrics, bodies: keptBodies(parts, journey, trail, outcome) };
}

interface Billing {
  usage: Usage;
  estimated: boolean;
  cents: number;
  model: string;
}

/** Who answered is billed, and so is a stream that the client left: what was produced was paid for. Failed targets are not. */
function billing(parts: GatewayParts, journey: Journey, trail: Trail): Billing {
  const { target, status } = trail;
  const produced = isSuccess(status);
  const left = status === 499 && trail.responseHeaders !== null;
  const reported = usageOfAnswer(journey.matched.route.kind, trail);
  const model = target?.rule?.baseModel ?? (target?.model || reported?.model || '');
  if (!target || !(produced || left)) return { usage: noUsage, estimated: false, cents: 0, model };
  const usage = reported?.usage ?? estimateUsage(journey, trail);
  const cents = parts.pricer.cost({
    provider: target.provider.id,
    model,
    usage: usage ?? noUsage,
    prices: target.rule?.prices ?? null,
    adjustments: target.saved?.pricingAdjustments ?? null,
    batch: false,
  });
  return { usage: usage ?? noUsage, estimated: !reported && usage !== null, cents, model };
}

function metricsOf(
  journey: Journey,
  trail: Trail,
  billed: Billing,
  outcome: Outcome | null,
  endedAt: number,
): LogMetrics {
  const { caller, workspace, plan, own, matched } = journey;
  const { usage } = billed;
  const responseTime = (outcome ? endedAt : trail.endedAt) - (outcome ? journey.startedAt : trail.startedAt);
  return {
    // The target that answered is found under the request's own id, which the client was told.
    id: outcome ? journey.requestId : Bun.randomUUIDv7(),
    organisation_id: caller.organisationId,
    workspace_id: workspace.workspaceId,
    workspace_slug: workspace.workspaceSlug,
    api_key_id: caller.keyId,
    user_id: caller.userId,
    created_at: journey.receivedAt,
    is_success: isSuccess(trail.status),
    endpoint_type: matched.route.kind,
    ai_org: trail.target?.provider.id ?? '',
    ai_model: billed.model,
    req_units: usage.inputTokens,
    res_units: usage.outputTokens,
    total_units: usage.inputTokens + usage.outputTokens,
    cached_units: usage.cacheReadTokens,
    reasoning_units: usage.reasoningTokens,
    usage_estimated: billed.estimated,
    cost: billed.cents,
    request_url: withoutSecrets(trail.upstream?.url ?? ''),
    request_method: trail.upstream?.method ?? journey.request.method,
    response_status_code: trail.status,
    response_time: responseTime,
    upstream_response_time: trail.upstreamMs,
    gateway_processing_time: Math.max(0, responseTime - trail.upstreamMs),
    first_token_time: trail.firstTokenMs,
    is_proxy_call: matched.route.kind === 'proxy',
    cache_status: trail.cacheStatus,
    cache_type: null,
    stream_mode: isStream(trail) ? 1 : 0,
    retry_success_count: Math.max(0, trail.retryCount),
    trace_id: journey.traceId,
    span_id: journey.spanId,
    span_name: journey.spanName,
    parent_span_id: journey.parentSpanId,
    internal_trace_id: journey.requestId,
    mode: modeAbove(plan.root, trail.path),
    virtual_key: trail.target?.saved?.slug ?? '',
    integration_id: trail.target?.saved?.integrationId ?? null,
    config: plan.saved?.slug ?? (own.get('config') ? 'inline' : ''),
    config_id: plan.saved?.configId ?? null,
    config_version_id: plan.saved?.versionId ?? null,
    last_used_option_index: lastIndex(trail.path),
    last_used_option_path: trail.path,
    source: matched.route.kind === 'proxy' ? 'proxy' : 'gateway',
    runtime: own.get('runtime') ?? '',
    runtime_version: own.get('runtime-version') ?? '',
    sdk_version: own.get('sdk-version') ?? '',
    error_message: errorText(trail)?.slice(0, longestError) ?? null,
    ignored_config_keys: plan.ignoredKeys,
    metadata: metadataAt(journey, trail),
  };
}

const longestError = 1_024;
const decoder = new TextDecoder();

/** Ours, or what the provider said. */
function errorText({ error, status, received }: Trail): string | null {
  if (error) return error.message;
  const [body] = received;
  return isSuccess(status) || !body ? null : decoder.decode(body.subarray(0, 4 * longestError));
}

/** What the config says of a target stands where the request itself said nothing. */
function metadataAt({ metadata, plan }: Journey, { leaf }: Trail): Readonly<Record<string, string>> {
  const own = Object.entries(leaf?.metadata ?? {}).filter(([name]) => metadata[name] === plan.metadata[name]);
  return own.length === 0 ? metadata : { ...metadata, ...Object.fromEntries(own) };
}

/** The strategy that chose the target: the nearest one above it. */
function modeAbove(root: PlanNode, path: string): LogMetrics['mode'] {
  let mode: LogMetrics['mode'] = 'single';
  let node: PlanNode | undefined = root;
  for (const [, index] of path.matchAll(/\[(\d+)\]/g)) {
    if (node?.kind !== 'strategy') break;
    mode = node.mode;
    node = node.children[Number(index)];
  }
  return mode;
}

const lastIndex = (path: string): number => Number(/\[(\d+)\]$/.exec(path)?.[1] ?? 0);

/** Keys in a query must not reach the log. */
const withoutSecrets = (url: string): string =>
  url.includes('?') ? url.replace(/([?&][^=&]*(?:key|token|secret|signature)[^=&]*=)[^&]*/gi, '$1****') : url;
