/** Reads a JSON body within bounds, and refuses with words that name the fault. */
import { readJson } from '../bounded-json.ts';
import { ApiError, tooLarge, tooSlow, unsupportedMedia } from './errors.ts';

/** Long enough for a megabyte over a poor line; a client that dribbles must not hold a request for ever. */
const patience = 30_000;

/** The parsed body; undefined when the request has none. */
export async function readJsonBody(request: Request, limit: number, patienceMs = patience): Promise<unknown> {
  if (!request.body) return undefined;
  const declared = Number(request.headers.get('content-length') ?? 0);
  if (declared > limit) throw tooLarge(limit);
  const bytes = await readAtMost(request.body, limit, patienceMs);
  if (bytes.length === 0) return undefined;
  const mediaType =
    (request.headers.get('content-type') ?? 'application/json').split(';')[0]?.trim().toLowerCase() ?? '';
  if (mediaType !== 'application/json' && !mediaType.endsWith('+json')) throw unsupportedMedia(mediaType);
  return parseJson(bytes);
}

/** The bytes of a body of any type. */
export async function readBytes(request: Request, limit: number, patienceMs = patience): Promise<Buffer> {
  if (!request.body) return Buffer.alloc(0);
  if (Number(request.headers.get('content-length') ?? 0) > limit) throw tooLarge(limit);
  return readAtMost(request.body, limit, patienceMs);
}

async function readAtMost(stream: ReadableStream<Uint8Array>, limit: number, patienceMs: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  let late = false;
  const reader = stream.getReader();
  const leave = () => void reader.cancel().catch(() => undefined);
  const timer = setTimeout(() => {
    late = true;
    leave();
  }, patienceMs);
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      size += part.value.byteLength;
      if (size > limit) throw tooLarge(limit);
      chunks.push(part.value);
    }
  } catch (error) {
    leave();
    // Nobody is left to read this, but a client that leaves is no fault of ours either.
    if (!late) throw error instanceof ApiError ? error : new ApiError('AB01', 'The body ended before it was complete');
  } finally {
    clearTimeout(timer);
  }
  if (late) throw tooSlow(patienceMs);
  return Buffer.concat(chunks);
}

function parseJson(bytes: Buffer): unknown {
  try {
    return readJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ApiError('AB01', `The body is not valid JSON: ${reason}`);
  }
}
