/** The catalogue of what the administration service answers when it refuses. Nobody writes an error body by hand. */
import type { Bytes } from '../wire/client/collected.ts';
import type { Reply } from '../wire/server/reply.ts';

/** Each code stands for one status; the exceptions are named where they are made. */
const statusOf = {
  /** A field is missing, of the wrong type, out of bounds, or does not fit the others. */
  AB01: 400,
  /** No such route, or an id that cannot be one. */
  AB02: 404,
  /** The caller is known and may not do this. */
  AB03: 403,
  /** Our fault; the log has the cause under the request id. */
  AB04: 500,
  /** No credential, or one that does not count (any more). */
  AB05: 401,
  /** Too many calls; `retry-after` says when to come back. */
  AB06: 429,
  /** It exists already, or something that depends on it does. */
  AB07: 409,
  /** The thing named does not exist for this caller. */
  AB08: 404,
  /** A quota of the installation is used up. */
  AB09: 402,
} as const;

type ErrorCode = keyof typeof statusOf;
export const errorCodes = Object.keys(statusOf) as ErrorCode[];

export interface FieldError {
  location: 'body' | 'query' | 'path' | 'header';
  /** The field as a path: `usage_limits.credit_limit`, `users.0.role`. */
  path: string;
  message: string;
}

export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly errors: readonly FieldError[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    message: string,
    more: { status?: number; errors?: readonly FieldError[]; headers?: Record<string, string> } = {},
  ) {
    super(message);
    this.code = code;
    this.status = more.status ?? statusOf[code];
    this.errors = more.errors ?? [];
    this.headers = more.headers ?? {};
  }
}

/** Several wrong fields; the message names each, so that a client that shows only it still helps. */
export const invalidFields = (errors: readonly FieldError[]): ApiError =>
  new ApiError('AB01', errors.map((e) => (e.path ? `${e.path}: ${e.message}` : e.message)).join('; '), { errors });

/** One wrong field of the body. */
export const invalid = (path: string, message: string): ApiError =>
  invalidFields([{ location: 'body', path, message }]);

export const invalidQuery = (path: string, message: string): ApiError =>
  invalidFields([{ location: 'query', path, message }]);

export const unauthenticated = (message: string): ApiError => new ApiError('AB05', message);
export const forbidden = (message: string): ApiError => new ApiError('AB03', message);
export const notFound = (what: string): ApiError => new ApiError('AB08', `No such ${what}`);
export const conflict = (message: string): ApiError => new ApiError('AB07', message);
export const noSuchRoute = (message: string): ApiError => new ApiError('AB02', message);

/** The path is there, the method is not. Whoever may read a thing may ask for its headers alone. */
export function methodNotAllowed(method: string, offered: readonly string[]): ApiError {
  const allow = [...offered, ...(offered.includes('GET') ? ['HEAD'] : [])].sort().join(', ');
  return new ApiError('AB02', `${method} is not offered here; use ${allow}`, { status: 405, headers: { allow } });
}

/** An invite or a link that was good once. */
export const gone = (message: string): ApiError => new ApiError('AB08', message, { status: 410 });

export const tooLarge = (limit: number): ApiError =>
  new ApiError('AB01', `The body is larger than ${limit} bytes`, { status: 413 });

export const tooSlow = (patienceMs: number): ApiError =>
  new ApiError('AB01', `The body was not complete after ${patienceMs / 1000} seconds`, {
    status: 408,
    // What is still to come of the body must not be taken for the next request.
    headers: { connection: 'close' },
  });

export const unsupportedMedia = (found: string): ApiError =>
  new ApiError('AB01', `Send the body as application/json, not as ${found}`, { status: 415 });

export const tooMany = (retryAfterSeconds: number, message: string): ApiError =>
  new ApiError('AB06', message, { headers: { 'retry-after': String(retryAfterSeconds) } });

/** The state store does not serve at the moment; nothing was changed. */
export const storeAway = (): ApiError =>
  new ApiError('AB04', 'The database does not answer at the moment; try again', {
    status: 503,
    headers: { 'retry-after': '1' },
  });

export const notReady = (message: string): ApiError => new ApiError('AB04', message, { status: 503 });

export function errorResponse(error: ApiError, requestId: string): Response {
  const { status, headers, body } = errorReply(error, requestId);
  return new Response(body, { status, headers });
}

/** The same for a listener that speaks for nobody. */
export function errorReply(error: ApiError, requestId: string): Reply & { body: Bytes } {
  const body = {
    success: false,
    data: {
      message: error.message,
      errorCode: error.code,
      ...(error.errors.length > 0 && { errors: error.errors }),
    },
    request_id: requestId,
  };
  const headers = { 'content-type': 'application/json;charset=utf-8', ...error.headers, 'x-gw-request-id': requestId };
  return { status: error.status, headers, body: Buffer.from(JSON.stringify(body)) };
}
