/** Takes off the encodings that an answer says its body is in: all at once where all of it is wanted, else as it comes. */
import { pipeline, Readable, type Transform } from 'node:stream';
import {
  brotliDecompressSync,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  gunzipSync,
  inflateRawSync,
  inflateSync,
} from 'node:zlib';
import { WireFault } from '../fault.ts';
import type { AnswerHeaders, ByteReader, ReadBytes } from './answer.ts';
import { type Bytes, collected, type Look, readThrough } from './collected.ts';

type Unpacker = (bytes: Bytes, options: { maxOutputLength: number }) => Bytes;

interface Packing {
  /** At once, on this thread. */
  whole: Unpacker;
  /** On another thread, a piece at a time. */
  elsewhere(options: { chunkSize: number }): Transform;
  /** The runtime's own stream works on this thread, which is much cheaper for short pieces. Null where few bytes may unpack to any number. */
  here: CompressionFormat | null;
}

/** Which packing it is, by the first bytes. */
type Encoding = (opening: Bytes) => Packing;

const gzip: Packing = { whole: gunzipSync, elsewhere: createGunzip, here: 'gzip' };
const zlib: Packing = { whole: inflateSync, elsewhere: createInflate, here: 'deflate' };
const rawDeflate: Packing = { whole: inflateRawSync, elsewhere: createInflateRaw, here: 'deflate-raw' };
const brotli: Packing = { whole: brotliDecompressSync, elsewhere: createBrotliDecompress, here: null };

const encodings: ReadonlyMap<string, Encoding> = new Map<string, Encoding>([
  ['gzip', () => gzip],
  ['x-gzip', () => gzip],
  // Some servers leave out the wrapping that the standard asks for; it begins with the method, which is always 8.
  ['deflate', ([first = 0]) => ((first & 15) === 8 ? zlib : rawDeflate)],
  ['br', () => brotli],
]);

/** What we tell servers that we understand. */
export const understood = 'gzip, deflate, br';

/** Whether an answer is in encodings that can be taken off, or in none. */
export const isUnderstood = (headers: AnswerHeaders): boolean =>
  (headers.get('content-encoding') ?? '')
    .toLowerCase()
    .split(',')
    .every((name) => ['', 'identity'].includes(name.trim()) || encodings.has(name.trim()));

/** What is unpacked on this thread: so little that nobody waits for it. */
const packedHere = 64 * 1024;
const unpackedHere = 1024 * 1024;
/** A thousand times as much may come of it. */
const sliceHere = 2 * 1024;
const pieceElsewhere = 64 * 1024;
/** Where all of it is wanted: many small pieces are much to clear away. */
const pieceOfWhole = 1024 * 1024;
const unpackedInTurn = 256 * 1024;

/** More would be somebody's joke, and every one of them costs. */
const mostEncodings = 3;

/** An answer that cannot be read closes its connection. */
export function decodedBody(body: ByteReader, headers: AnswerHeaders): ByteReader {
  const named = headers.get('content-encoding');
  if (!named) return body;
  try {
    const order = encodingsIn(named);
    return order.length === 0 ? body : new DecodedBody(body, order);
  } catch (fault) {
    // One that has broken by itself is closed already.
    body.cancel().catch(() => undefined);
    throw fault;
  }
}

/** The outermost first. */
function encodingsIn(named: string): Encoding[] {
  const names = named.toLowerCase().split(',');
  if (names.length > mostEncodings) throw new WireFault('InvalidAnswer', 'the answer has too many encodings');
  return names.reverse().flatMap((text) => {
    const name = text.trim();
    if (name === '' || name === 'identity') return [];
    const encoding = encodings.get(name);
    if (!encoding) throw new WireFault('InvalidAnswer', 'the answer is in an encoding that was not asked for');
    return [encoding];
  });
}

class DecodedBody implements ByteReader {
  readonly #encoded: ByteReader;
  readonly #order: readonly Encoding[];
  #reader: ByteReader | null = null;

  constructor(encoded: ByteReader, order: readonly Encoding[]) {
    this.#encoded = encoded;
    this.#order = order;
  }

  read(): Promise<ReadBytes> {
    return this.#reader ? this.#reader.read() : this.#readFirst();
  }

  cancel(): Promise<void> {
    return (this.#reader ?? this.#encoded).cancel();
  }

  /** `look` sees what comes packed and what is unpacked: both are held. */
  async whole(limit: number, look?: Look): Promise<Bytes> {
    if (this.#reader) return readThrough(this, limit, look);
    let bytes = await collected(this.#encoded, limit, look);
    for (const encoding of this.#order) bytes = await unpacked(encoding, bytes, limit, look);
    return bytes;
  }

  async #readFirst(): Promise<ReadBytes> {
    let reader = this.#encoded;
    for (const encoding of this.#order) reader = await opened(reader, encoding);
    this.#reader = reader;
    return reader.read();
  }
}

/** Nothing at all is in no encoding, whatever its head says. */
async function opened(reader: ByteReader, encoding: Encoding): Promise<ByteReader> {
  const first = await reader.read();
  if (first.done) return reader;
  const { here, elsewhere } = encoding(first.value);
  return here
    ? streamOf(reader, first.value).pipeThrough(new DecompressionStream(here)).getReader()
    : unpackedElsewhere(reader, first.value, elsewhere({ chunkSize: pieceElsewhere }));
}

async function unpacked(encoding: Encoding, bytes: Bytes, limit: number, look?: Look): Promise<Bytes> {
  if (bytes.length === 0) return bytes;
  const { whole, elsewhere } = encoding(bytes);
  let refusal: { by: unknown } | null = null;
  const looked = (piece: Bytes) => {
    try {
      look?.(piece);
    } catch (fault) {
      refusal = { by: fault };
      throw fault;
    }
  };
  try {
    const here = bytes.length <= packedHere ? unpackedAtOnce(whole, bytes, Math.min(limit, unpackedHere)) : null;
    if (here) return here;
    const transform = elsewhere({ chunkSize: pieceOfWhole });
    return await readThrough(unpackedElsewhere(only(bytes), bytes.subarray(0, 0), transform), limit, looked);
  } catch (fault) {
    // The reader gives its own reason for stopping.
    if (fault instanceof WireFault || refusal) throw fault;
    throw new WireFault('InvalidAnswer', 'the answer is not in the encoding that it names');
  }
}

/** Null where it would be more than this. */
function unpackedAtOnce(whole: Unpacker, bytes: Bytes, most: number): Bytes | null {
  try {
    return whole(bytes, { maxOutputLength: most });
  } catch (fault) {
    if (fault instanceof RangeError) return null;
    throw fault;
  }
}

/** Whoever reads sets the pace: no more is unpacked than waits to be read. */
function unpackedElsewhere(reader: ByteReader, first: Bytes, transform: Transform): ByteReader {
  // Faults on either side end both, and are told by whoever reads.
  pipeline(Readable.from(piecesOf(reader, first)), transform, () => undefined);
  const pieces: AsyncIterator<Buffer<ArrayBuffer>> = transform[Symbol.asyncIterator]();
  let sinceTurn = 0;
  return {
    async read(): Promise<ReadBytes> {
      // The other thread may be so quick that its pieces follow each other without end, and no connection is looked at.
      if (sinceTurn >= unpackedInTurn) {
        sinceTurn = 0;
        await new Promise((resolve) => setImmediate(resolve));
      }
      const { done, value } = await pieces.next();
      sinceTurn += value?.length ?? 0;
      return done ? { done: true } : { done: false, value };
    },
    async cancel() {
      transform.destroy();
      await reader.cancel();
    },
  };
}

async function* piecesOf(reader: ByteReader, first: Bytes): AsyncGenerator<Bytes> {
  if (first.length > 0) yield first;
  for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
}

/** Bytes that are here already. */
function only(bytes: Bytes): ByteReader {
  let next: ReadBytes = { done: false, value: bytes };
  const end: ReadBytes = { done: true };
  return {
    read() {
      const read = next;
      next = end;
      return Promise.resolve(read);
    },
    cancel: () => Promise.resolve(),
  };
}

/** In slices, between which others have their turn. */
function streamOf(reader: ByteReader, first: Bytes): ReadableStream<Bytes> {
  let waiting = first;
  let cut = false;
  return new ReadableStream(
    {
      async pull(controller) {
        if (waiting.length === 0) {
          const { done, value } = await reader.read();
          if (done) {
            controller.close();
            return;
          }
          waiting = value;
        } else if (cut) {
          await new Promise((resolve) => setImmediate(resolve));
        }
        controller.enqueue(waiting.subarray(0, sliceHere));
        cut = waiting.length > sliceHere;
        waiting = waiting.subarray(sliceHere);
      },
      cancel: () => reader.cancel(),
    },
    { highWaterMark: 0 },
  );
}
