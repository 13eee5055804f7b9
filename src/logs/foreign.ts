/** Records of calls that went elsewhere and were handed in: by POST /logs, or as OpenTelemetry spans. */
import type { KeyCaller } from '../identity/caller.ts';
import type { Pricer } from '../pricing/pricer.ts';
import type { Usage } from '../providers/provider.ts';
import { noUsage } from '../providers/usage.ts';
import { exactCents } from './cents.ts';
import type { LogMetrics, LogRecord } from './record.ts';

/** Whose record it is: never what the record itself says. */
export interface Sender {
  caller: Pick<KeyCaller, 'organisationId' | 'keyId' | 'userId'>;
  workspace: { id: string; slug: string };
}

export interface ForeignCall {
  source: 'custom' | 'otel';
  createdAt: number;
  provider: string;
  model: string;
  usage: Usage | null;
  url: string;
  method: string;
  status: number;
  responseTime: number;
  streamed: boolean;
  traceId: string | null;
  spanId: string | null;
  spanName: string;
  parentSpanId: string;
  virtualKey: string;
  endpointType: LogMetrics['endpoint_type'];
  errorMessage: string | null;
  metadata: Readonly<Record<string, string>>;
  bodies: LogRecord['bodies'];
}

const longest = { id: 512, name: 512, url: 4_096, error: 1_024, metadataValue: 128 };
const mostMetadata = 64;

export function foreignRecord({ caller, workspace }: Sender, call: ForeignCall, pricer: Pricer): LogRecord {
  const id = Bun.randomUUIDv7();
  const usage = call.usage ?? noUsage;
  const success = call.status >= 200 && call.status <= 299;
  const cost =
    success && call.usage && call.model !== ''
      ? pricer.cost({
          provider: call.provider,
          model: call.model,
          usage,
          prices: null,
          adjustments: null,
          batch: false,
          reportsCost: false,
        })
      : null;
  const traceId = call.traceId?.slice(0, longest.id) || id;
  return {
    metrics: {
      id,
      organisation_id: caller.organisationId,
      workspace_id: workspace.id,
      workspace_slug: workspace.slug,
      api_key_id: caller.keyId,
      user_id: caller.userId,
      created_at: call.createdAt,
      is_success: success,
      endpoint_type: call.endpointType,
      ai_org: call.provider.slice(0, longest.name),
      ai_model: call.model.slice(0, longest.name),
      req_units: usage.inputTokens,
      res_units: usage.outputTokens,
      total_units: usage.inputTokens + usage.outputTokens,
      cached_units: usage.cacheReadTokens,
      reasoning_units: usage.reasoningTokens,
      usage_estimated: false,
      cost: cost?.known ? exactCents(cost.cents) : 0,
      cost_known: cost === null || cost.known,
      request_url: call.url.slice(0, longest.url),
      request_method: call.method,
      response_status_code: call.status,
      response_time: call.responseTime,
      upstream_response_time: call.responseTime,
      gateway_processing_time: 0,
      first_token_time: null,
      is_proxy_call: false,
      cache_status: null,
      cache_type: null,
      stream_mode: call.streamed ? 1 : 0,
      retry_success_count: 0,
      trace_id: traceId,
      span_id: call.spanId?.slice(0, longest.id) || id,
      span_name: call.spanName.slice(0, longest.name),
      parent_span_id: call.parentSpanId.slice(0, longest.id),
      internal_trace_id: id,
      mode: 'single',
      virtual_key: call.virtualKey.slice(0, 255),
      integration_id: null,
      config: '',
      config_id: null,
      config_version_id: null,
      last_used_option_index: 0,
      last_used_option_path: '',
      source: call.source,
      runtime: '',
      runtime_version: '',
      sdk_version: '',
      error_message: call.errorMessage?.slice(0, longest.error) ?? null,
      ignored_config_keys: [],
      metadata: bounded(call.metadata),
      prompt_id: null,
      prompt_version_id: null,
      prompt_slug: '',
      saved_cost: 0,
      attempt: null,
      mcp_server: '',
      mcp_method: '',
      mcp_tool: '',
      mcp: null,
      timings: null,
      guardrails: null,
    },
    bodies: call.bodies,
  };
}

const bounded = (metadata: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(metadata)
      .slice(0, mostMetadata)
      .map(([name, value]) => [
        name.slice(0, longest.metadataValue),
        value.slice(0, longest.metadataValue).toWellFormed(),
      ]),
  );
