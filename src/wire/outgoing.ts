/** The bytes of a request on their way out: what the connection does not take at once waits until it does. */
import type { Bytes } from './collected.ts';
import { WireFault } from './fault.ts';

/** Takes as many of the bytes as there is room for, and tells how many; less than 0 when it is closed. */
type Taker = (bytes: Bytes) => number;

/** Small bodies travel with their head, in one packet where they fit. */
const smallBody = 64 * 1024;

export class Outgoing {
  readonly #take: Taker;
  #waiting: Bytes[] = [];
  #drained: (() => void) | null = null;

  constructor(take: Taker) {
    this.#take = take;
  }

  get empty(): boolean {
    return this.#waiting.length === 0;
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
    let sent = 0;
    // Leaving the loop cancels the stream.
    for await (const chunk of stream) {
      if (chunk.length === 0) continue;
      sent += chunk.length;
      if (announced === null) this.#write(Buffer.from(`${chunk.length.toString(16)}\r\n`, 'latin1'));
      else if (sent > announced) break;
      // The sender may use its memory again.
      this.#write(Buffer.from(chunk));
      if (announced === null) this.#write(lineEnd);
      if (!this.empty) await this.#room();
    }
    if (announced === null) this.#write(lastChunk);
    else if (sent !== announced) throw new WireFault('BodyTooShort', 'the body has another length than was announced');
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
    this.#drained?.();
    this.#drained = null;
  }

  /** Nothing will be sent any more: whoever waits for room must not wait for ever. */
  close(): void {
    this.#waiting = [];
    this.#drained?.();
    this.#drained = null;
  }

  #room(): Promise<void> {
    return new Promise((resolve) => {
      this.#drained = resolve;
    });
  }

  #write(bytes: Bytes): void {
    if (this.#waiting.length > 0) {
      this.#waiting.push(bytes);
      return;
    }
    const taken = Math.max(0, this.#take(bytes));
    if (taken < bytes.length) this.#waiting.push(bytes.subarray(taken));
  }
}

const lineEnd = Buffer.from('\r\n');
const lastChunk = Buffer.from('0\r\n\r\n');
