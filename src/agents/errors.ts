/** The catalogue of what the agent gateway answers when it is the gateway itself that refuses or fails, in the words of each binding. */

import type { GatewayErrorCode } from '../gateway/error-catalogue.ts';
import { GatewayError } from '../gateway/errors.ts';
import { McpError } from '../mcp/errors.ts';
import { UntracedError } from '../untraced-error.ts';

interface Entry {
  status: number;
  /** The JSON-RPC code; −32000 carries its own name in `data.code`. */
  code: number;
  /** How 1.0 names a fault of the protocol. */
  reason?: string;
}

const catalogue = {
  parse_error: { status: 400, code: -32700 },
  invalid_request: { status: 400, code: -32600 },
  invalid_params: { status: 400, code: -32602, reason: 'INVALID_PARAMS' },
  task_not_found: { status: 404, code: -32001, reason: 'TASK_NOT_FOUND' },
  content_type_not_supported: { status: 415, code: -32005, reason: 'CONTENT_TYPE_NOT_SUPPORTED' },
  unsupported_operation: { status: 400, code: -32004, reason: 'UNSUPPORTED_OPERATION' },
  invalid_path: { status: 400, code: -32000 },
  unauthorized: { status: 401, code: -32000 },
  insufficient_scope: { status: 403, code: -32000 },
  forbidden: { status: 403, code: -32000 },
  agent_not_found: { status: 404, code: -32000 },
  method_not_allowed: { status: 405, code: -32000 },
  body_too_slow: { status: 408, code: -32000 },
  usage_limit_exceeded: { status: 412, code: -32000 },
  body_too_large: { status: 413, code: -32000 },
  upgrade_required: { status: 426, code: -32000 },
  rate_limited: { status: 429, code: -32000 },
  guardrail_denied: { status: 446, code: -32000 },
  client_closed: { status: 499, code: -32000 },
  internal_error: { status: 500, code: -32603 },
  upstream_error: { status: 502, code: -32000 },
  circuit_open: { status: 503, code: -32000 },
  store_unavailable: { status: 503, code: -32000 },
  buffers_full: { status: 503, code: -32000 },
  upstream_timeout: { status: 504, code: -32000 },
} as const satisfies Record<string, Entry>;

export type AgentErrorKind = keyof typeof catalogue;

export class AgentError extends UntracedError {
  readonly kind: AgentErrorKind;
  readonly headers: Readonly<Record<string, string>>;
  /** What guardrails said, where they are why. */
  readonly hookResults: object | null;

  constructor(
    kind: AgentErrorKind,
    message: string,
    more: { headers?: Readonly<Record<string, string>>; hookResults?: object | null } = {},
  ) {
    super(message);
    this.kind = kind;
    this.headers = more.headers ?? {};
    this.hookResults = more.hookResults ?? null;
  }

  get #entry(): Entry {
    return catalogue[this.kind];
  }

  /** Of the HTTP answer to a JSON-RPC request: faults of the protocol come with 200, as agents send them. */
  get rpcStatus(): number {
    const { code, status } = this.#entry;
    return code === -32000 || code === -32603 ? status : 200;
  }

  get status(): number {
    return this.#entry.status;
  }

  get rpc(): object {
    const { code, reason } = this.#entry;
    const data =
      code === -32000
        ? { code: this.kind, ...(this.hookResults && { hook_results: this.hookResults }) }
        : reason && detailsOf(reason);
    return { code, message: this.message, ...(data && { data }) };
  }

  /** The body of an answer over HTTP+JSON: 0.3 looks for the code, 1.0 for the details. */
  get http(): object {
    const { status, code, reason } = this.#entry;
    if (reason === undefined) {
      return {
        status: 'failure',
        message: this.message,
        error: { message: this.message, type: status >= 500 ? 'api_error' : 'invalid_request_error', code: this.kind },
        ...(this.hookResults && { hook_results: this.hookResults }),
      };
    }
    const details = detailsOf(reason);
    const word = status === 404 ? 'NOT_FOUND' : 'INVALID_ARGUMENT';
    return { code, message: this.message, error: { code: status, status: word, message: this.message, details } };
  }
}

/** As 1.0 tells why. */
const detailsOf = (reason: string): object[] => [
  { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'a2a-protocol.org' },
];

const kindOf: Partial<Record<GatewayErrorCode, AgentErrorKind>> = {
  invalid_api_key: 'unauthorized',
  expired_api_key: 'unauthorized',
  insufficient_scope: 'insufficient_scope',
  key_type_not_allowed: 'forbidden',
  usage_limit_exceeded: 'usage_limit_exceeded',
  rate_limit_exceeded: 'rate_limited',
  limits_unavailable: 'store_unavailable',
  store_unavailable: 'store_unavailable',
  buffers_full: 'buffers_full',
};

/** Any fault in the words of this catalogue; null where it is one of ours that nobody foresaw. */
export function agentErrorOf(fault: unknown): AgentError | null {
  if (fault instanceof AgentError) return fault;
  if (fault instanceof GatewayError) {
    const kind = kindOf[fault.code] ?? (fault.status === 401 ? 'unauthorized' : null);
    return kind && new AgentError(kind, fault.message.replace(/^Gateway error: /, ''), { headers: fault.headers });
  }
  if (!(fault instanceof McpError)) return null;
  const { kind, headers } = fault;
  const message = fault.message.replace('the upstream', 'the agent');
  if (kind === 'upstream_timeout' || kind === 'circuit_open' || kind === 'buffers_full')
    return new AgentError(kind, message, { headers });
  return new AgentError('upstream_error', message);
}

/** The same words whether it never was or belongs to somebody else: none of them tells which. */
export const noSuchTask = (): AgentError => new AgentError('task_not_found', 'Task not found');
