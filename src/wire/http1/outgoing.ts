/** Bytes on their way out over a connection: what it does not take at once waits until it does. */
import { WireFault } from '../fault.ts';

export interface Taker {
  /** Takes as many of the bytes from here to there as there is room for, and tells how many; less than 0 when it is closed. What it took it does not look at again. */
  write(bytes: Uint8Array, from: number, length: number): number;
}

/** Small bodies travel with their head, in one packet where they fit. */
const smallBody = 64 * 1024;

/** Where pieces are put together to be handed over in one: nothing stays here, so that all connections share it. */
const scratch = Buffer.allocUnsafeSlow(2 * smallBody);

export class Outgoing {
  readonly #taker: Taker;
  /** Null where nothing waits, as for most of the time: there are thousands of these. */
  #waiting: Uint8Array[] | null = null;
  #drained: (() => void) | null = null;
  #source: ReadableStreamDefaultReader<Uint8Array> | null = null;
  #closed = false;

  constructor(taker: Taker) {
    this.#taker = taker;
  }

  /** All that there is to send has been handed over. */
  get done(): boolean {
    return this.#waiting === null && this.#source === null;
  }

  send(head: string, body: Uint8Array | null): void {
    const together = body !== null && body.length <= smallBody ? body : null;
    const length = head.length + (together?.length ?? 0);
    const bytes = length <= scratch.length ? scratch : Buffer.allocUnsafeSlow(length);
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
    const chunk = length <= scratch.length ? scratch : Buffer.allocUnsafeSlow(length);
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
      if (this.#waiting) await this.room();
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
    if (this.#waiting) {
      this.#waiting.push(bytes);
      return;
    }
    const taken = this.#taken(bytes, bytes.length);
    if (taken < bytes.length) this.#waiting = [bytes.subarray(taken)];
  }

  /** There is room again. */
  drain(): void {
    const waiting = this.#waiting ?? [];
    for (let next = waiting[0]; next; next = waiting[0]) {
      const taken = this.#taken(next, next.length);
      if (taken < next.length) {
        waiting[0] = next.subarray(taken);
        return;
      }
      waiting.shift();
    }
    this.#waiting = null;
    this.#goOn();
  }

  /** Nothing will be sent any more: whoever waits for room must not wait for ever, nor whoever makes the body go on making it. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#waiting = null;
    this.#goOn();
    // A source that cannot be stopped has nothing to tell that matters now.
    this.#source?.cancel().catch(() => undefined);
  }

  /** What is not taken of the scratch must not stay there. */
  #hand(bytes: Buffer, length: number): void {
    if (this.#closed) return;
    const taken = this.#waiting ? 0 : this.#taken(bytes, length);
    if (taken === length) return;
    const rest = Uint8Array.prototype.slice.call(bytes, taken, length);
    if (this.#waiting) this.#waiting.push(rest);
    else this.#waiting = [rest];
  }

  #taken(bytes: Uint8Array, length: number): number {
    return Math.max(0, this.#taker.write(bytes, 0, length));
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
