/** Bytes that come in pieces, put together in memory that grows with them: what is only announced takes none. */
const least = 4 * 1024;

export class Gathered {
  size = 0;
  #memory: Buffer<ArrayBuffer> | null = null;

  /** `most` is how many bytes there can be in the end, as far as that is known. */
  append(piece: Uint8Array, most: number): void {
    const size = this.size + piece.length;
    const memory = this.#memory;
    if (memory && size <= memory.length) {
      memory.set(piece, this.size);
    } else {
      // Twice as much each time, so that many small pieces are not copied over and over.
      const grown = Buffer.allocUnsafe(Math.max(size, Math.min(most, Math.max(least, size * 2))));
      if (memory) grown.set(memory.subarray(0, this.size));
      grown.set(piece, this.size);
      this.#memory = grown;
    }
    this.size = size;
  }

  /** Hands all of it over, and begins anew. */
  take(): Buffer<ArrayBuffer> {
    const whole = this.#memory?.subarray(0, this.size) ?? Buffer.alloc(0);
    this.clear();
    return whole;
  }

  clear(): void {
    this.size = 0;
    this.#memory = null;
  }
}
