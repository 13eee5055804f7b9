/** A copy of what passed by, for the log: kept up to a bound, whatever the length of the stream. */
const copyLimit = 4 * 1024 * 1024;
/** A token is a small piece, and each piece takes more room beside itself than it holds: so many are put together. */
const mostLoose = 16;

export class KeptCopy {
  readonly pieces: Uint8Array[];
  /** True while nothing is missing from the copy. */
  whole = true;
  /** How much passed by, kept or not. */
  size = 0;
  #loose = 0;

  /** Goes on from pieces that were kept before. */
  constructor(pieces: Uint8Array[] = []) {
    this.pieces = pieces;
    for (const { length } of pieces) this.size += length;
  }

  push(piece: Uint8Array): void {
    this.size += piece.length;
    if (this.size > copyLimit) {
      this.whole = false;
      return;
    }
    this.pieces.push(piece);
    if (++this.#loose < mostLoose) return;
    this.pieces.push(Buffer.concat(this.pieces.splice(-mostLoose)));
    this.#loose = 0;
  }

  /** The first so many bytes, as far as they were kept. */
  upTo(size: number): Uint8Array[] {
    const first: Uint8Array[] = [];
    let left = size;
    for (const piece of this.pieces) {
      if (left <= 0) break;
      first.push(piece.length <= left ? piece : piece.subarray(0, left));
      left -= piece.length;
    }
    return first;
  }
}
