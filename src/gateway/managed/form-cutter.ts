/** Cuts the bytes of a multipart form, as they come, into its parts; looks no further ahead than a boundary is long. */
import { GatewayError } from '../errors.ts';

export type FormEvent = { is: 'part'; head: string } | { is: 'bytes'; bytes: Uint8Array } | { is: 'end' };

const longestHead = 16 * 1024;
const mostParts = 1_000;

export class FormCutter {
  readonly #boundary: Buffer;
  /** A line break in front lets the first boundary look like all others. */
  #held: Buffer = Buffer.from('\r\n');
  #parts = 0;
  #place: 'preamble' | 'boundary' | 'value' | 'end' = 'preamble';

  constructor(mark: string) {
    this.#boundary = Buffer.from(`\r\n--${mark}`);
  }

  get isComplete(): boolean {
    return this.#place === 'end';
  }

  push(piece: Uint8Array): FormEvent[] {
    if (this.#place === 'end') return [];
    this.#held = Buffer.concat([this.#held, piece]);
    const events: FormEvent[] = [];
    while (this.#place === 'boundary' ? this.#readHead(events) : this.#readValue(events));
    return events;
  }

  /** Two dashes behind the boundary end the form, otherwise the headers of the next part follow. */
  #readHead(events: FormEvent[]): boolean {
    if (this.#held.length < 2) return false;
    if (this.#held.subarray(0, 2).toString() === '--') {
      this.#place = 'end';
      events.push({ is: 'end' });
      return false;
    }
    const end = this.#held.indexOf('\r\n\r\n');
    if (end === -1) {
      if (this.#held.length > longestHead) throw broken();
      return false;
    }
    if (++this.#parts > mostParts) throw new GatewayError('invalid_body', `a form may have ${mostParts} parts`);
    events.push({ is: 'part', head: this.#held.toString('utf8', 0, end) });
    this.#held = this.#held.subarray(end + 4);
    this.#place = 'value';
    return true;
  }

  #readValue(events: FormEvent[]): boolean {
    const at = this.#held.indexOf(this.#boundary);
    // A boundary may have begun at the end of what is held.
    const safe = at === -1 ? Math.max(0, this.#held.length - this.#boundary.length) : at;
    if (safe > 0 && this.#place === 'value') events.push({ is: 'bytes', bytes: this.#held.subarray(0, safe) });
    this.#held = this.#held.subarray(at === -1 ? safe : at + this.#boundary.length);
    if (at === -1) return false;
    this.#place = 'boundary';
    return true;
  }
}

export const broken = (): GatewayError => new GatewayError('invalid_body', 'the form ends in the middle of a part');
