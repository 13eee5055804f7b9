/** A copy of what passed by, for the log: kept up to a bound, whatever the length of the stream. */
const copyLimit = 4 * 1024 * 1024;

export class KeptCopy {
  readonly pieces: Uint8Array[] = [];
  /** True while nothing is missing from the copy. */
  whole = true;
  /** How much passed by, kept or not. */
  size = 0;

  push(piece: Uint8Array): void {
    this.size += piece.length;
    if (this.size <= copyLimit) this.pieces.push(piece);
    else this.whole = false;
  }
}
