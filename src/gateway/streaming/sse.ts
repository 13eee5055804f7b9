/** Server-sent events: one splitter and one reader for every dialect. LF, CRLF and CR, comments, odd splits, events of any size. */
import { ProviderFault } from '../../providers/faults.ts';
import type { ServerEvent } from '../../providers/provider.ts';
import { GrowingBody, type HoldBytes } from '../request/body-budget.ts';

const lf = 10;
const cr = 13;

/** Pictures are the largest events that providers send; what grows beyond this has no end. */
const largestEvent = 64 * 1024 * 1024;
/** Events have few lines, and each costs. */
const mostLines = 100_000;

/** Cuts a byte stream at the ends of events, so that only whole events travel on. Bytes are never changed. */
export class EventSplitter {
  readonly #largest: number;
  /** Counts the largest event that was held so far. */
  readonly #counted: GrowingBody | null;
  /** Null where nothing is, as between most chunks. */
  #held: Uint8Array[] | null = null;
  #heldBytes = 0;
  #heldLines = 0;
  /** The last two bytes held, since a blank line may begin in them. */
  #last = -1;
  #lastButOne = -1;

  constructor(largest = largestEvent, hold: HoldBytes | null = null) {
    this.#largest = largest;
    this.#counted = hold && new GrowingBody(hold);
  }

  /** All whole events that are complete with this chunk, as they came; null when the first is still open. */
  push(chunk: Uint8Array): Uint8Array | null {
    const end = this.#lastBoundary(chunk);
    if (end === 0) {
      this.#hold(chunk);
      if (this.#heldBytes > this.#largest)
        throw new ProviderFault(502, `an event is larger than ${this.#largest} bytes`);
      if (this.#heldLines > mostLines) throw new ProviderFault(502, `an event has more than ${mostLines} lines`);
      return null;
    }
    const closing = end === chunk.length ? chunk : chunk.subarray(0, end);
    const whole = this.#held ? Buffer.concat([...this.#held, closing]) : closing;
    this.#empty();
    if (end < chunk.length) this.#hold(chunk.subarray(end));
    return whole;
  }

  /** What is left when the stream ends: an event that never came to its blank line. */
  rest(): Uint8Array | null {
    if (!this.#held) return null;
    const rest = Buffer.concat(this.#held);
    this.#empty();
    return rest;
  }

  #empty(): void {
    this.#held = null;
    this.#heldBytes = 0;
    this.#heldLines = 0;
    this.#last = -1;
    this.#lastButOne = -1;
  }

  #hold(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    if (this.#held) this.#held.push(bytes);
    else this.#held = [bytes];
    this.#heldBytes += bytes.length;
    this.#counted?.reach(this.#heldBytes);
    for (const end of [lf, cr]) {
      for (let at = bytes.indexOf(end); at !== -1; at = bytes.indexOf(end, at + 1)) this.#heldLines++;
    }
    this.#lastButOne = bytes.length > 1 ? (bytes[bytes.length - 2] ?? -1) : this.#last;
    this.#last = bytes[bytes.length - 1] ?? -1;
  }

  /** The end of the last blank line in `chunk`, which may begin in what is held; 0 when there is none. */
  #lastBoundary(chunk: Uint8Array): number {
    return endOfEvents(chunk, this.#last, this.#lastButOne);
  }
}

/** The end of the last blank line; `last` and `lastButOne` are the bytes before the chunk. 0 where there is none. */
export function endOfEvents(chunk: Uint8Array, last = -1, lastButOne = -1): number {
  const at = (index: number): number => (index >= 0 ? (chunk[index] ?? -1) : index === -1 ? last : lastButOne);
  for (let index = chunk.length - 1; index >= 0; index--) {
    const byte = chunk[index];
    if (byte === lf) {
      const previous = at(index - 1);
      if (previous === lf || (previous === cr && at(index - 2) === lf)) return index + 1;
    } else if (byte === cr && at(index - 1) === cr) {
      return index + 1;
    }
  }
  return 0;
}

const decoder = new TextDecoder();

/** The events in a run of whole events. Comments and events without data are left out. */
export function readEvents(bytes: Uint8Array): ServerEvent[] {
  const text = decoder.decode(bytes);
  return plainEvents(text) ?? eventsIn(text);
}

const opening = 'data: ';

/** Most events are a single line of data; null where one of them is not. */
function plainEvents(text: string): ServerEvent[] | null {
  if (text.includes('\r')) return null;
  const events: ServerEvent[] = [];
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf('\n', at);
    if (end < 0 || text.charCodeAt(end + 1) !== lf || !text.startsWith(opening, at)) return null;
    events.push({ event: null, data: text.slice(at + opening.length, end) });
    at = end + 2;
  }
  return events;
}

function eventsIn(text: string): ServerEvent[] {
  const events: ServerEvent[] = [];
  let event: string | null = null;
  let data: string | null = null;
  const plain = text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
  // Nothing is made of lines that say nothing: a stream may consist of them.
  for (let at = 0; at < plain.length; ) {
    const found = plain.indexOf('\n', at);
    const end = found === -1 ? plain.length : found;
    if (end === at) {
      if (data !== null) events.push({ event, data });
      event = null;
      data = null;
    } else if (plain.startsWith('data:', at)) {
      const value = fieldValue(plain, at + 5, end);
      data = data === null ? value : `${data}\n${value}`;
    } else if (plain.startsWith('event:', at)) {
      event = fieldValue(plain, at + 6, end);
    }
    at = end + 1;
  }
  if (data !== null) events.push({ event, data });
  return events;
}

const fieldValue = (text: string, from: number, end: number): string =>
  text.slice(text[from] === ' ' ? from + 1 : from, end);

const encoder = new TextEncoder();

export const writeEvent = ({ event, data }: ServerEvent): Uint8Array =>
  encoder.encode(`${event === null ? '' : `event: ${event}\n`}data: ${data}\n\n`);
