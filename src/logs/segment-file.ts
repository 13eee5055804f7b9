/** Reads segments from the disk a window at a time: all of one would take more memory than everything else that imports it. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { frameAt, frameLength, framesBehindDamage, headBytes, isTorn, type SegmentFrame } from './segment.ts';

const usualBytes = 256 * 1024;

/** What reading a segment came to. */
export interface ReadSegment<T> {
  taken: T;
  /** True where a part of it could not be read and was passed over. */
  damaged: boolean;
}

export class SegmentFile {
  /** One for all segments: fresh memory for each would cost more than the reading. */
  #window = Buffer.allocUnsafeSlow(usualBytes);
  #damaged = false;

  /** Has the frames taken, each before the next is read. Null where there is no such file. */
  read<T>(path: string, take: (frames: Iterable<SegmentFrame>) => T): ReadSegment<T> | null {
    const file = opened(path);
    if (file === null) return null;
    this.#damaged = false;
    try {
      return { taken: take(this.#framesOf(file)), damaged: this.#damaged };
    } finally {
      closeSync(file);
      if (this.#window.length > usualBytes) this.#window = Buffer.allocUnsafeSlow(usualBytes);
    }
  }

  /** All that are whole. The beginning of one at the end is what a kill leaves; anything else is damage. */
  *#framesOf(file: number): Generator<SegmentFrame> {
    const { size } = fstatSync(file);
    let start = 0;
    let end = 0;
    for (let at = 0; at + headBytes <= size; ) {
      const length = end - start < headBytes ? headBytes : frameLength(this.#window, start);
      if (at + length > size) {
        yield* this.#salvaged(file, at, size);
        return;
      }
      if (end - start < length) {
        end = this.#filled(file, at, start, end, length);
        start = 0;
        if (end < length) return;
        continue;
      }
      const frame = frameAt(this.#window, start);
      if (!frame) {
        yield* this.#salvaged(file, at, size);
        return;
      }
      yield frame;
      start += length;
      at += length;
    }
  }

  *#salvaged(file: number, at: number, size: number): Generator<SegmentFrame> {
    const rest = Buffer.allocUnsafeSlow(size - at);
    const read = readSync(file, rest, 0, rest.length, at);
    this.#damaged = !isTorn(rest.subarray(0, read));
    for (const frame of framesBehindDamage(rest.subarray(0, read))) {
      this.#damaged = true;
      yield frame;
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
