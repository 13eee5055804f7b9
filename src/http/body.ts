/** Reads a JSON body within bounds, and refuses with words that name the fault. */
import { readJson } from '../bounded-json.ts';
import { ApiError, buffersFull, tooLarge, tooSlow, unsupportedMedia } from './errors.ts';

/** Long enough for a megabyte over a poor line; a client that dribbles must not hold a request for ever. */
const patience = 30_000;

/** Memory that bodies share: those of all, and those of one organisation. */
export interface BodyRoom {
  /** False where there is none left. */
  take(bytes: number): boolean;
  give(bytes: number): void;
}

export interface ReadingTerms {
  timeoutMs?: number;
  /** Where large bodies are counted while they come; absent for those that are small at most. */
  room?: BodyRoom;
}

/** Smaller ones come by the thousand, and their number is bounded by the connections. */
const countedFrom = 256 * 1024;

/** The parsed body; undefined when the request has none. */
export async function readJsonBody(request: Request, limit: number, terms: ReadingTerms = {}): Promise<unknown> {
  if (!request.body) return undefined;
  const declared = Number(request.headers.get('content-length') ?? 0);
  if (declared > limit) throw tooLarge(limit);
  const bytes = await readAtMost(request.body, limit, terms);
  if (bytes.length === 0) return undefined;
  const mediaType =
    (request.headers.get('content-type') ?? 'application/json').split(';')[0]?.trim().toLowerCase() ?? '';
  if (mediaType !== 'application/json' && !mediaType.endsWith('+json')) throw unsupportedMedia(mediaType);
  return parseJson(bytes);
}

/** The bytes of a body of any type. */
export async function readBytes(request: Request, limit: number, terms: ReadingTerms = {}): Promise<Buffer> {
  if (!request.body) return Buffer.alloc(0);
  if (Number(request.headers.get('content-length') ?? 0) > limit) throw tooLarge(limit);
  return readAtMost(request.body, limit, terms);
}

async function readAtMost(
  stream: ReadableStream<Uint8Array>,
  limit: number,
  { timeoutMs = patience, room }: ReadingTerms,
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  let held = 0;
  let late = false;
  const reader = stream.getReader();
  const leave = () => void reader.cancel().catch(() => undefined);
  const timer = setTimeout(() => {
    late = true;
    leave();
  }, timeoutMs);
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      size += part.value.byteLength;
      if (size > limit) throw tooLarge(limit);
      if (room && size >= countedFrom && size > held) {
        // By whole steps, so that not every piece costs.
        const more = Math.ceil((size - held) / countedFrom) * countedFrom;
        if (!room.take(more)) throw buffersFull();
        held += more;
      }
      chunks.push(part.value);
    }
  } catch (error) {
    leave();
    // Nobody is left to read this, but a client that leaves is no fault of ours either.
    if (!late) throw error instanceof ApiError ? error : new ApiError('AB01', 'The body ended before it was complete');
  } finally {
    clearTimeout(timer);
    if (held > 0) room?.give(held);
  }
  if (late) throw tooSlow(timeoutMs);
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
