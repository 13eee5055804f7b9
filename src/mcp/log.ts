/** One log record for each message of a client, in the form of all other calls. */
import type { McpServer } from '../catalog/mcp/server.ts';
import type { RequestContext, ServiceCall } from '../gateway/context.ts';
import type { GuardState } from '../gateway/guardrails/state.ts';
import { type Limit, rateCounter } from '../limits/limit.ts';
import { tokensIn } from '../providers/tokens.ts';
import { noUsage } from '../providers/usage.ts';
import type { CallContext } from './call-context.ts';
import type { Called } from './called.ts';
import type { McpDeps } from './deps.ts';
import { McpError } from './errors.ts';
import { messageRoute, toolCallRoute } from './identify.ts';
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
  guard?: GuardState | null;
}

const longestName = 128;
const encoder = new TextEncoder();

/** The message as limits, guardrails and logs see it. */
export function serviceContext(
  { services }: McpDeps,
  { identified, principal, server, client, sessionId }: CallContext,
  message: RpcMessage,
  { text = null, tokenRefreshed = false }: { text?: string | null; tokenRefreshed?: boolean } = {},
): RequestContext {
  const method = message.kind === 'response' ? 'response' : message.method;
  const tool = method === 'tools/call' && message.kind === 'request' ? String(message.params.name ?? '') : '';
  const service: ServiceCall = {
    kind: 'mcp',
    slug: server.slug,
    integrationId: server.integrationId,
    url: server.url,
    method: method.slice(0, longestName),
    tool: tool.slice(0, longestName),
    limits: limitsOf(server),
    keepsBodies: server.settings.log_payloads !== false,
    mcp: {
      server_id: server.id,
      auth_type: principal.authType,
      scope: principal.scopes ? [...principal.scopes].join(' ') : '',
      principal: principal.id,
      session_id: sessionId,
      client_name: nameOf(client.info.name),
      client_version: nameOf(client.info.version),
      upstream_token_refreshed: tokenRefreshed,
    },
  };
  const endUserHeader = server.settings.jwt_validation?.headerKey.toLowerCase();
  const carriers = endUserHeader
    ? { ...identified, keyHeaders: new Set([...identified.keyHeaders, endUserHeader]) }
    : identified;
  const route = tool === '' ? messageRoute : toolCallRoute;
  return services.begin(carriers, service, route, text === null ? null : encoder.encode(text));
}

/** The rate that an integration allows its own tools, counted as every other limit. */
function limitsOf({ settings, id, slug, organisationId }: McpServer): readonly Limit[] {
  const rule = settings.rate_limit;
  if (!rule) return [];
  return [
    {
      counter: rateCounter('integration', id, 'requests', rule.unit),
      organisationId,
      scope: 'integration',
      name: slug,
      type: 'requests',
      window: { kind: 'rate', unit: rule.unit },
      value: rule.value,
      mode: 'enforce',
      clampMaxTokens: false,
    },
  ];
}

const nameOf = (value: unknown): string => (typeof value === 'string' ? value.slice(0, longestName) : '');

export function logMessage(deps: McpDeps, context: CallContext, outcome: MessageOutcome): void {
  const { message, requestText, responseText, status, failed, error, upstreamMs, guard = null } = outcome;
  const isToolCall = message.kind === 'request' && message.method === 'tools/call';
  deps.services.settle(
    serviceContext(deps, context, message, { text: requestText, tokenRefreshed: outcome.tokenRefreshed }),
    {
      status,
      headers: responseText === null ? {} : { 'content-type': 'application/json' },
      body: responseText === null ? null : encoder.encode(responseText),
      failure: errorText(error) ?? (failed ? (responseText ?? '').slice(0, longestFailure) : null),
      upstreamMs,
      usage: isToolCall
        ? { ...noUsage, inputTokens: meteredTokens(requestText), outputTokens: meteredTokens(responseText ?? '') }
        : null,
      guard,
    },
  );
}

const longestFailure = 1_024;

interface LoggedAnswer {
  /** Null for messages that get no answer. */
  text: string | null;
  status: number;
  upstreamMs: number;
  error?: unknown;
  called?: Called;
}

/** Of an answer that came whole, in either era. */
export function logAnswer(
  deps: McpDeps,
  context: CallContext,
  { message, text: requestText }: { message: RpcMessage; text: string },
  { text, status, upstreamMs, error = null, called }: LoggedAnswer,
): void {
  const { response } = called ?? {};
  logMessage(deps, context, {
    message,
    requestText,
    responseText: text,
    status,
    failed: error !== null || response?.error !== undefined || response?.result?.isError === true,
    error,
    tokenRefreshed: called?.tokenRefreshed ?? false,
    upstreamMs,
    guard: called?.guard ?? null,
  });
}

/** A longer text is counted by its beginning. */
const countedCharacters = 16_384;

export function meteredTokens(text: string): number {
  if (text === '') return 0;
  const counted = tokensIn(text.slice(0, countedCharacters), '');
  return Math.ceil(counted * Math.max(1, text.length / countedCharacters));
}

const errorText = (error: unknown): string | null =>
  error instanceof McpError || error instanceof UpstreamRefusal ? error.message : error ? 'internal error' : null;
