/** An upstream stream read as whole events: every chunk is checked before it travels on, and how the stream ended is always known. */

import { readJson } from '../../bounded-json.ts';
import { ProviderFault } from '../../providers/faults.ts';
import { objectOf } from '../../providers/json.ts';
import type { ServerEvent } from '../../providers/provider.ts';
import type { Abort } from '../../wire/abort.ts';
import { type ByteReader, polled, type ReadBytes } from '../../wire/client/answer.ts';
import { type Polled, promised, type Waker } from '../../wire/polled.ts';
import { type Dialect, newStreamState, type ReportedFault, type StreamState } from '../dialects/dialect.ts';
import { GatewayError } from '../errors.ts';
import type { HoldBytes } from '../request/body-budget.ts';
import { concealedBytes, concealedError, concealedEvent } from '../upstream/conceal.ts';
import type { Deadline, Deadlines } from '../upstream/deadlines.ts';
import { GivenUp } from '../upstream/send.ts';
import { cutEvent, isUsageAlone } from '../upstream/stream-usage.ts';
import { BodyCapture } from './body-capture.ts';
import { EventSplitter, readEvents, writeEvent } from './sse.ts';

export type Piece =
  | {
      is: 'bytes';
      bytes: Uint8Array;
      events: readonly ServerEvent[];
      /** They are the very next of those that were received. */
      asReceived: boolean;
    }
  /** The stream came to its proper end. */
  | { is: 'end' }
  /** It did not. `reported` is the provider's own error event, if it sent one. */
  | { is: 'broken'; error: GatewayError; reported: ServerEvent | null };

interface StreamTiming {
  deadlines: Deadlines;
  idleMs: number;
  /** The client did not ask for the usage: the chunk that brings it is not for it. */
  hidesUsage?: boolean;
  /** The credentials that went along; asked for only where the provider reports a fault. */
  secrets?(): readonly string[];
  /** Counts what waits for the end of an event. */
  hold?: HoldBytes;
}

/** Signs of life beyond this are handed on as they come, without waiting for an answer behind them. */
const longestOpening = 1024 * 1024;

/** A provider that has said all may still hold the connection; the client need not wait for it as long as for a token. */
const lingerMs = 10_000;

export class UpstreamEvents implements Polled<Piece> {
  readonly state: StreamState = newStreamState();
  readonly dialect: Dialect;
  /** What was received, for the log. */
  readonly received = new BodyCapture();
  readonly #body: Polled<ReadBytes>;
  readonly #abort: Abort;
  readonly #splitter: EventSplitter;
  readonly #idle: Deadline;
  /** How long it may be silent. */
  readonly #timeoutMs: number;
  /** How much of that is left until content must have come: what brings none wins no time. */
  #leftMs: number;
  #waitingSince = 0;
  /** Content that was seen by now. */
  #content = 0;
  readonly #hidesUsage: boolean;
  readonly #secrets: () => readonly string[];
  #ended = false;
  /** There was an event, not only bytes. */
  #spoke = false;
  /** Read, but not yet handed out; null where nothing is. */
  #pending: Piece[] | null = null;

  constructor(body: ByteReader, dialect: Dialect, abort: Abort, timing: StreamTiming) {
    this.#body = polled(body);
    this.dialect = dialect;
    this.#abort = abort;
    this.#splitter = new EventSplitter(undefined, timing.hold);
    this.#hidesUsage = timing.hidesUsage ?? false;
    this.#secrets = timing.secrets ?? none;
    this.#timeoutMs = timing.idleMs;
    this.#leftMs = timing.idleMs;
    this.#idle = timing.deadlines.set(timing.idleMs, this);
  }

  /** It was silent for too long. */
  expired(): void {
    const message = `the stream brought nothing for ${this.#timeoutMs} ms`;
    this.#abort.abort(new GivenUp(new GatewayError('stream_stalled', message)));
  }

  poll(waker: Waker): Piece | null {
    const held = this.#pending?.shift();
    if (held) return held;
    this.#pending = null;
    for (;;) {
      const read = this.#read(waker);
      // Only the provider's silence counts, not the time that the client takes.
      if (read === null) this.#wait();
      if (read === null || 'is' in read) return read;
      if (read.done) return this.#atEnd();
      this.#rest();
      if (read.progress) this.#leftMs = this.#timeoutMs;
      this.received.push(read.value);
      const whole = this.#wholeEvents(read.value);
      if (whole instanceof GatewayError) return { is: 'broken', error: whole, reported: null };
      if (whole) return this.#take(whole, true);
    }
  }

  #wait(): void {
    if (this.#waitingSince === 0) this.#waitingSince = performance.now();
    this.#idle.extend(this.#leftMs);
  }

  #rest(): void {
    this.#idle.rest();
    if (this.#waitingSince > 0) this.#leftMs -= performance.now() - this.#waitingSince;
    this.#waitingSince = 0;
  }

  /** Content has come: the next piece has its whole time again. */
  #progressed(): void {
    const { characters, otherContent } = this.state;
    if (characters + otherContent === this.#content) return;
    this.#content = characters + otherContent;
    this.#leftMs = this.#timeoutMs;
  }

  #read(waker: Waker): ReadBytes | Piece | null {
    try {
      return this.#body.poll(waker);
    } catch (fault) {
      return this.#faulty(fault);
    }
  }

  #wholeEvents(chunk: Uint8Array): Uint8Array | GatewayError | null {
    try {
      return this.#splitter.push(chunk);
    } catch (fault) {
      if (!(fault instanceof ProviderFault || fault instanceof GatewayError)) throw fault;
      this.abandon();
      if (fault instanceof GatewayError) return fault;
      return new GatewayError('invalid_provider_response', fault.message);
    }
  }

  /** Reads until there is an event to deliver; answers the fault when there never is. Comments and pings are no answer yet, and where content is waited for, neither is an opening. */
  async untilFirst(needsContent = false): Promise<GatewayError | null> {
    const held: Piece[] = [];
    for (;;) {
      const piece = await promised(this);
      if (piece.is === 'broken') return piece.error;
      held.push(piece);
      if (piece.is === 'bytes' && this.#isOpening(piece, needsContent) && this.received.size < longestOpening) continue;
      this.#pending = [...held, ...(this.#pending ?? [])];
      return null;
    }
  }

  #isOpening({ events }: Extract<Piece, { is: 'bytes' }>, needsContent: boolean): boolean {
    return needsContent ? this.#content === 0 && !this.#complete : events.every(isPing);
  }

  /** Stops reading; the connection is closed. */
  abandon(): void {
    this.#idle.clear();
    this.#abort.abort();
  }

  #take(whole: Uint8Array, asReceived: boolean): Piece {
    const events = readEvents(whole);
    this.#spoke ||= events.length > 0;
    let index = -1;
    let hidden: ServerEvent | null = null;
    for (const event of events) {
      index++;
      // Behind the terminator nothing can go wrong any more.
      if (this.#ended) break;
      const { usage } = this.state;
      const meaning = this.dialect.read(event, this.state);
      if (this.#hidesUsage && this.state.usage !== usage && isUsageAlone(event)) hidden = event;
      if (meaning === 'part') continue;
      if (meaning === 'end') {
        this.#ended = true;
        this.#leftMs = Math.min(this.#timeoutMs, lingerMs);
        continue;
      }
      this.abandon();
      const broken: Piece =
        meaning === 'malformed'
          ? this.#broken('invalid_provider_response', 'the provider sent a chunk that cannot be read')
          : this.#refused(meaning, event);
      if (index === 0) return broken;
      // What came whole before the fault still goes out.
      this.#pending = [broken];
      const sound = events.slice(0, index);
      return { is: 'bytes', bytes: Buffer.concat(sound.map(writeEvent)), events: sound, asReceived: false };
    }
    if (!this.#ended) this.#progressed();
    return hidden ? without(hidden, whole, events) : { is: 'bytes', bytes: whole, events, asReceived };
  }

  /** What the provider says of a fault is told without the credentials that it may repeat. */
  #refused(fault: ReportedFault, event: ServerEvent): Piece {
    const secrets = this.#secrets();
    this.received.conceal((bytes) => concealedBytes(bytes, secrets));
    return {
      is: 'broken',
      error: concealedError(refusalInStream(fault, event), secrets),
      reported: concealedEvent(event, secrets),
    };
  }

  #atEnd(): Piece {
    this.#idle.clear();
    const rest = this.#splitter.rest();
    if (!rest || readEvents(rest).length === 0) return this.#ending();
    // Some servers leave out the blank line behind their last event; a piece of an event is no event.
    const piece = this.#isWhole(rest) ? this.#take(Buffer.concat([rest, Buffer.from('\n\n')]), false) : this.#cut();
    if (piece.is !== 'bytes') return this.#complete ? { is: 'end' } : piece;
    this.#pending ??= [this.#ending()];
    return piece;
  }

  /** Where no event marks the end, an event without its blank line cannot be told from a piece of one. */
  #isWhole(rest: Uint8Array): boolean {
    return !this.dialect.endsWithBytes || readEvents(rest).every(({ data }) => isJson(data));
  }

  #ending(): Piece {
    const { endsWithBytes } = this.dialect;
    return this.#complete || (endsWithBytes && this.#spoke) ? { is: 'end' } : this.#cut();
  }

  get #complete(): boolean {
    return this.#ended || this.state.finished;
  }

  /** True when the proper terminator was seen, not only the model's word that it is done. */
  get terminated(): boolean {
    return this.#ended;
  }

  #faulty(fault: unknown): Piece {
    this.#idle.clear();
    if (this.#complete) return { is: 'end' };
    const reason: unknown = this.#abort.signal.reason;
    if (reason instanceof GivenUp) return { is: 'broken', error: reason.error, reported: null };
    const code = fault instanceof Error && 'code' in fault ? ` (${fault.code})` : '';
    return this.#broken('stream_incomplete', `the provider's connection broke before the stream was complete${code}`);
  }

  #cut(): Extract<Piece, { is: 'broken' }> {
    return this.#broken('stream_incomplete', 'the provider closed the stream before it was complete');
  }

  #broken(code: 'stream_incomplete' | 'invalid_provider_response', message: string): Extract<Piece, { is: 'broken' }> {
    return { is: 'broken', error: new GatewayError(code, message), reported: null };
  }
}

const none = (): readonly string[] => [];

/** Cut out of the bytes, so that the others stay as they came. */
function without(hidden: ServerEvent, whole: Uint8Array, events: readonly ServerEvent[]): Piece {
  const shown = events.filter((event) => event !== hidden);
  const bytes = cutEvent(whole, hidden.data) ?? Buffer.concat(shown.map(writeEvent));
  return { is: 'bytes', bytes, events: shown, asReceived: false };
}

/** The status that a provider would have answered with, had it known the fault before the stream's head was sent. */
const statusByWord: Readonly<Record<string, number>> = {
  overloaded_error: 529,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  insufficient_quota: 429,
  invalid_request_error: 400,
  invalid_prompt: 400,
  context_length_exceeded: 400,
  authentication_error: 401,
  invalid_api_key: 401,
  permission_error: 403,
  not_found_error: 404,
  model_not_found: 404,
};

/** Some providers write the status itself as the code. */
const isErrorStatus = (code: string | null): code is string => code !== null && /^[45]\d\d$/.test(code);

const statusOfFault = ({ type, code }: ReportedFault): number =>
  isErrorStatus(code) ? Number(code) : (statusByWord[code ?? ''] ?? statusByWord[type] ?? 502);

function refusalInStream(fault: ReportedFault, event: ServerEvent): GatewayError {
  const { type, message } = fault;
  return new GatewayError('upstream_refused', message, {
    type,
    status: statusOfFault(fault),
    spoken: 'by the provider',
    ofProvider: () => errorObject(event, fault),
  });
}

/** What the provider would have answered with, had it not begun a stream: chat and messages write the same object into both. */
function errorObject({ data }: ServerEvent, { type, message, code }: ReportedFault): object {
  const told = objectOf(readJson(data));
  const isWhole = typeof told.error === 'object' && told.error !== null;
  return isWhole ? told : { error: { message, type, param: told.param ?? null, code } };
}

const isPing = ({ event, data }: ServerEvent): boolean => event === 'ping' || data === '{"type":"ping"}';

function isJson(text: string): boolean {
  try {
    readJson(text);
    return true;
  } catch {
    return false;
  }
}
