/** Errors of OAuth: a word that programs read, a sentence for people, and nothing of our insides. */
import { UntracedError } from '../untraced-error.ts';
export type OauthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'
  | 'invalid_scope'
  | 'invalid_target'
  | 'access_denied'
  | 'invalid_redirect_uri'
  | 'invalid_client_metadata'
  | 'temporarily_unavailable'
  | 'slow_down';

const statuses: Partial<Record<OauthErrorCode, number>> = {
  invalid_client: 401,
  access_denied: 403,
  temporarily_unavailable: 503,
  slow_down: 429,
};

export class OauthError extends UntracedError {
  readonly code: OauthErrorCode;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: OauthErrorCode,
    description: string,
    status?: number,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(description);
    this.code = code;
    this.status = status ?? statuses[code] ?? 400;
    this.headers = this.status === 401 ? { 'www-authenticate': 'Basic realm="gw"', ...headers } : headers;
  }

  get body(): object {
    return { error: this.code, error_description: this.message };
  }
}
