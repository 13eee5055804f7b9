/** Reads segments from the disk a window at a time: all of one would take more memory than everything else that carries it. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { type Frame, frameAt, frameLength, headBytes } from './segment.ts';

const usualBytes = 256 * 1024;

export class SegmentFile {
  /** One for all segments: fresh memory for each would cost more than the reading. */
  #window = Buffer.allocUnsafeSlow(usualBytes);

  /** Has the frames taken, each before the next is read. False where there is no such file. */
  read(path: string, take: (frames: Iterable<Frame>) => void): boolean {
    const file = opened(path);
    if (file === null) return false;
    try {
      take(this.#framesOf(file));
      return true;
    } finally {
      closeSync(file);
      if (this.#window.length > usualBytes) this.#window = Buffer.allocUnsafeSlow(usualBytes);
    }
  }

  /** Up to the end, or to the first that is not whole. */
  *#framesOf(file: number): Generator<Frame> {
    const { size } = fstatSync(file);
    let start = 0;
    let end = 0;
    for (let at = 0; at + headBytes <= size; ) {
      const length = end - start < headBytes ? headBytes : frameLength(this.#window, start);
      if (at + length > size) return;
      if (end - start < length) {
        end = this.#filled(file, at, start, end, length);
        start = 0;
        if (end < length) return;
        continue;
      }
      const frame = frameAt(this.#window, start);
      if (!frame) return;
      yield frame;
      start += length;
      at += length;
    }
  }

  /** Moves what is not read yet to the front and reads on behind it, for so many bytes at least; answers where they end. */
  #filled(file: number, at: number, start: number, end: number, atLeast: number): number {
    const rest = this.#window.subarray(start, end);
    if (atLeast > this.#window.length) this.#window = Buffer.allocUnsafeSlow(atLeast);
    this.#window.set(rest);
    let filled = rest.length;
    for (let read = -1; read !== 0 && filled < this.#window.length; filled += read) {
      read = readSync(file, this.#window, filled, this.#window.length - filled, at + filled);
    }
    return filled;
  }
}

function opened(path: string): number | null {
  try {
    return openSync(path, 'r');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}
