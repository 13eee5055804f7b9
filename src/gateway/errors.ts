/** The catalogue of what the data plane answers when it is the gateway itself that refuses or fails. Messages say what to do. */
import { asAnthropicType } from './response/anthropic-errors.ts';

const statusOf = {
  invalid_body: 400,
  invalid_content_type: 400,
  missing_provider: 400,
  invalid_provider: 400,
  invalid_config: 400,
  invalid_config_json: 400,
  config_not_found: 400,
  guardrail_not_found: 400,
  config_override_not_allowed: 400,
  config_targets_exceeded: 400,
  invalid_custom_host: 400,
  invalid_forward_headers: 400,
  invalid_header: 400,
  invalid_path: 400,
  inline_config_blocked: 400,
  inline_provider_blocked: 400,
  inline_custom_host_blocked: 400,
  inline_provider_url_blocked: 400,
  inline_forward_headers_blocked: 400,
  router_no_match: 400,
  router_invalid_target: 400,
  no_eligible_target: 400,
  unsupported_endpoint: 400,
  nitro_unsupported: 400,
  provider_conflict: 400,
  provider_not_found: 400,
  missing_credential: 400,
  invalid_prompt: 400,
  invalid_subprotocol: 400,
  invalid_api_key: 401,
  expired_api_key: 401,
  insufficient_scope: 403,
  key_type_not_allowed: 403,
  model_not_allowed: 403,
  provider_not_allowed: 403,
  unknown_route: 404,
  prompt_not_found: 404,
  prompt_partial_not_found: 404,
  model_not_found: 404,
  file_not_found: 404,
  batch_not_found: 404,
  request_timeout: 408,
  body_too_slow: 408,
  batch_not_finished: 409,
  usage_limit_exceeded: 412,
  body_too_large: 413,
  upgrade_required: 426,
  guardrail_denied: 446,
  rate_limit_exceeded: 429,
  client_closed: 499,
  internal_error: 500,
  secret_unavailable: 500,
  buffers_full: 503,
  invalid_provider_response: 502,
  upstream_unreachable: 502,
  upstream_refused: 502,
  stream_incomplete: 502,
  stream_diverged: 502,
  upstream_connect_timeout: 503,
  too_many_connections: 503,
  store_unavailable: 503,
  limits_unavailable: 503,
  first_token_timeout: 504,
  stream_stalled: 504,
} as const;

export type GatewayErrorCode = keyof typeof statusOf;
export const gatewayErrorStatuses: Readonly<Record<GatewayErrorCode, number>> = statusOf;

const typeByCode: Partial<Record<GatewayErrorCode, string>> = {
  request_timeout: 'timeout_error',
  body_too_slow: 'timeout_error',
  first_token_timeout: 'timeout_error',
  stream_stalled: 'timeout_error',
  invalid_api_key: 'authentication_error',
  expired_api_key: 'authentication_error',
  insufficient_scope: 'permission_error',
  key_type_not_allowed: 'permission_error',
  model_not_allowed: 'permission_error',
  provider_not_allowed: 'permission_error',
  usage_limit_exceeded: 'usage_limit_error',
  guardrail_denied: 'hooks_failed',
  rate_limit_exceeded: 'rate_limit_error',
};

const typeOf = (code: GatewayErrorCode): string =>
  typeByCode[code] ?? (statusOf[code] >= 500 ? 'api_error' : 'invalid_request_error');

/** Lets a client tell our words from a provider's. */
const prefix = 'Gateway error: ';

const noHeaders: Readonly<Record<string, string>> = {};

export class GatewayError extends Error {
  readonly code: GatewayErrorCode;
  readonly status: number;
  readonly type: string;
  /** The header or field at fault. */
  readonly field: string | null;
  /** Every fault found, where there can be several. */
  readonly faults: readonly string[];
  /** What guardrails said, where they are why. */
  readonly hookResults: object | null;
  /** Headers that go with it. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: GatewayErrorCode,
    message: string,
    more: {
      field?: string;
      faults?: readonly string[];
      headers?: Readonly<Record<string, string>>;
      type?: string;
      status?: number;
      hookResults?: object;
      /** The words of a provider or of a guardrail's author do not get our prefix. */
      spoken?: 'by the provider' | 'by a guardrail';
    } = {},
  ) {
    super(more.spoken ? message : prefix + message);
    this.code = code;
    this.status = more.status ?? statusOf[code];
    this.type = more.type ?? typeOf(code);
    this.field = more.field ?? null;
    this.faults = more.faults ?? [];
    this.hookResults = more.hookResults ?? null;
    this.headers = more.headers ?? noHeaders;
  }
}

export const clientLeft = (): GatewayError => new GatewayError('client_closed', 'the client closed the connection');

/** How the route's clients expect an error to look. */
export type ErrorForm = 'openai' | 'anthropic';

export function errorBody(error: GatewayError, form: ErrorForm): object {
  if (error.hookResults) return denialBody(error, form);
  if (error.code === 'insufficient_scope' || error.code === 'key_type_not_allowed') {
    const permission = { success: false, data: { message: error.message, errorCode: 'AB03' }, ...plainBody(error) };
    return form === 'anthropic' ? { type: 'error', ...permission } : permission;
  }
  return form === 'anthropic'
    ? {
        type: 'error',
        error: { type: anthropicWord(error), message: error.message, code: error.code, ...fieldOf(error) },
      }
    : plainBody(error);
}

/** Clients of guardrails know this form. */
const denialBody = ({ message, type, hookResults }: GatewayError, form: ErrorForm): object =>
  form === 'anthropic'
    ? { type: 'error', error: { type, message }, hook_results: hookResults }
    : { error: { message, type, param: null, code: null }, hook_results: hookResults };

/** What a provider said in another dialect's words. */
const anthropicWord = ({ code, type, status }: GatewayError): string =>
  code === 'upstream_refused' ? asAnthropicType(type, status) : type;

const fieldOf = ({ field }: GatewayError): object => (field === null ? {} : { field });

const plainBody = (error: GatewayError): object => ({
  status: 'failure',
  message: error.message,
  error: {
    message: error.message,
    type: error.type,
    param: null,
    code: error.code,
    ...fieldOf(error),
  },
  ...(error.faults.length > 0 && { errors: error.faults }),
});
