/** The catalogue of what the MCP gateway answers when it is the gateway itself that refuses or fails. */

import type { GatewayErrorCode } from '../gateway/error-catalogue.ts';
import type { GatewayError } from '../gateway/errors.ts';
import { UntracedError } from '../untraced-error.ts';
import {
  headerMismatch,
  internalError,
  invalidParams,
  invalidRequest,
  methodNotFound,
  missingCapability,
  parseError,
  type RpcError,
  serverError,
  timeoutError,
  unsupportedVersion,
} from './protocol/json-rpc.ts';

interface Entry {
  status: number;
  code: number;
  /** Whether `data.code` names it. */
  told: boolean;
  /** What `data.code` says instead of its own name. */
  as?: string;
}

const catalogue = {
  parse_error: { status: 400, code: parseError, told: false },
  invalid_request: { status: 400, code: invalidRequest, told: false },
  invalid_params: { status: 200, code: invalidParams, told: false },
  invalid_envelope: { status: 400, code: invalidParams, told: false },
  header_mismatch: { status: 400, code: headerMismatch, told: false },
  unsupported_version: { status: 400, code: unsupportedVersion, told: false },
  missing_capability: { status: 400, code: missingCapability, told: false },
  method_not_found: { status: 200, code: methodNotFound, told: false },
  tool_not_available: { status: 200, code: invalidParams, told: true },
  unauthorized: { status: 401, code: serverError, told: true },
  forbidden: { status: 403, code: serverError, told: true },
  insufficient_scope: { status: 403, code: serverError, told: true },
  server_not_found: { status: 404, code: serverError, told: true },
  session_required: { status: 400, code: invalidRequest, told: true },
  session_not_found: { status: 404, code: serverError, told: true },
  method_not_allowed: { status: 405, code: serverError, told: true },
  not_acceptable: { status: 406, code: invalidRequest, told: true },
  body_too_large: { status: 413, code: invalidRequest, told: true },
  unsupported_media_type: { status: 415, code: invalidRequest, told: true },
  usage_limit_exceeded: { status: 412, code: serverError, told: true },
  rate_limited: { status: 429, code: serverError, told: true },
  internal_error: { status: 500, code: internalError, told: true },
  upstream_error: { status: 502, code: serverError, told: true },
  /** The upstream is there and refuses our credentials. */
  upstream_unauthorized: { status: 502, code: serverError, told: true, as: 'upstream_error' },
  /** Its address must not be called. */
  upstream_forbidden: { status: 502, code: serverError, told: true, as: 'upstream_error' },
  store_unavailable: { status: 503, code: serverError, told: true },
  buffers_full: { status: 503, code: serverError, told: true },
  circuit_open: { status: 503, code: serverError, told: true },
  upstream_timeout: { status: 504, code: timeoutError, told: true },
  authorization_required: { status: 200, code: serverError, told: true },
} as const satisfies Record<string, Entry>;

export type McpErrorKind = keyof typeof catalogue;

export class McpError extends UntracedError {
  readonly kind: McpErrorKind;
  readonly status: number;
  readonly code: number;
  readonly data: Readonly<Record<string, unknown>> | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    kind: McpErrorKind,
    message: string,
    more: {
      data?: Readonly<Record<string, unknown>>;
      headers?: Record<string, string>;
      status?: number;
      code?: number;
    } = {},
  ) {
    super(message);
    const entry: Entry = catalogue[kind];
    this.kind = kind;
    this.status = more.status ?? entry.status;
    this.code = more.code ?? entry.code;
    this.data = entry.told ? { code: entry.as ?? kind, ...more.data } : more.data;
    this.headers = more.headers ?? {};
  }

  get rpc(): RpcError {
    return { code: this.code, message: this.message, ...(this.data && { data: this.data }) };
  }
}

/** The same words whether it never was, is switched off, or may not be used: none of them tells which. */
export const unknownTool = (name: string): McpError => new McpError('tool_not_available', `Unknown tool: ${name}`);
export const unknownPrompt = (name: string): McpError => new McpError('tool_not_available', `Unknown prompt: ${name}`);
export const unknownResource = (uri: string): McpError =>
  new McpError('tool_not_available', `Resource not found: ${uri}`, { data: { uri } });
/** As a server that knows no such task says it, whoever it belongs to. */
export const noSuchTask = (): McpError => new McpError('invalid_params', 'Failed to retrieve task: Task not found');
export const noSuchMethod = (method: string, status = 200): McpError =>
  new McpError('method_not_found', `Method not found: ${method}`, { status });
export const sessionLost = (): McpError =>
  new McpError(
    'session_not_found',
    'This session is unknown, has ended or belongs to another credential; initialize again',
  );

const kindOf: Partial<Record<GatewayErrorCode, McpErrorKind>> = {
  invalid_api_key: 'unauthorized',
  expired_api_key: 'unauthorized',
  invalid_jwt: 'unauthorized',
  jwt_not_allowed: 'forbidden',
  workspace_forbidden: 'forbidden',
  jwt_keys_unavailable: 'store_unavailable',
  insufficient_scope: 'insufficient_scope',
  key_type_not_allowed: 'forbidden',
  usage_limit_exceeded: 'usage_limit_exceeded',
  rate_limit_exceeded: 'rate_limited',
  limits_unavailable: 'store_unavailable',
  buffers_full: 'buffers_full',
};

/** What the stages that all routes share refuse, in the words of this protocol. */
export const ofGateway = ({ code, message, headers }: GatewayError): McpError =>
  new McpError(kindOf[code] ?? 'internal_error', message.replace(/^Gateway error: /, ''), { headers: { ...headers } });
