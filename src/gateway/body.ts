/** The client's body: read once, parsed when a stage needs its fields, forwarded as the bytes that came unless something changes them. */
import { nestsTooDeep } from '../providers/nesting.ts';
import type { JsonObject } from '../providers/provider.ts';
import type { Deadlines } from './deadlines.ts';
import { GatewayError } from './errors.ts';
import { type FormField, readFormFields } from './form.ts';
import type { GatewayRoute } from './routes.ts';

/** Bytes that can be handed to a request or an answer. */
export type Bytes = Uint8Array<ArrayBuffer>;

export type ClientBody =
  | { form: 'none' }
  | { form: 'json'; bytes: Bytes; json: JsonObject }
  | { form: 'form'; bytes: Bytes; contentType: string; fields: readonly FormField[] }
  /** A realtime session has no body: its parameters stand in the query. */
  | { form: 'query'; parameters: JsonObject }
  /** Read, but not understood: it goes on as it is. */
  | { form: 'bytes'; bytes: Bytes; contentType: string }
  /** Carried through as it arrives; it can be sent only once. */
  | { form: 'stream'; stream: ReadableStream<Uint8Array>; contentType: string | null };

const decoder = new TextDecoder('utf-8', { fatal: true });

export async function readBody(request: Request, route: GatewayRoute, limit: number): Promise<ClientBody> {
  if (route.body === 'none' || !request.body) return { form: 'none' };
  const contentType = request.headers.get('content-type');
  const mediaType = contentType?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (route.body === 'raw') {
    return contentType !== null && mediaType === 'application/json'
      ? readPassedJson(request, contentType, limit)
      : { form: 'stream', stream: request.body, contentType };
  }
  if (mediaType === 'multipart/form-data') {
    const bytes = await readBytes(request, limit);
    return { form: 'form', bytes, contentType: contentType ?? '', fields: readFormFields(bytes, contentType ?? '') };
  }
  if (mediaType.startsWith('audio/')) return { form: 'stream', stream: request.body, contentType };
  if (mediaType !== '' && mediaType !== 'application/json') {
    throw new GatewayError(
      'invalid_content_type',
      `the content type ${mediaType} is not accepted on this route; send application/json or multipart/form-data`,
      { field: 'content-type' },
    );
  }
  const bytes = await readBytes(request, limit);
  if (bytes.length === 0) return { form: 'none' };
  return { form: 'json', bytes, json: parseObject(bytes) };
}

/** JSON that passes through is looked at, so that it can be repeated, routed and checked; what cannot be read still passes. */
async function readPassedJson(request: Request, contentType: string, limit: number): Promise<ClientBody> {
  const bytes = await readBytes(request, limit);
  if (bytes.length === 0) return { form: 'none' };
  try {
    return { form: 'json', bytes, json: parseObject(bytes) };
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
  declaredLength: string | undefined,
  deadlines: Deadlines,
  timeoutMs: number,
): Promise<T> {
  const ms =
    declaredLength === undefined
      ? timeoutMs * unknownLengthFactor
      : timeoutMs + Math.ceil(Number(declaredLength) / slowestBytesPerMs);
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

/** A client that leaves while it sends is no fault of ours. */
export async function readBytes(request: Request, limit: number): Promise<Bytes> {
  try {
    return await collect(request, limit);
  } catch (fault) {
    if (fault instanceof GatewayError) throw fault;
    throw new GatewayError('client_closed', 'the client closed the connection before its body was complete');
  }
}

async function collect(request: Request, limit: number): Promise<Bytes> {
  const declared = request.headers.get('content-length');
  if (declared !== null) {
    if (Number(declared) > limit) throw tooLarge(limit);
    return new Uint8Array(await request.arrayBuffer());
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.length;
    if (size > limit) throw tooLarge(limit);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const tooLarge = (limit: number) => new GatewayError('body_too_large', `the body is larger than ${limit} bytes`);

function parseObject(bytes: Uint8Array): JsonObject {
  let value: unknown;
  try {
    const text = decoder.decode(bytes);
    if (nestsTooDeep(text)) throw new SyntaxError('it is nested too deeply');
    value = JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new GatewayError('invalid_body', `the body is not valid JSON (${reason})`);
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
