/** Why a token does not count. Both planes answer it in their own form. */

const statusOf = {
  /** The token itself is wrong: signature, expiry, key, algorithm, a claim. */
  invalid_jwt: 401,
  /** The organisation does not take part. */
  jwt_not_allowed: 403,
  /** The workspace does not exist there, or the person does not belong to it. */
  workspace_forbidden: 403,
  /** No scope is left that a token may have. */
  insufficient_scope: 403,
  /** The key set could not be fetched, so that nothing can be said about the token. */
  jwt_keys_unavailable: 503,
} as const;

export type JwtRefusalCode = keyof typeof statusOf;

export class JwtRefused extends Error {
  readonly code: JwtRefusalCode;
  readonly status: 401 | 403 | 503;
  /** The organisation that the token names, where it exists: its audit trail hears of this. */
  readonly organisationId: string | null;

  constructor(code: JwtRefusalCode, message: string, organisationId: string | null = null) {
    super(message);
    this.code = code;
    this.status = statusOf[code];
    this.organisationId = organisationId;
  }

  /** The same refusal, once it is known whom it concerns. */
  at(organisationId: string): JwtRefused {
    return this.organisationId === null ? new JwtRefused(this.code, this.message, organisationId) : this;
  }
}
