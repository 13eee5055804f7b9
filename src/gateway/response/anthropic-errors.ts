/** Kinds of error in the words of Anthropic's API, which its clients go by. */

const byStatus: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

const known: ReadonlySet<string> = new Set([...Object.values(byStatus), 'api_error']);

export const anthropicType = (status: number): string =>
  byStatus[status] ?? (status >= 400 && status < 500 ? 'invalid_request_error' : 'api_error');

/** A provider's own word where it is one of these. */
export const asAnthropicType = (type: string, status: number): string =>
  known.has(type) ? type : anthropicType(status);
