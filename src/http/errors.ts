/** The catalogue of what the administration service answers when it refuses. Nobody writes an error body by hand. */
import { UntracedError } from '../untraced-error.ts';
import type { Bytes } from '../wire/client/collected.ts';
import type { Reply } from '../wire/server/reply.ts';

/** Each code stands for one status, the exceptions aside that are made below. The docs show these very texts. */
export const adminErrorCatalogue = {
  AB01: {
    status: 400,
    remedy:
      'A field is missing, of the wrong type, out of bounds, or does not fit the others: mend what `errors` names. 413 for a body above 1 MiB, 415 for one that is no JSON, 408 for one that is not complete after 30 seconds.',
  },
  AB02: {
    status: 404,
    remedy:
      'No such route, or an id that cannot be one: `/docs` shows them all. 405 with `Allow` where the path has other methods.',
  },
  AB03: { status: 403, remedy: 'The caller is known and may not do this. Use a key or a role that may.' },
  AB04: {
    status: 500,
    remedy:
      'Our fault: look in the log under the request id. 503 with `retry-after` while the database does not answer; nothing was changed, unless it fell silent in the very moment of saving.',
  },
  AB05: {
    status: 401,
    remedy: 'No credential, or one that does not count (any more). Send an active key, or sign in again.',
  },
  AB06: { status: 429, remedy: 'Too many calls. Come back after `retry-after` seconds.' },
  AB07: {
    status: 409,
    remedy:
      'It exists already, or something that depends on it does. Choose another name, or remove what depends on it.',
  },
  AB08: {
    status: 404,
    remedy:
      'The thing named does not exist for this caller. Check its id and the workspace of the key. 410 for a link that was good once.',
  },
  AB09: { status: 402, remedy: 'A quota of the installation is used up. No call of this release answers so.' },
} as const;

type ErrorCode = keyof typeof adminErrorCatalogue;
export const errorCodes = Object.keys(adminErrorCatalogue) as ErrorCode[];

export interface FieldError {
  location: 'body' | 'query' | 'path' | 'header';
  /** The field as a path: `usage_limits.credit_limit`, `users.0.role`. */
  path: string;
  message: string;
}

export class ApiError extends UntracedError {
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
    this.status = more.status ?? adminErrorCatalogue[code].status;
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
/** A field that the caller may not use, or a value of it. */
export const forbiddenField = (location: FieldError['location'], path: string, message: string): ApiError =>
  new ApiError('AB03', `${path}: ${message}`, { errors: [{ location, path, message }] });
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

export const tooSlow = (timeoutMs: number): ApiError =>
  new ApiError('AB01', `The body was not complete after ${timeoutMs / 1000} seconds`, {
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

export const buffersFull = (): ApiError =>
  new ApiError('AB04', 'The bodies that are being read leave no room for this one; try again in a moment', {
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
