/** The one place that talks to the administration service: the session's cookie, its CSRF token, and errors as values. */

interface FieldFault {
  location: string;
  path: string;
  message: string;
}

/** Any answer that is not a success, and any call that got no answer. */
export class ApiFault extends Error {
  readonly status: number;
  readonly code: string;
  readonly requestId: string | null;
  readonly fields: readonly FieldFault[];

  constructor(
    message: string,
    more: { status?: number; code?: string; requestId?: string | null; fields?: FieldFault[] } = {},
  ) {
    super(message);
    this.status = more.status ?? 0;
    this.code = more.code ?? '';
    this.requestId = more.requestId ?? null;
    this.fields = more.fields ?? [];
  }
}

type Query = Record<string, string | number | boolean | null | undefined>;

interface KnownSession {
  csrfToken: string;
  organisationId: string;
}

let session: KnownSession | null = null;
let onSessionEnd: () => void = () => undefined;

export function rememberSession(known: KnownSession | null): void {
  session = known;
}

/** Told when the service no longer accepts the session. */
export function whenSessionEnds(listener: () => void): void {
  onSessionEnd = listener;
}

export async function call<T>(
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  more: { query?: Query; body?: object; signal?: AbortSignal } = {},
): Promise<T> {
  const response = await send(method, `/v1${path}${queryText(more.query ?? {})}`, more.body, more.signal);
  const body = await readJson(response);
  if (response.ok) return body as T;
  const fault = faultIn(response, body);
  if (fault.status === 401 && !path.startsWith('/auth/login')) onSessionEnd();
  throw fault;
}

/** Encodes a value that stands in a path. */
export const segment = encodeURIComponent;

async function send(method: string, path: string, body: object | undefined, signal: AbortSignal | undefined) {
  try {
    return await fetch(path, {
      method,
      headers: {
        accept: 'application/json',
        ...(body && { 'content-type': 'application/json' }),
        ...sessionHeaders(method, path),
      },
      credentials: 'same-origin',
      ...(body && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new ApiFault('The service does not answer. Check the connection and try again.');
  }
}

function sessionHeaders(method: string, path: string): Record<string, string> {
  if (!session) return {};
  // Another tab may have switched the session to another organisation; what is on screen must not be done there.
  const bound = !/^\/v1\/(auth|invites)\//.test(path);
  return {
    ...(method !== 'GET' && { 'x-gw-csrf': session.csrfToken }),
    ...(bound && { 'x-gw-organisation-id': session.organisationId }),
  };
}

function queryText(query: Query): string {
  const fields = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== '');
  return fields.length > 0 ? `?${new URLSearchParams(fields.map(([name, value]) => [name, String(value)]))}` : '';
}

async function readJson(response: Response): Promise<unknown> {
  const text = await response.text();
  if (text === '') return {};
  try {
    return JSON.parse(text);
  } catch {
    throw new ApiFault('The service sent an answer that cannot be read.', {
      status: response.status,
      requestId: response.headers.get('x-gw-request-id'),
    });
  }
}

function faultIn(response: Response, body: unknown): ApiFault {
  const data = field(body, 'data');
  const message = field(data, 'message');
  const code = field(data, 'errorCode');
  const errors = field(data, 'errors');
  return new ApiFault(typeof message === 'string' ? message : `The service answered with status ${response.status}.`, {
    status: response.status,
    code: typeof code === 'string' ? code : '',
    requestId: response.headers.get('x-gw-request-id'),
    fields: Array.isArray(errors) ? errors.filter(isFieldFault) : [],
  });
}

function field(holder: unknown, name: string): unknown {
  return typeof holder === 'object' && holder !== null ? (holder as Record<string, unknown>)[name] : undefined;
}

const isFieldFault = (entry: unknown): entry is FieldFault =>
  typeof field(entry, 'path') === 'string' && typeof field(entry, 'message') === 'string';
