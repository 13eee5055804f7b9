/** Bytes on their way out over a connection: what it does not take at once waits until it does. */
import { WireFault } from './fault.ts';

/** Takes as many of the bytes from here to there as there is room for, and tells how many; less than 0 when it is closed. What it took it does not look at again. */
export type Taker = (bytes: Uint8Array, from: number, length: number) => number;

/** Small bodies travel with their head, in one packet where they fit. */
const smallBody = 64 * 1024;

/** Where pieces are put together to be handed over in one: nothing stays here, so that all connections share it. */
const desk = Buffer.allocUnsafeSlow(2 * smallBody);

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

  send(head: string, body: Uint8Array | null): void {
    const together = body !== null && body.length <= smallBody ? body : null;
    const length = head.length + (together?.length ?? 0);
    const bytes = length <= desk.length ? desk : Buffer.allocUnsafeSlow(length);
    bytes.write(head, 0, 'latin1');
    if (together) bytes.set(together, head.length);
    this.#hand(bytes, length);
    if (body && !together) this.write(body);
  }

  /** As a chunk, behind a head that was not sent yet. */
  sendChunk(head: string, bytes: Uint8Array): void {
    const size = sizeLine(bytes.length);
    const opening = head.length + size.length;
    const length = opening + bytes.length + lineEnd.length;
    const chunk = length <= desk.length ? desk : Buffer.allocUnsafeSlow(length);
    if (head !== '') chunk.write(head, 0, 'latin1');
    for (let at = 0; at < size.length; at++) chunk[head.length + at] = size.charCodeAt(at);
    chunk.set(bytes, opening);
    chunk[length - 2] = cr;
    chunk[length - 1] = lf;
    this.#hand(chunk, length);
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
      if (announced === null) this.sendChunk('', value);
      else this.write(value);
      // Nothing more is asked for before this has gone, so that its memory can be used again.
      if (this.#waiting.length > 0) await this.room();
    }
    if (announced === null) this.write(lastChunk);
    else if (sent !== announced) throw wrongLength();
    this.#source = null;
  }

  /** Resolves when all that waits has gone, or nothing goes any more. */
  room(): Promise<void> {
    return new Promise((resolve) => {
      this.#drained = resolve;
    });
  }

  /** The bytes are left as they are until they have gone. */
  write(bytes: Uint8Array): void {
    if (this.#closed) return;
    if (this.#waiting.length > 0) {
      this.#waiting.push(bytes);
      return;
    }
    const taken = Math.max(0, this.#take(bytes, 0, bytes.length));
    if (taken < bytes.length) this.#waiting.push(bytes.subarray(taken));
  }

  /** There is room again. */
  drain(): void {
    for (let next = this.#waiting[0]; next; next = this.#waiting[0]) {
      const taken = Math.max(0, this.#take(next, 0, next.length));
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

  /** What is not taken of the desk must not stay there. */
  #hand(bytes: Buffer, length: number): void {
    if (this.#closed) return;
    const taken = this.#waiting.length > 0 ? 0 : Math.max(0, this.#take(bytes, 0, length));
    if (taken < length) this.#waiting.push(Uint8Array.prototype.slice.call(bytes, taken, length));
  }

  #goOn(): void {
    const drained = this.#drained;
    this.#drained = null;
    drained?.();
  }
}

const wrongLength = (): WireFault => new WireFault('WrongBodyLength', 'the body has another length than was announced');

export const lastChunk = Buffer.from('0\r\n\r\n');

const cr = 13;
const lf = 10;
const lineEnd = '\r\n';

const sizeLine = (size: number): string => size.toString(16) + lineEnd;
