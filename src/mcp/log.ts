/** One log record for each message of a client, in the form of all other calls. */
import type { LogBodies, LogMetrics, LogRecord } from '../logs/record.ts';
import type { CallContext } from './call-context.ts';
import type { McpDeps } from './deps.ts';
import { McpError } from './errors.ts';
import { UpstreamRefusal } from './lists.ts';
import type { RpcMessage } from './protocol/json-rpc.ts';

export interface MessageOutcome {
  message: RpcMessage;
  /** What the client sent. */
  requestText: string;
  /** What it got; null for messages that get none. */
  responseText: string | null;
  status: number;
  /** A tool answered that it failed, or the upstream answered with an error. */
  failed: boolean;
  error: unknown;
  tokenRefreshed: boolean;
  upstreamMs: number;
  streamed: boolean;
}

const longest = 1_024;
const secretHeader = /authorization|cookie|token|secret|api-key|password|x-user-(claims|jwt)/;

export function logMessage(deps: McpDeps, context: CallContext, outcome: MessageOutcome): void {
  try {
    deps.sink.append(new MessageRecord(deps, context, outcome, performance.now()));
  } catch (fault) {
    deps.onFault(fault, context.requestId);
  }
}

/** Of an answer that came whole, in either era. */
export function logAnswer(
  deps: McpDeps,
  context: CallContext,
  { message, text }: { message: RpcMessage; text: string },
  responseText: string | null,
  status: number,
  error: unknown,
  upstreamMs: number,
  failed = false,
  tokenRefreshed = false,
): void {
  logMessage(deps, context, {
    message,
    requestText: text,
    responseText,
    status,
    failed,
    error,
    tokenRefreshed,
    upstreamMs,
    streamed: false,
  });
}

/** Worked out when it is read: the spool reads many at once. */
class MessageRecord implements LogRecord {
  readonly #deps: McpDeps;
  readonly #context: CallContext;
  readonly #outcome: MessageOutcome;
  readonly #endedAt: number;

  constructor(deps: McpDeps, context: CallContext, outcome: MessageOutcome, endedAt: number) {
    this.#deps = deps;
    this.#context = context;
    this.#outcome = outcome;
    this.#endedAt = endedAt;
  }

  get weight(): number {
    return this.#outcome.requestText.length + (this.#outcome.responseText?.length ?? 0);
  }

  get metrics(): LogMetrics {
    const { principal, server, ...context } = this.#context;
    const { message, status, error, failed, tokenRefreshed, upstreamMs, streamed } = this.#outcome;
    const method = message.kind === 'response' ? 'response' : message.method;
    const tool = method === 'tools/call' && message.kind === 'request' ? String(message.params.name ?? '') : '';
    const responseTime = this.#endedAt - context.startedAt;
    const units = { in: tokensIn(this.#outcome.requestText), out: tokensIn(this.#outcome.responseText ?? '') };
    const counted = method === 'tools/call' ? units : { in: 0, out: 0 };
    const metadata: Record<string, string> = {
      ...context.metadata,
      'mcp.server': server.slug,
      'mcp.server_id': server.id,
      'mcp.method': method,
      'mcp.auth.type': principal.authType,
      'mcp.client': `${String(context.client.info.name ?? '')}/${String(context.client.info.version ?? '')}`.slice(
        0,
        128,
      ),
    };
    if (tool !== '') metadata['mcp.tool'] = tool.slice(0, 128);
    if (context.sessionId !== null) metadata['mcp.session_id'] = context.sessionId;
    if (tokenRefreshed) metadata['mcp.auth.upstream_token_refreshed'] = 'true';
    if (principal.scopes) metadata['mcp.auth.scope'] = [...principal.scopes].join(' ');
    return {
      id: context.requestId,
      organisation_id: principal.caller.organisationId,
      workspace_id: principal.workspace.workspaceId,
      workspace_slug: principal.workspace.workspaceSlug,
      api_key_id: principal.caller.keyId,
      user_id: principal.userId,
      created_at: context.receivedAt,
      is_success: status < 400 && !failed && !error,
      endpoint_type: tool === '' ? 'mcp' : 'mcpToolCall',
      ai_org: 'mcp',
      ai_model: tool === '' ? method : tool,
      req_units: counted.in,
      res_units: counted.out,
      total_units: counted.in + counted.out,
      cached_units: 0,
      reasoning_units: 0,
      usage_estimated: counted.in > 0,
      cost: 0,
      cost_known: true,
      request_url: server.url.slice(0, 4_096),
      request_method: 'POST',
      response_status_code: status,
      response_time: responseTime,
      upstream_response_time: upstreamMs,
      gateway_processing_time: Math.max(0, responseTime - upstreamMs),
      first_token_time: null,
      is_proxy_call: false,
      cache_status: null,
      cache_type: null,
      stream_mode: streamed ? 1 : 0,
      retry_success_count: 0,
      trace_id: context.traceId,
      span_id: context.spanId,
      span_name: tool === '' ? method.slice(0, 512) : `tools/call ${tool}`.slice(0, 512),
      parent_span_id: context.parentSpanId,
      internal_trace_id: context.requestId,
      mode: 'single',
      virtual_key: server.slug,
      integration_id: server.integrationId,
      config: '',
      config_id: null,
      config_version_id: null,
      last_used_option_index: 0,
      last_used_option_path: '',
      source: 'gateway',
      runtime: '',
      runtime_version: '',
      sdk_version: '',
      error_message: errorText(error)?.slice(0, longest) ?? null,
      ignored_config_keys: [],
      metadata,
      prompt_id: null,
      prompt_version_id: null,
      prompt_slug: '',
      saved_cost: 0,
      attempt: null,
      timings: null,
    };
  }

  get bodies(): Partial<LogBodies> {
    const { principal, server, asked } = this.#context;
    const { requestText, responseText, status, error } = this.#outcome;
    const full = principal.workspace.settings.request_logging === 'full' && server.settings.log_payloads !== false;
    const response = responseText === null ? null : { headers: {}, body: bytes(responseText), contentType: json };
    if (!full) return response && (status >= 400 || error) ? { response } : {};
    return {
      request: {
        headers: masked(asked.headers, this.#deps.maskedHeaders),
        body: bytes(requestText),
        contentType: json,
      },
      ...(response && { response }),
    };
  }
}

const json = 'application/json';
const encoder = new TextEncoder();
const bytes = (text: string): Uint8Array => encoder.encode(text);

/** About four characters a token, as everywhere where nobody reports a count. */
const tokensIn = (text: string): number => Math.ceil(text.length / 4);

const errorText = (error: unknown): string | null =>
  error instanceof McpError || error instanceof UpstreamRefusal ? error.message : error ? 'internal error' : null;

function masked(headers: Readonly<Record<string, string>>, named: readonly string[]): Record<string, string> {
  const sensitive = new Set([
    ...named,
    ...(headers['x-gw-sensitive-headers'] ?? '').split(',').map((name) => name.trim().toLowerCase()),
  ]);
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      secretHeader.test(name) || sensitive.has(name) ? '****' : value,
    ]),
  );
}
