/** The client's body: read once, parsed when a stage needs its fields, forwarded as the bytes that came unless something changes them. */

import { JsonMeter, readJsonBytes } from '../../bounded-json.ts';
import { promptPreview } from '../../logs/preview.ts';
import type { MaybePromise } from '../../maybe-promise.ts';
import { memoize } from '../../memoize.ts';
import type { JsonObject } from '../../providers/provider.ts';
import type { ByteReader } from '../../wire/client/answer.ts';
import { type Bytes, collected, type Look } from '../../wire/client/collected.ts';
import { streamOf } from '../../wire/client/streamed.ts';
import { WireFault } from '../../wire/fault.ts';
import type { Incoming } from '../../wire/server/incoming.ts';
import { GatewayError } from '../errors.ts';
import type { Deadlines } from '../upstream/deadlines.ts';
import { counted, countedFrom, type HoldBytes } from './body-budget.ts';
import { type FormField, readFormFields } from './form.ts';
import type { GatewayRoute } from './routes.ts';

/** Bytes that can be handed to a request or an answer. */
export type { Bytes };

/** A body in JSON. */
export class JsonBody {
  readonly form = 'json';
  #bytes: Bytes;
  #json: JsonObject | null;
  #preview: string | null = null;

  constructor(bytes: Bytes, json: JsonObject) {
    this.#bytes = bytes;
    this.#json = json;
  }

  get bytes(): Bytes {
    return this.#bytes;
  }

  get json(): JsonObject {
    this.#json ??= parseObject(this.#bytes);
    return this.#json;
  }

  /** The beginning of what is asked, as lists of logs show it. */
  get preview(): string {
    return this.#preview ?? promptPreview(this.json);
  }

  /** Nobody will ask for its fields soon: a stream takes long, and seldom is another target asked behind it. */
  setAside(): void {
    // A copy, since a piece of a text keeps all of it alive.
    this.#preview = Buffer.from(this.preview).toString();
    this.#json = null;
    // They mostly came with a head, which they would keep alive.
    if (this.#bytes.buffer.byteLength > this.#bytes.length) this.#bytes = new Uint8Array(this.#bytes);
  }
}

export type ClientBody =
  | { form: 'none' }
  | JsonBody
  | { form: 'form'; bytes: Bytes; contentType: string; fields: readonly FormField[] }
  /** A realtime session has no body: its parameters stand in the query. */
  | { form: 'query'; parameters: JsonObject }
  /** Read, but not understood: it goes on as it is. */
  | { form: 'bytes'; bytes: Bytes; contentType: string }
  /** Carried through as it arrives; it can be sent only once. */
  | { form: 'stream'; stream: ReadableStream<Bytes>; contentType: string | null };

const decoder = new TextDecoder('utf-8', { fatal: true });

const noBody: ClientBody = { form: 'none' };

/** At once where all of it came with its head, as most do. */
export function readBody(
  request: Incoming,
  route: GatewayRoute,
  limit: number,
  hold: HoldBytes,
): MaybePromise<ClientBody> {
  const { body } = request;
  if (route.body === 'none' || !body) return noBody;
  const contentType = request.headers.get('content-type');
  const mediaType = contentType === null ? '' : mediaTypeOf(contentType);
  const form = formOf(route, mediaType);
  if (form === null) return { form: 'stream', stream: streamOf(body), contentType };
  const meter = form === 'form' || (request.length ?? measuredFrom) < measuredFrom ? null : new JsonMeter();
  const bytes = readDeclared(request, body, limit, hold, meter ? lookOf(form, meter) : undefined);
  return bytes instanceof Promise
    ? bytes.then((known) => understood(form, known, contentType ?? '', meter))
    : understood(form, bytes, contentType ?? '', meter);
}

/** Larger ones are looked through as they come, so that what is refused need not come whole, and nobody waits for one look at all of it. */
const measuredFrom = 64 * 1024;

/** What only passes through may be anything. */
const lookOf =
  (form: 'json' | 'passed json' | 'form', meter: JsonMeter): Look =>
  (piece) => {
    const excess = meter.push(piece);
    if (excess !== null && form === 'json') throw invalidJson(excess);
  };

/** Throws for a body that the route does not take, before anything of it is read. */
export function requireContentType({ body, headers }: Incoming, route: GatewayRoute): void {
  if (route.body === 'none' || !body) return;
  const contentType = headers.get('content-type');
  if (contentType !== null) formOf(route, mediaTypeOf(contentType));
}

const mediaTypeOf = memoize((contentType) => contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '');

/** What the body is to be read as; null when it is carried through unread. */
function formOf(route: GatewayRoute, mediaType: string): 'json' | 'passed json' | 'form' | null {
  if (route.body === 'raw') return mediaType === 'application/json' ? 'passed json' : null;
  if (mediaType === '' || mediaType === 'application/json') return 'json';
  if (mediaType === 'multipart/form-data') return 'form';
  if (mediaType.startsWith('audio/')) return null;
  throw new GatewayError(
    'invalid_content_type',
    `the content type ${mediaType} is not accepted on this route; send application/json or multipart/form-data`,
    { field: 'content-type' },
  );
}

function understood(
  form: 'json' | 'passed json' | 'form',
  bytes: Bytes,
  contentType: string,
  meter: JsonMeter | null,
): ClientBody {
  if (form === 'form') return { form, bytes, contentType, fields: readFormFields(bytes, contentType) };
  if (bytes.length === 0) return noBody;
  if (form === 'json') return new JsonBody(bytes, parseObject(bytes, meter));
  // JSON that passes through is looked at, so that it can be repeated, routed and checked; what cannot be read still passes.
  try {
    return new JsonBody(bytes, parseObject(bytes, meter));
  } catch {
    return { form: 'bytes', bytes, contentType };
  }
}

/** The slowest line that is waited for: 10 kB a second. */
const slowestBytesPerMs = 10;
/** How much longer a body may take that does not say how long it is. */
const unknownLengthFactor = 10;

/** A client that dribbles must not hold a request for ever. */
export function inTime<T>(
  reading: Promise<T>,
  declaredLength: number | null,
  deadlines: Deadlines,
  timeoutMs: number,
): Promise<T> {
  const ms =
    declaredLength === null
      ? timeoutMs * unknownLengthFactor
      : timeoutMs + Math.ceil(declaredLength / slowestBytesPerMs);
  return new Promise((resolve, reject) => {
    const deadline = deadlines.set(ms, () =>
      reject(new GatewayError('body_too_slow', `the body did not arrive within ${ms} ms`)),
    );
    reading.then(
      (value) => {
        deadline.clear();
        resolve(value);
      },
      (fault) => {
        deadline.clear();
        reject(fault);
      },
    );
  });
}

/** What says that it is too large is not read at all. */
function readDeclared(
  { length }: Incoming,
  body: ByteReader,
  limit: number,
  hold: HoldBytes,
  look: Look | undefined,
): MaybePromise<Bytes> {
  if ((length ?? 0) > limit) throw tooLarge(limit);
  if (length === null) return readBytes(counted(body, hold), limit, look);
  if (length >= countedFrom) hold(length);
  return readBytes(body, limit, look);
}

export function readBytes(body: ByteReader, limit: number, look?: Look): MaybePromise<Bytes> {
  try {
    const bytes = collected(body, limit, look);
    return bytes instanceof Promise ? awaited(bytes, limit) : bytes;
  } catch (fault) {
    throw unread(fault, limit);
  }
}

async function awaited(bytes: Promise<Bytes>, limit: number): Promise<Bytes> {
  try {
    return await bytes;
  } catch (fault) {
    throw unread(fault, limit);
  }
}

/** A client that leaves while it sends is no fault of ours. */
function unread(fault: unknown, limit: number): GatewayError {
  if (fault instanceof GatewayError) return fault;
  const code = fault instanceof WireFault ? fault.code : null;
  if (code === 'BodyTooLarge') return tooLarge(limit);
  if (code === 'InvalidBody') return new GatewayError('invalid_body', 'the body is sent in chunks that are none');
  return new GatewayError('client_closed', 'the client closed the connection before its body was complete');
}

const tooLarge = (limit: number) => new GatewayError('body_too_large', `the body is larger than ${limit} bytes`);

const invalidJson = (reason: string) => new GatewayError('invalid_body', `the body is not valid JSON (${reason})`);

function parseObject(bytes: Uint8Array, meter: JsonMeter | null = null): JsonObject {
  let value: unknown;
  try {
    value = readJsonBytes(bytes, decoder, meter);
  } catch (error) {
    throw invalidJson(error instanceof Error ? error.message : String(error));
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new GatewayError('invalid_body', 'the body must be a JSON object');
  }
  return value as JsonObject;
}

/** The top-level parameters that routing may look at: JSON fields, a form's text fields, or a session's query. */
export function parametersOf(body: ClientBody): JsonObject {
  if (body.form === 'json') return body.json;
  if (body.form === 'query') return body.parameters;
  if (body.form === 'form') return Object.fromEntries(body.fields.map((field) => [field.name, field.value]));
  return {};
}
