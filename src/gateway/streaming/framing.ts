/** Streams that are not server-sent events, brought into their form: frames of AWS, and lines of JSON. */
import { ProviderFault } from '../../providers/faults.ts';
import type { Framing, ServerEvent } from '../../providers/provider.ts';
import type { HoldBytes } from '../request/body-budget.ts';
import { GrowingBody } from '../request/body-budget.ts';
import { FrameCutter } from './aws-frames.ts';
import type { EventCutter } from './event-cutter.ts';
import { EventSplitter, readEvents } from './sse.ts';

/** `hold`: counts the largest event that waits for its end. */
export function cutterOf(framing: Framing, hold: HoldBytes | null = null): EventCutter {
  if (framing === 'aws') return new FrameCutter(hold);
  if (framing === 'lines') return new LineCutter(hold);
  if (framing === 'sse-lines') return new DataLineCutter(hold);
  return new SseCutter(hold);
}

class SseCutter implements EventCutter {
  readonly #splitter: EventSplitter;

  constructor(hold: HoldBytes | null) {
    this.#splitter = new EventSplitter(undefined, hold);
  }

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
  readonly #counted: GrowingBody | null;
  #held: Uint8Array[] = [];
  #size = 0;

  constructor(hold: HoldBytes | null) {
    this.#counted = hold && new GrowingBody(hold);
  }

  push(chunk: Uint8Array): ServerEvent[] {
    const end = chunk.lastIndexOf(lf);
    if (end === -1) {
      this.#held.push(chunk);
      this.#size += chunk.length;
      this.#counted?.reach(this.#size);
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
  readonly #lines: LineCutter;

  constructor(hold: HoldBytes | null) {
    this.#lines = new LineCutter(hold);
  }

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
