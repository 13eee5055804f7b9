/** Streams that are not server-sent events, brought into their form: frames of AWS, and lines of JSON. */
import { crc32 } from 'node:zlib';
import { EventStreamCodec } from '@smithy/eventstream-codec';
import { fromUtf8, toUtf8 } from '@smithy/util-utf8';
import { ProviderFault } from '../providers/faults.ts';
import type { Framing, ServerEvent } from '../providers/provider.ts';
import { EventSplitter, readEvents } from './sse.ts';

/** Cuts bytes into events; what is incomplete is held. */
export interface EventCutter {
  push(chunk: Uint8Array): ServerEvent[];
  /** What is left when the bytes end. */
  rest(): ServerEvent[];
}

export function cutterOf(framing: Framing): EventCutter {
  if (framing === 'aws') return new FrameCutter();
  if (framing === 'lines') return new LineCutter();
  if (framing === 'sse-lines') return new DataLineCutter();
  return new SseCutter();
}

class SseCutter implements EventCutter {
  readonly #splitter = new EventSplitter();

  push(chunk: Uint8Array): ServerEvent[] {
    const whole = this.#splitter.push(chunk);
    return whole ? readEvents(whole) : [];
  }

  /** Some servers leave out the blank line behind their last event. */
  rest(): ServerEvent[] {
    const rest = this.#splitter.rest();
    return rest ? readEvents(rest) : [];
  }
}

const lf = 10;
/** What grows beyond this has no end. */
const longestLine = 64 * 1024 * 1024;

class LineCutter implements EventCutter {
  #held: Uint8Array[] = [];
  #size = 0;

  push(chunk: Uint8Array): ServerEvent[] {
    const end = chunk.lastIndexOf(lf);
    if (end === -1) {
      this.#held.push(chunk);
      this.#size += chunk.length;
      if (this.#size > longestLine) throw new ProviderFault(502, `a line is larger than ${longestLine} bytes`);
      return [];
    }
    const whole = Buffer.concat([...this.#held, chunk.subarray(0, end)]);
    this.#held = [chunk.subarray(end + 1)];
    this.#size = chunk.length - end - 1;
    return linesIn(whole);
  }

  rest(): ServerEvent[] {
    return linesIn(Buffer.concat(this.#held));
  }
}

/** Each `data:` line is an event: what stands between the lines does not matter. */
class DataLineCutter implements EventCutter {
  readonly #lines = new LineCutter();

  push(chunk: Uint8Array): ServerEvent[] {
    return this.#lines.push(chunk).flatMap(dataIn);
  }

  rest(): ServerEvent[] {
    return this.#lines.rest().flatMap(dataIn);
  }
}

const dataIn = ({ data }: ServerEvent): ServerEvent[] =>
  data.startsWith('data:') ? [{ event: null, data: data.slice(5).trim() }] : [];

const linesIn = (bytes: Buffer): ServerEvent[] =>
  bytes
    .toString()
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((data) => ({ event: null, data }));

const codec = new EventStreamCodec(toUtf8, fromUtf8);
/** Length, header length and their checksum, and the checksum of the whole: a frame is never shorter. */
const shortestFrame = 16;
/** No provider sends frames near this size; a length beyond it is no length. */
const longestFrame = 16 * 1024 * 1024;
/** Length and header length, and then their checksum. */
const lengths = 8;
const prelude = 12;

class FrameCutter implements EventCutter {
  #held: Uint8Array[] = [];
  #size = 0;
  /** How much must be held before anything can be read. */
  #needed = prelude;

  push(chunk: Uint8Array): ServerEvent[] {
    this.#held.push(chunk);
    this.#size += chunk.length;
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
  const { headers, body } = decoded(frame);
  const header = (name: string): string | null => {
    const value = headers[name]?.value;
    return typeof value === 'string' ? value : null;
  };
  const data = Buffer.from(body).toString(header(':content-type') === binary ? 'base64' : 'utf8');
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

function decoded(frame: Buffer): ReturnType<EventStreamCodec['decode']> {
  try {
    return codec.decode(frame);
  } catch {
    throw unreadable();
  }
}

const unreadable = (): ProviderFault => new ProviderFault(502, 'the provider sent a frame that cannot be read');
