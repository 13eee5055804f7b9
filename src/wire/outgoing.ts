/** The bytes of a request on their way out: what the connection does not take at once waits until it does. */
import type { Bytes } from './collected.ts';
import { WireFault } from './fault.ts';

/** Takes as many of the bytes as there is room for, and tells how many; less than 0 when it is closed. */
type Taker = (bytes: Uint8Array) => number;

/** Small bodies travel with their head, in one packet where they fit. */
const smallBody = 64 * 1024;

export class Outgoing {
  readonly #take: Taker;
  #waiting: Uint8Array[] = [];
  #drained: (() => void) | null = null;
  #source: ReadableStreamDefaultReader<Uint8Array> | null = null;
  #closed = false;

  constructor(take: Taker) {
    this.#take = take;
  }

  /** All that there is to send has been handed over. */
  get done(): boolean {
    return this.#waiting.length === 0 && this.#source === null;
  }

  send(head: string, body: Bytes | null): void {
    const together = body !== null && body.length <= smallBody ? body.length : 0;
    const bytes = Buffer.allocUnsafe(head.length + together);
    bytes.write(head, 'latin1');
    if (together > 0 && body) bytes.set(body, head.length);
    this.#write(bytes);
    if (body && body.length > together) this.#write(body);
  }

  /** Sends a stream at the pace of the connection: in chunks, or as many bytes as were announced. */
  async sendStream(stream: ReadableStream<Uint8Array>, announced: number | null): Promise<void> {
    const source = stream.getReader();
    this.#source = source;
    let sent = 0;
    for (;;) {
      const { done, value } = await source.read();
      // Whoever closed it has told the source, and knows why.
      if (this.#closed) return;
      if (done) break;
      if (value.length === 0) continue;
      sent += value.length;
      if (announced !== null && sent > announced) throw wrongLength();
      this.#write(announced === null ? asChunk(value) : value);
      // Nothing more is asked for before this has gone, so that its memory can be used again.
      if (this.#waiting.length > 0) await this.#room();
    }
    if (announced === null) this.#write(lastChunk);
    else if (sent !== announced) throw wrongLength();
    this.#source = null;
  }

  /** There is room again. */
  drain(): void {
    for (let next = this.#waiting[0]; next; next = this.#waiting[0]) {
      const taken = Math.max(0, this.#take(next));
      if (taken < next.length) {
        this.#waiting[0] = next.subarray(taken);
        return;
      }
      this.#waiting.shift();
    }
    this.#goOn();
  }

  /** Nothing will be sent any more: whoever waits for room must not wait for ever, nor whoever makes the body go on making it. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#waiting = [];
    this.#goOn();
    // A source that cannot be stopped has nothing to tell that matters now.
    this.#source?.cancel().catch(() => undefined);
  }

  #goOn(): void {
    const drained = this.#drained;
    this.#drained = null;
    drained?.();
  }

  #room(): Promise<void> {
    return new Promise((resolve) => {
      this.#drained = resolve;
    });
  }

  #write(bytes: Uint8Array): void {
    if (this.#closed) return;
    if (this.#waiting.length > 0) {
      this.#waiting.push(bytes);
      return;
    }
    const taken = Math.max(0, this.#take(bytes));
    if (taken < bytes.length) this.#waiting.push(bytes.subarray(taken));
  }
}

const wrongLength = (): WireFault => new WireFault('WrongBodyLength', 'the body has another length than was announced');

const lastChunk = Buffer.from('0\r\n\r\n');

/** In one piece, so that it travels in one. */
function asChunk(bytes: Uint8Array): Uint8Array {
  const size = `${bytes.length.toString(16)}\r\n`;
  const chunk = Buffer.allocUnsafe(size.length + bytes.length + 2);
  chunk.write(size, 'latin1');
  chunk.set(bytes, size.length);
  chunk.write('\r\n', size.length + bytes.length, 'latin1');
  return chunk;
}
