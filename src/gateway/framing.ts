/** Streams that are not server-sent events, brought into their form: frames of AWS, and lines of JSON. */
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

class LineCutter implements EventCutter {
  #held: Uint8Array[] = [];

  push(chunk: Uint8Array): ServerEvent[] {
    const end = chunk.lastIndexOf(lf);
    if (end === -1) {
      this.#held.push(chunk);
      return [];
    }
    const whole = Buffer.concat([...this.#held, chunk.subarray(0, end)]);
    this.#held = [chunk.subarray(end + 1)];
    return linesIn(whole);
  }

  rest(): ServerEvent[] {
    return linesIn(Buffer.concat(this.#held));
  }
}

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

class FrameCutter implements EventCutter {
  #held: Buffer = Buffer.alloc(0);

  push(chunk: Uint8Array): ServerEvent[] {
    this.#held = this.#held.length === 0 ? Buffer.from(chunk) : Buffer.concat([this.#held, chunk]);
    const events: ServerEvent[] = [];
    for (;;) {
      if (this.#held.length < 4) return events;
      const length = this.#held.readUInt32BE(0);
      if (length < shortestFrame || length > longestFrame) throw unreadable();
      if (this.#held.length < length) return events;
      events.push(readFrame(this.#held.subarray(0, length)));
      this.#held = this.#held.subarray(length);
    }
  }

  /** A frame that was cut is no event; the stream's own end tells that something is missing. */
  rest(): ServerEvent[] {
    return [];
  }
}

function readFrame(frame: Buffer): ServerEvent {
  const { headers, body } = decoded(frame);
  const header = (name: string): string | null => {
    const value = headers[name]?.value;
    return typeof value === 'string' ? value : null;
  };
  const data = Buffer.from(body).toString();
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
