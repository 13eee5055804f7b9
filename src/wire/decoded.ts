/** Takes off the encodings that an answer says its body is in: all at once where all of it is wanted, else as it comes. */
import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import type { AnswerHeaders, ByteReader, ReadBytes } from './answer.ts';
import { type Bytes, collected, tooLarge } from './collected.ts';
import { WireFault } from './fault.ts';

interface Encoding {
  /** The runtime knows more of them than the standard. */
  stream: CompressionFormat | 'brotli' | 'zstd';
  whole(bytes: Bytes, options: { maxOutputLength: number }): Bytes;
}

const gzip: Encoding = { stream: 'gzip', whole: gunzipSync };

const encodings: ReadonlyMap<string, Encoding> = new Map([
  ['gzip', gzip],
  ['x-gzip', gzip],
  ['deflate', { stream: 'deflate', whole: inflateSync }],
  ['br', { stream: 'brotli', whole: brotliDecompressSync }],
  ['zstd', { stream: 'zstd', whole: zstdDecompressSync }],
]);

/** What we tell servers that we understand. */
export const understood = 'gzip, deflate, br, zstd';

/** More would be somebody's joke, and every one of them costs. */
const mostEncodings = 3;

export function decoded(body: ByteReader, headers: AnswerHeaders): ByteReader {
  const named = headers.get('content-encoding');
  if (!named) return body;
  const order = encodingsIn(named);
  return order.length === 0 ? body : new DecodedBody(body, order);
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
    this.#reader ??= this.#order.reduce<ByteReader>(
      (reader, { stream }) =>
        streamOf(reader)
          .pipeThrough(new DecompressionStream(stream as CompressionFormat))
          .getReader(),
      this.#encoded,
    );
    return this.#reader.read();
  }

  cancel(): Promise<void> {
    return (this.#reader ?? this.#encoded).cancel();
  }

  async whole(limit: number): Promise<Bytes> {
    let bytes = await collected(this.#encoded, limit);
    for (const { whole } of this.#order) bytes = unpacked(whole, bytes, limit);
    return bytes;
  }
}

function unpacked(whole: Encoding['whole'], bytes: Bytes, limit: number): Bytes {
  try {
    return whole(bytes, { maxOutputLength: limit });
  } catch (fault) {
    if (
      fault instanceof RangeError ||
      (fault instanceof Error && 'code' in fault && fault.code === 'ERR_BUFFER_TOO_LARGE')
    )
      throw tooLarge(limit);
    throw new WireFault('InvalidAnswer', 'the answer is not in the encoding that it names');
  }
}

const streamOf = (reader: ByteReader): ReadableStream<Bytes> =>
  new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: () => reader.cancel(),
    },
    { highWaterMark: 0 },
  );
