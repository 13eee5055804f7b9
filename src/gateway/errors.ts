/** What the data plane answers when it is the gateway itself that refuses or fails. Messages say what to do. */
import { UntracedError } from '../untraced-error.ts';
import { errorCatalogue, type GatewayErrorCode } from './error-catalogue.ts';
import { asAnthropicType } from './response/anthropic-errors.ts';

const typeOf = (code: GatewayErrorCode): string => {
  const entry = errorCatalogue[code];
  return 'type' in entry ? entry.type : entry.status >= 500 ? 'api_error' : 'invalid_request_error';
};

/** Lets a client tell our words from a provider's. */
const prefix = 'Gateway error: ';

const noHeaders: Readonly<Record<string, string>> = {};

export class GatewayError extends UntracedError {
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
  /** The provider's own error, where it is one. */
  readonly ofProvider: ((form: ErrorForm) => object) | null;

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
      ofProvider?: (form: ErrorForm) => object;
    } = {},
  ) {
    super(more.spoken ? message : prefix + message);
    this.code = code;
    this.status = more.status ?? errorCatalogue[code].status;
    this.type = more.type ?? typeOf(code);
    this.field = more.field ?? null;
    this.faults = more.faults ?? [];
    this.hookResults = more.hookResults ?? null;
    this.headers = more.headers ?? noHeaders;
    this.ofProvider = more.ofProvider ?? null;
  }
}

export const clientLeft = (): GatewayError => new GatewayError('client_closed', 'the client closed the connection');

/** How the route's clients expect an error to look. */
export type ErrorForm = 'openai' | 'anthropic';

export function errorBody(error: GatewayError, form: ErrorForm): object {
  if (error.hookResults) return denialBody(error, form);
  if (error.ofProvider) return error.ofProvider(form);
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
