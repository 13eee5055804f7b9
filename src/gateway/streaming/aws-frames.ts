/** The frames in which AWS streams: lengths with a checksum, headers, a payload, and a checksum over all of it. */
import { crc32 } from 'node:zlib';
import { ProviderFault } from '../../providers/faults.ts';
import type { ServerEvent } from '../../providers/provider.ts';
import { GrowingBody, type HoldBytes } from '../request/body-budget.ts';
import type { EventCutter } from './event-cutter.ts';

/** Length and header length, and then their checksum. */
const lengths = 8;
const prelude = 12;
const checksum = 4;
/** A frame without headers and payload. */
const shortestFrame = prelude + checksum;
/** No provider sends frames near this size; a length beyond it is no length. */
const longestFrame = 16 * 1024 * 1024;

export class FrameCutter implements EventCutter {
  readonly #counted: GrowingBody | null;
  #held: Uint8Array[] = [];
  #size = 0;
  /** How much must be held before anything can be read. */
  #needed = prelude;

  constructor(hold: HoldBytes | null = null) {
    this.#counted = hold && new GrowingBody(hold);
  }

  push(chunk: Uint8Array): ServerEvent[] {
    this.#held.push(chunk);
    this.#size += chunk.length;
    this.#counted?.reach(this.#size);
    if (this.#size < this.#needed) return [];
    const bytes = Buffer.concat(this.#held);
    const events: ServerEvent[] = [];
    let from = 0;
    for (;;) {
      const left = bytes.length - from;
      const length = left < prelude ? prelude : frameLength(bytes, from);
      this.#needed = length;
      if (left < length || left < prelude) break;
      events.push(readFrame(bytes.subarray(from, from + length)));
      from += length;
    }
    this.#held = [bytes.subarray(from)];
    this.#size = bytes.length - from;
    return events;
  }

  /** A frame that was cut is no event; the stream's own end tells that something is missing. */
  rest(): ServerEvent[] {
    return [];
  }
}

/** The length has a checksum of its own, so that nobody waits for the bytes of a broken one. */
function frameLength(bytes: Buffer, from: number): number {
  const length = bytes.readUInt32BE(from);
  const sound = crc32(bytes.subarray(from, from + lengths)) === bytes.readUInt32BE(from + lengths);
  if (sound && length >= shortestFrame && length <= longestFrame) return length;
  throw unreadable();
}

const binary = 'application/octet-stream';

/** Bytes that need not be text on their own, such as a piece of an endpoint's stream, are given in base64. */
function readFrame(frame: Buffer): ServerEvent {
  const end = frame.length - checksum;
  const payload = prelude + frame.readUInt32BE(4);
  if (payload > end || crc32(frame.subarray(0, end)) !== frame.readUInt32BE(end)) throw unreadable();
  const headers = textHeaders(frame.subarray(prelude, payload));
  const header = (name: string): string | null => headers.get(name) ?? null;
  const data = frame.toString(header(':content-type') === binary ? 'base64' : 'utf8', payload, end);
  switch (header(':message-type')) {
    case 'exception':
      return { event: `exception:${header(':exception-type')}`, data };
    case 'error':
      return {
        event: `exception:${header(':error-code')}`,
        data: JSON.stringify({ message: header(':error-message') }),
      };
    default:
      return { event: header(':event-type'), data };
  }
}

/** Bytes that a value takes, by the number of its type: booleans, whole numbers of four sizes, a time, a UUID. */
const fixedSizes: ReadonlyMap<number, number> = new Map([
  [0, 0],
  [1, 0],
  [2, 1],
  [3, 2],
  [4, 4],
  [5, 8],
  [8, 8],
  [9, 16],
]);
const bytesType = 6;
const textType = 7;

/** The headers with text as their value; nothing is said in the others. */
function textHeaders(bytes: Buffer): Map<string, string> {
  const texts = new Map<string, string>();
  let at = 0;
  const take = (length: number): Buffer => {
    if (at + length > bytes.length) throw unreadable();
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const name = take(take(1).readUInt8()).toString();
    const type = take(1).readUInt8();
    const isSized = type === bytesType || type === textType;
    const size = isSized ? take(2).readUInt16BE() : fixedSizes.get(type);
    if (size === undefined) throw unreadable();
    const value = take(size);
    if (type === textType) texts.set(name, value.toString());
  }
  return texts;
}

const unreadable = (): ProviderFault => new ProviderFault(502, 'the provider sent a frame that cannot be read');
