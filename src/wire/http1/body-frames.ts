/** Finds the body in what a connection delivers: by its length, in chunks, or until the connection closes. */
import type { BodyFraming } from '../client/answer-head.ts';
import type { Bytes } from '../client/collected.ts';
import { WireFault } from '../fault.ts';

const cr = 13;
const lf = 10;
/** A line that tells a chunk's size, with whatever extensions. */
const longestLine = 8 * 1024;
const longestTrailers = 64 * 1024;

export class BodyFrames {
  /** Where the body ends, in the bytes pushed last; -1 while it is still open. */
  endedAt = -1;
  readonly #inChunks: boolean;
  /** Of the body, or of the chunk that is being read. */
  #left: number;
  #expects: 'data' | 'end of data' | 'size' | 'blanks' | 'extension' | 'trailers' = 'data';
  /** Of the line that is being read, up to the last byte pushed. */
  #length = 0;
  #endsInReturn = false;
  #hasDigits = false;
  #trailers = 0;

  constructor(framing: BodyFraming) {
    this.#inChunks = framing.by === 'chunks';
    this.#left = framing.by === 'length' ? framing.length : framing.by === 'close' ? Number.POSITIVE_INFINITY : 0;
    if (this.#inChunks) this.#expects = 'size';
    else if (this.#left === 0) this.endedAt = 0;
  }

  /** What is of the body in these bytes; null when nothing is. */
  push(bytes: Bytes): Bytes | null {
    if (this.#inChunks) return this.#unchunked(bytes);
    const taken = Math.min(this.#left, bytes.length);
    this.#left -= taken;
    if (this.#left === 0) this.endedAt = taken;
    return taken === bytes.length ? bytes : bytes.subarray(0, taken);
  }

  /** Chunks that came together are moved together: the memory is ours. */
  #unchunked(bytes: Bytes): Bytes | null {
    let from = 0;
    let to = 0;
    let at = 0;
    while (at < bytes.length && this.endedAt < 0) {
      if (this.#expects !== 'data') {
        this.#between(bytes[at] ?? 0, at);
        at++;
        continue;
      }
      const end = Math.min(at + this.#left, bytes.length);
      this.#left -= end - at;
      if (this.#left === 0) this.#expects = 'end of data';
      if (to === 0) from = at;
      else bytes.copyWithin(to, at, end);
      to = to === 0 ? end : to + end - at;
      at = end;
    }
    return to === 0 ? null : bytes.subarray(from, to);
  }

  /** A byte of the lines that stand between the chunks. */
  #between(byte: number, at: number): void {
    if (byte === lf) {
      if (!this.#endsInReturn) throw invalid();
      this.#endsInReturn = false;
      this.#lineEnds(this.#length, at);
      this.#length = 0;
      return;
    }
    if (this.#endsInReturn) throw invalid();
    if (byte === cr) {
      this.#endsInReturn = true;
      return;
    }
    if (++this.#length > longestLine || this.#expects === 'end of data') throw invalid();
    if (this.#expects === 'size') this.#readSize(byte);
    else if (this.#expects === 'blanks') this.#readBlank(byte);
  }

  #readSize(byte: number): void {
    const digit = digitOf(byte);
    if (digit < 0) {
      this.#readBlank(byte);
      return;
    }
    this.#left = this.#left * 16 + digit;
    this.#hasDigits = true;
    if (this.#left > Number.MAX_SAFE_INTEGER) throw invalid();
  }

  /** Between a size and its extensions there may be blanks, and nothing else. */
  #readBlank(byte: number): void {
    if (byte === semicolon) this.#expects = 'extension';
    else if (byte === space || byte === tab) this.#expects = 'blanks';
    else throw invalid();
  }

  #lineEnds(length: number, at: number): void {
    if (this.#expects === 'end of data') {
      this.#expects = 'size';
    } else if (this.#expects !== 'trailers') {
      if (!this.#hasDigits) throw invalid();
      this.#hasDigits = false;
      this.#expects = this.#left === 0 ? 'trailers' : 'data';
    } else if (length === 0) {
      this.endedAt = at + 1;
    } else {
      this.#trailers += length;
      if (this.#trailers > longestTrailers) throw invalid();
    }
  }
}

const semicolon = 59;
const space = 32;
const tab = 9;

function digitOf(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const small = byte | 32;
  return small >= 97 && small <= 102 ? small - 87 : -1;
}

const invalid = (): WireFault => new WireFault('InvalidBody', 'a chunk of the body is none');
