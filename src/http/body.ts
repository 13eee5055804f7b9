/** Reads a JSON body within bounds, and refuses with words that name the fault. */
import { ApiError, tooLarge, unsupportedMedia } from './errors.ts';

/** The parsed body; undefined when the request has none. */
export async function readJsonBody(request: Request, limit: number): Promise<unknown> {
  if (!request.body) return undefined;
  const declared = Number(request.headers.get('content-length') ?? 0);
  if (declared > limit) throw tooLarge(limit);
  const bytes = await readAtMost(request.body, limit);
  if (bytes.length === 0) return undefined;
  const mediaType =
    (request.headers.get('content-type') ?? 'application/json').split(';')[0]?.trim().toLowerCase() ?? '';
  if (mediaType !== 'application/json' && !mediaType.endsWith('+json')) throw unsupportedMedia(mediaType);
  return parseJson(bytes);
}

async function readAtMost(stream: ReadableStream<Uint8Array>, limit: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of stream) {
      size += chunk.byteLength;
      if (size > limit) throw tooLarge(limit);
      chunks.push(chunk);
    }
  } catch (error) {
    // Nobody is left to read this, but a client that leaves is no fault of ours either.
    throw error instanceof ApiError ? error : new ApiError('AB01', 'The body ended before it was complete');
  }
  return Buffer.concat(chunks);
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ApiError('AB01', `The body is not valid JSON: ${reason}`);
  }
}
