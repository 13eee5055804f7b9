/** Cuts a stream of bytes into runs of whole lines, so that a file is never in memory as a whole. */
const wantedBytes = 256 * 1024;
/** A line is one request; the largest body that a provider takes is far below this. */
const longestLine = 32 * 1024 * 1024;

export class LineTooLong extends Error {}

export class LineChunks {
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  #held = '';

  /** The lines that are complete, once there are enough of them. */
  push(piece: Uint8Array): string[] {
    this.#held += this.#decoder.decode(piece, { stream: true });
    if (this.#held.length < wantedBytes) return [];
    const end = this.#held.lastIndexOf('\n');
    if (end === -1) {
      if (this.#held.length > longestLine) throw new LineTooLong(`a line may have ${longestLine} characters`);
      return [];
    }
    const whole = this.#held.slice(0, end);
    this.#held = this.#held.slice(end + 1);
    return linesOf(whole);
  }

  rest(): string[] {
    const whole = this.#held + this.#decoder.decode();
    this.#held = '';
    return linesOf(whole);
  }
}

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
