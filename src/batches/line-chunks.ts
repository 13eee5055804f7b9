/** Cuts a stream of bytes into runs of whole lines, so that a file is never in memory as a whole. */
const wantedBytes = 256 * 1024;
/** A line is one request; the largest body that a provider takes is far below this. */
const longestLine = 32 * 1024 * 1024;

/** What came is no lines of text; the message says why. */
export class LineFault extends Error {}

export class LineChunks {
  readonly #longest: number;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  #held = '';

  constructor(longest = longestLine) {
    this.#longest = longest;
  }

  /** The lines that are complete, once there are enough of them. */
  push(piece: Uint8Array): string[] {
    this.#held += this.#text(piece);
    if (this.#held.length < wantedBytes) return [];
    const end = this.#held.lastIndexOf('\n');
    if (end === -1) {
      if (this.#held.length > this.#longest) throw new LineFault(`a line may have ${this.#longest} characters`);
      return [];
    }
    const whole = this.#held.slice(0, end);
    this.#held = this.#held.slice(end + 1);
    return linesOf(whole);
  }

  rest(): string[] {
    const whole = this.#held + this.#text();
    this.#held = '';
    return linesOf(whole);
  }

  /** Without a piece, what is left of the last character. */
  #text(piece?: Uint8Array): string {
    try {
      return piece ? this.#decoder.decode(piece, { stream: true }) : this.#decoder.decode();
    } catch {
      throw new LineFault('it is not encoded in UTF-8');
    }
  }
}

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
