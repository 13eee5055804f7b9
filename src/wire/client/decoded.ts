/** Takes off the encodings that an answer says its body is in: all at once where all of it is wanted, else as it comes. */
import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';
import { WireFault } from '../fault.ts';
import type { AnswerHeaders, ByteReader, ReadBytes } from './answer.ts';
import { type Bytes, bodyTooLarge, collected, readThrough } from './collected.ts';

type Unpacker = (bytes: Bytes, options: { maxOutputLength: number }) => Bytes;

interface Packing {
  /** The runtime knows more of them than the standard. */
  stream: CompressionFormat | 'brotli' | 'zstd';
  /** Null where it would take a part for the whole. */
  whole: Unpacker | null;
}

/** Which packing it is, by the first bytes. */
type Encoding = (opening: Bytes) => Packing;

const gzip: Packing = { stream: 'gzip', whole: gunzipSync };
const zlib: Packing = { stream: 'deflate', whole: inflateSync };
const rawDeflate: Packing = { stream: 'deflate-raw', whole: inflateRawSync };
const brotli: Packing = { stream: 'brotli', whole: brotliDecompressSync };
const zstd: Packing = { stream: 'zstd', whole: null };

const encodings: ReadonlyMap<string, Encoding> = new Map<string, Encoding>([
  ['gzip', () => gzip],
  ['x-gzip', () => gzip],
  // Some servers leave out the wrapping that the standard asks for; it begins with the method, which is always 8.
  ['deflate', ([first = 0]) => ((first & 15) === 8 ? zlib : rawDeflate)],
  ['br', () => brotli],
  ['zstd', () => zstd],
]);

/** What we tell servers that we understand. */
export const understood = 'gzip, deflate, br, zstd';

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

  async whole(limit: number): Promise<Bytes> {
    if (this.#reader) return readThrough(this, limit);
    let bytes = await collected(this.#encoded, limit);
    for (const encoding of this.#order) bytes = await unpacked(encoding, bytes, limit);
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
  const { stream } = encoding(first.value);
  return streamOf(reader, first.value)
    .pipeThrough(new DecompressionStream(stream as CompressionFormat))
    .getReader();
}

async function unpacked(encoding: Encoding, bytes: Bytes, limit: number): Promise<Bytes> {
  if (bytes.length === 0) return bytes;
  const { whole } = encoding(bytes);
  try {
    return whole
      ? whole(bytes, { maxOutputLength: limit })
      : await readThrough(await opened(only(bytes), encoding), limit);
  } catch (fault) {
    if (fault instanceof WireFault) throw fault;
    if (fault instanceof RangeError) throw bodyTooLarge(limit);
    throw new WireFault('InvalidAnswer', 'the answer is not in the encoding that it names');
  }
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

function streamOf(reader: ByteReader, first: Bytes): ReadableStream<Bytes> {
  let waiting: Bytes | null = first;
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = waiting ? { done: false, value: waiting } : await reader.read();
        waiting = null;
        if (done || !value) controller.close();
        else controller.enqueue(value);
      },
      cancel: () => reader.cancel(),
    },
    { highWaterMark: 0 },
  );
}
