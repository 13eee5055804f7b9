/** What is kept of a finished call: one record for each target that was tried. */
import type { HookResults } from '../guardrails/results.ts';
import type { EndpointKind } from '../providers/endpoints.ts';

export type CacheStatus = 'HIT' | 'SEMANTIC HIT' | 'MISS' | 'SEMANTIC MISS' | 'REFRESH' | 'DISABLED';

/** The narrow part: always kept, one row in the log store. Field names are the wire's. */
export interface LogMetrics {
  id: string;
  organisation_id: string;
  workspace_id: string;
  workspace_slug: string;
  api_key_id: string;
  user_id: string | null;
  /** When the request arrived, in ms since the epoch. */
  created_at: number;
  is_success: boolean;
  endpoint_type: EndpointKind;
  /** The provider's id: `openai`. */
  ai_org: string;
  ai_model: string;
  req_units: number;
  res_units: number;
  total_units: number;
  cached_units: number;
  reasoning_units: number;
  /** True when the provider reported no usage and the figures are ours. */
  usage_estimated: boolean;
  /** In US cents; 0 where it is not known. */
  cost: number;
  /** False where something was used that has no known price. */
  cost_known: boolean;
  request_url: string;
  request_method: string;
  response_status_code: number;
  /** Milliseconds, fractions kept. */
  response_time: number;
  upstream_response_time: number;
  gateway_processing_time: number;
  first_token_time: number | null;
  is_proxy_call: boolean;
  cache_status: CacheStatus | null;
  cache_type: 'simple' | 'semantic' | null;
  stream_mode: 0 | 1;
  retry_success_count: number;
  trace_id: string;
  span_id: string;
  span_name: string;
  parent_span_id: string;
  /** One for each incoming request, shared by its attempts. */
  internal_trace_id: string;
  mode: 'single' | 'fallback' | 'loadbalance' | 'conditional';
  /** The saved provider's slug, or empty. */
  virtual_key: string;
  integration_id: string | null;
  /** The config's slug, `inline`, or empty. */
  config: string;
  config_id: string | null;
  config_version_id: string | null;
  last_used_option_index: number;
  last_used_option_path: string;
  source: 'gateway' | 'proxy' | 'custom' | 'otel';
  runtime: string;
  runtime_version: string;
  sdk_version: string;
  /** The error's text, cut at 1 KB; null for successes. */
  error_message: string | null;
  /** Keys of an inline config that were not understood. */
  ignored_config_keys: readonly string[];
  metadata: Readonly<Record<string, string>>;
  prompt_id: string | null;
  prompt_version_id: string | null;
  /** The prompt's slug, or empty. */
  prompt_slug: string;
  /** In US cents: what a cached answer would have cost; 0 for all others. */
  saved_cost: number;
  /** Why this target was tried; null for records that no router made. */
  attempt: AttemptReason | null;
  /** The slug of the MCP server that was called, or empty. */
  mcp_server: string;
  /** The JSON-RPC method of an MCP message, or empty. */
  mcp_method: string;
  /** The tool that was called, or empty. */
  mcp_tool: string;
  /** What else is known of an MCP message; null for all other calls. */
  mcp: McpDetails | null;
  /** What the gateway's own time went to; null for records of calls that it did not make. */
  timings: CallTimings | null;
  /** What guardrails decided; null where none looked at the call. */
  guardrails: GuardrailSummary | null;
}

/** The verdict of all guardrails of a call together. Their results stand beside the bodies. */
export interface GuardrailSummary {
  verdict: boolean;
  /** The request or its answer was refused. */
  denied: boolean;
  /** The refusal was answered with 200. */
  soft_denied: boolean;
}

/** In milliseconds, to a thousandth; null where there was nothing to do. */
export interface CallTimings {
  /** Until the caller was known, the config chosen and the body read. */
  request_parsing: number;
  /** From there until the request to the provider was ready. */
  pre_processing: number | null;
  /** Asking the cache. */
  cache_processing: number | null;
  /** Translating a whole answer. */
  response_parsing: number | null;
}

/** Who sent an MCP message, with which client and in which session. */
export interface McpDetails {
  server_id: string;
  auth_type: 'api_key' | 'oauth' | 'jwt' | 'external';
  /** The OAuth scopes of the caller; empty where a key allows everything. */
  scope: string;
  /** The key, or the grant behind an OAuth token. */
  principal: string;
  session_id: string | null;
  client_name: string;
  client_version: string;
  upstream_token_refreshed: boolean;
}

/** Why a target was tried, and what happened before it answered. */
export interface AttemptReason {
  /** The rule that chose the target: `loadbalance: weight 0.7`, `conditional: then "fast"`, `fallback: target 0 answered 503`. */
  rule: string;
  /** The targets that this request tried before, in their order. */
  after: readonly { path: string; provider: string; status: number; reason: string }[];
  /** The answers of this target that were retried, and how long each retry waited. */
  retries: readonly { status: number; wait_ms: number }[];
  /** How long all retries waited together, in ms. */
  waited_ms: number;
}

/** One side of an exchange as it is kept. Header values are masked before they come here. */
export interface LogMessage {
  headers: Readonly<Record<string, string>>;
  /** The bytes as they went over the wire; null when there were none or they are not kept. */
  body: Uint8Array | null;
  /** The content type of the body, so that a reader knows what it looks at. */
  contentType: string;
  /** How many bytes went over the wire; needed only where the body itself is not handed over. */
  size?: number;
  /** The beginning of its text, where whoever made the record knew it without parsing the body for it. */
  preview?: string | null;
}

/** The wide part: kept in full logging mode, and the answer alone when the call failed. */
export interface LogBodies {
  /** What the client sent. */
  request: LogMessage;
  /** What went upstream, where it differs from what the client sent. */
  transformedRequest: LogMessage | null;
  /** The request in the client's dialect as parameters and guardrails left it, where neither of the other two is that. */
  finalRequest: LogMessage | null;
  /** What the client got. */
  response: LogMessage;
  /** What the provider sent, where it differs from what the client got. */
  originalResponse: LogMessage | null;
  /** What guardrails said, as JSON. */
  hookResults: LogMessage | null;
}

/** What is known of a call and not stored with it. Times are in milliseconds. */
export interface TelemetryFacts {
  hooks: HookResults | null;
  /** From the request's arrival to the beginning of this attempt. */
  beganMs: number;
  /** Whether the W3C parent was sampled; null where the request named none. */
  parentSampled: boolean | null;
  keyName: string;
  authenticationMs: number;
  /** Checking the limits of key and workspace; null where there was nothing to check. */
  limitCheckMs: number | null;
  /** What the gateway did with answers once the provider was asked; null where none was. */
  postProcessingMs: number | null;
}

export interface LogRecord {
  readonly metrics: LogMetrics;
  readonly bodies: Partial<LogBodies>;
  /** What telemetry tells beside the record; absent for records of calls that the gateway did not make. */
  readonly facts?: TelemetryFacts;
  /** How many bytes of bodies it keeps alive, where that can be told without reading it. */
  readonly weight?: number;
  /** Whose it is, where that can be told without reading it. */
  readonly workspaceId?: string;
}

/** Where finished records go. Appending never waits and never fails the request. */
export interface LogSink {
  /** Hands the record over: it is read again a moment later, so nobody changes it or its bytes from here on. */
  append(record: LogRecord): void;
}

/** One side of an exchange as a reader gets it. */
export interface KeptMessage extends LogMessage {
  /** How many bytes went over the wire; more than none with a body of null where the body was not kept. */
  size: number;
}

export type KeptBodies = Partial<Record<keyof LogBodies, KeptMessage>>;

export interface KeptRecord {
  metrics: LogMetrics;
  bodies: KeptBodies;
  /** The path of its bodies, where they lie in an object store. */
  object?: string | null;
  /** Why bodies that were kept are not here: nobody finds them any more, or they cannot be read now. */
  bodiesFault?: BodiesFault;
}

export interface BodiesFault {
  kind: 'missing' | 'away';
  message: string;
}
