/** From whatever went wrong to the refusal that a caller is told. */
import { ApiError, forbidden, notReady, storeAway, unauthenticated } from '../../http/errors.ts';
import type { JwtRefused } from '../../identity/jwt/refusal.ts';
import { isAway } from '../../store/unavailable.ts';
import type { AuditNote } from './endpoint.ts';

/** A refusal of an open route that still knows whom it concerns, such as a sign-in with a wrong password. */
export class AttributedError extends ApiError {
  readonly note: AuditNote;

  constructor(error: ApiError, note: AuditNote) {
    super(error.code, error.message, { status: error.status, errors: error.errors, headers: { ...error.headers } });
    this.note = note;
  }
}

export function refusalOf(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return isAway(error) ? storeAway() : new ApiError('AB04', 'Something went wrong on our side');
}

export function refusedCredential(reason: JwtRefused | null): ApiError {
  if (!reason) return unauthenticated('This credential is unknown, expired or revoked');
  if (reason.status === 503) return notReady(reason.message);
  return reason.status === 403 ? forbidden(reason.message) : unauthenticated(reason.message);
}
