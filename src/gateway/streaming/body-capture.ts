/** A copy of what passed by, for the log: kept up to a bound, whatever the length of the stream. The pieces of a stream are alike but for a few words, so that of most of them only the middle is kept. */
import type { Bytes } from '../../wire/client/collected.ts';

const copyLimit = 4 * 1024 * 1024;

/** Before each middle: how much it shares with the beginning of the example, how much with its end, and its own length. */
const headLength = 2 + 2 + 3;
const mostShared = 0xffff;

/** Enough for the first piece and what is new in a dozen more; arrays of this size live where they cost least. */
const firstRoom = 320;
const noRoom = new Uint8Array(0);

export class BodyCapture {
  /** How much passed by, kept or not. */
  size = 0;
  #keptSize = 0;
  #written = noRoom;
  #end = 0;
  /** Where the last piece stands that was written whole: those that follow are compared with it. */
  #exampleAt = 0;
  #exampleLength = 0;
  #conceal: ((bytes: Bytes) => Bytes) | null = null;

  /** Whoever asks for the bytes gets what this makes of them, which is as long as they are. */
  conceal(conceal: (bytes: Bytes) => Bytes): void {
    this.#conceal = conceal;
  }

  push(piece: Uint8Array): void {
    if (piece.length === 0) return;
    this.size += piece.length;
    if (this.size > copyLimit) return;
    this.#keptSize = this.size;
    const before = this.#sharedBeginning(piece);
    const after = this.#sharedEnd(piece, before);
    const middle = piece.length - before - after;
    if (middle <= piece.length / 2) this.#write(piece, before, after);
    else {
      this.#write(piece, 0, 0);
      this.#exampleAt = this.#end - piece.length;
      this.#exampleLength = piece.length;
    }
  }

  /** All that was kept. */
  get bytes(): Uint8Array {
    const written = this.#written;
    const bytes = Buffer.allocUnsafe(this.#keptSize);
    let filled = 0;
    let example = noRoom;
    for (let at = 0; at < this.#end; ) {
      const before = numberAt(written, at, 2);
      const after = numberAt(written, at + 2, 2);
      const length = numberAt(written, at + 4, 3);
      at += headLength;
      const middle = written.subarray(at, at + length);
      at += length;
      if (before + after === 0) example = middle;
      bytes.set(example.subarray(0, before), filled);
      bytes.set(middle, filled + before);
      bytes.set(example.subarray(example.length - after), filled + before + length);
      filled += before + length + after;
    }
    return this.#conceal ? this.#conceal(bytes) : bytes;
  }

  #sharedBeginning(piece: Uint8Array): number {
    const written = this.#written;
    const from = this.#exampleAt;
    const most = Math.min(piece.length, this.#exampleLength, mostShared);
    let shared = 0;
    while (shared < most && piece[shared] === written[from + shared]) shared++;
    return shared;
  }

  #sharedEnd(piece: Uint8Array, before: number): number {
    const written = this.#written;
    const end = this.#exampleAt + this.#exampleLength;
    const most = Math.min(Math.min(piece.length, this.#exampleLength) - before, mostShared);
    let shared = 0;
    while (shared < most && piece[piece.length - 1 - shared] === written[end - 1 - shared]) shared++;
    return shared;
  }

  #write(piece: Uint8Array, before: number, after: number): void {
    const length = piece.length - before - after;
    const at = this.#room(headLength + length);
    const written = this.#written;
    setNumber(written, at, 2, before);
    setNumber(written, at + 2, 2, after);
    setNumber(written, at + 4, 3, length);
    if (length < piece.length) {
      for (let index = 0; index < length; index++) written[at + headLength + index] = piece[before + index] ?? 0;
    } else written.set(piece, at + headLength);
  }

  /** Where the next so many bytes go. */
  #room(length: number): number {
    const at = this.#end;
    this.#end = at + length;
    if (this.#end > this.#written.length) {
      const larger = new Uint8Array(Math.max(firstRoom, 2 * this.#written.length, this.#end));
      larger.set(this.#written);
      this.#written = larger;
    }
    return at;
  }
}

function setNumber(bytes: Uint8Array, at: number, length: number, value: number): void {
  for (let index = 0; index < length; index++) bytes[at + index] = value >>> (8 * index);
}

function numberAt(bytes: Uint8Array, at: number, length: number): number {
  let value = 0;
  for (let index = 0; index < length; index++) value |= (bytes[at + index] ?? 0) << (8 * index);
  return value;
}
