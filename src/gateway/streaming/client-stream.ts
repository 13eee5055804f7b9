/** The stream to the client: events leave as they arrive; when the upstream breaks, another target goes on, or a typed error says so. Never a silent end. */

import { previewLength } from '../../logs/preview.ts';
import type { MaybePromise } from '../../maybe-promise.ts';
import type { ServerEvent } from '../../providers/provider.ts';
import type { Waker } from '../../wire/polled.ts';
import type { BodySource, Sink } from '../../wire/server/reply.ts';
import { type Answer, type AttemptRecord, discard } from '../attempt/answer.ts';
import type { RequestContext } from '../context.ts';
import type { GatewayDeps } from '../deps.ts';
import type { StreamState } from '../dialects/dialect.ts';
import { GatewayError } from '../errors.ts';
import { BodyCapture } from './body-capture.ts';
import { Resumption } from './resumption.ts';
import { writeEvent } from './sse.ts';
import { isRefusal, StageChain, type StageVerdict, type StreamOutcome, type StreamStage } from './stages.ts';
import type { Piece, UpstreamEvents } from './upstream-events.ts';

/** How a stream ended, for those who settle the request. */
export interface StreamEnd {
  outcome: StreamOutcome;
  /** The trail of the target that had the last word. */
  record: AttemptRecord;
  /** What the client received. */
  sent: Uint8Array;
}

export type EventAnswer = Answer & { content: Extract<Answer['content'], { form: 'events' }> };
type Broken = Extract<Piece, { is: 'broken' }>;
type BytesPiece = Extract<Piece, { is: 'bytes' }>;

const eventBytes = (events: readonly ServerEvent[]): Uint8Array => Buffer.concat(events.map(writeEvent));

export const isEventAnswer = (answer: Answer): answer is EventAnswer => answer.content.form === 'events';

export const clientStream = (
  context: RequestContext,
  first: EventAnswer,
  settle: (end: StreamEnd) => void,
  onFault: GatewayDeps['onFault'],
): BodySource => new ClientStream(context, first, settle, onFault);

type Handed = 'goes on' | 'complete' | 'failed';

/** What the log says of a stream that the client did not wait for. */
const clientLeftStatus = 499;

class ClientStream implements BodySource, Waker {
  /** How many bytes of the stream that is read now went to the client just as they came. */
  #passed = 0;
  /** What went to the client behind those, once that is no longer what came. */
  #told: BodyCapture | null = null;
  /** Those bytes, where another stream is read by now. */
  #before: Uint8Array | null = null;
  readonly #context: RequestContext;
  readonly #settle: (end: StreamEnd) => void;
  readonly #onFault: GatewayDeps['onFault'];
  #answer: EventAnswer;
  #events: UpstreamEvents;
  /** What looks at the events on their way, and may hold them back or change them. */
  #stages: StageChain;
  #resumption: Resumption | null = null;
  /** All that the client has been told, whichever streams it came from. */
  #delivered: StreamState;
  #closed = false;
  #to: Sink | null = null;

  constructor(
    context: RequestContext,
    answer: EventAnswer,
    settle: (end: StreamEnd) => void,
    onFault: GatewayDeps['onFault'],
  ) {
    this.#context = context;
    this.#settle = settle;
    this.#onFault = onFault;
    this.#answer = answer;
    this.#events = answer.content.events;
    this.#stages = new StageChain(answer.content.stages);
    this.#delivered = this.#events.state;
  }

  /** Hands on what comes, at the client's pace, until there is no more. */
  deliver(to: Sink): void {
    this.#to = to;
    this.wake();
  }

  /** Hands on all that is there. */
  wake(): void {
    const to = this.#to;
    if (!to) return;
    try {
      let handed: Handed;
      do {
        const piece = this.#events.poll(this);
        if (piece === null) return;
        const soon = this.#handOn(piece, to);
        if (soon instanceof Promise) {
          soon.then((outcome) => this.#goOn(outcome)).catch((fault) => this.#fail(fault));
          return;
        }
        handed = soon;
      } while (handed === 'goes on');
      this.#goOn(handed);
    } catch (fault) {
      this.#fail(fault);
    }
  }

  #goOn(handed: Handed): void {
    if (handed === 'goes on') {
      this.wake();
      return;
    }
    this.#finish(handed);
    this.#over()?.end();
  }

  /** The client sees a connection that breaks, never an end that is none. */
  #fail(fault: unknown): void {
    this.#onFault(fault, this.#context.requestId);
    this.#finish('failed');
    this.#over()?.cut(fault);
  }

  /** Answers whom to tell: nothing goes there any more. */
  #over(): Sink | null {
    const to = this.#to;
    this.#to = null;
    return to;
  }

  left(): void {
    this.#finish('client left');
  }

  #handOn(piece: Piece, to: Sink): MaybePromise<Handed> {
    if (this.#closed) return 'failed';
    if (piece.is === 'end') return this.#complete(to);
    const joined = piece.is === 'bytes' ? this.#joined(piece) : piece;
    if (joined.is === 'broken') return this.#recover(joined, to);
    if (!this.#stages.isEmpty && joined.events.length > 0) return this.#throughStages(joined.events, to);
    return this.#send(joined.bytes, joined.asReceived, to);
  }

  #send(bytes: Uint8Array, asReceived: boolean, to: Sink): MaybePromise<Handed> {
    // Something that came was hidden: what follows no longer stands where it did.
    if (!asReceived) this.#told = this.#retold;
    if (bytes.length === 0) return 'goes on';
    if (asReceived && !this.#told) this.#passed += bytes.length;
    else this.#retold.push(bytes);
    return to.write(bytes)?.then(() => 'goes on') ?? 'goes on';
  }

  async #throughStages(events: readonly ServerEvent[], to: Sink): Promise<Handed> {
    return this.#judged(await this.#stages.push(events), to);
  }

  /** Hands on what the stages let go; a refusal of theirs is the end. */
  async #judged(verdict: StageVerdict, to: Sink): Promise<Handed> {
    if (this.#closed) return 'failed';
    if (!isRefusal(verdict)) return this.#send(eventBytes(verdict), false, to);
    const error = verdict instanceof GatewayError ? verdict : verdict.stop;
    this.#events.abandon();
    await this.#stages.end('failed');
    const { record } = this.#answer;
    record.status = error.status;
    record.error = error;
    const events =
      verdict instanceof GatewayError ? [this.#events.dialect.errorEvent(error, this.#delivered)] : verdict.events;
    await this.#send(eventBytes(events), false, to);
    return 'failed';
  }

  async #complete(to: Sink): Promise<Handed> {
    if (!this.#stages.isEmpty && (await this.#judged(await this.#stages.end('complete'), to)) === 'failed') {
      return 'failed';
    }
    const { terminator } = this.#events.dialect;
    if (terminator && !this.#events.terminated) await to.write(this.#added(terminator));
    return 'complete';
  }

  async #recover(broken: Broken, to: Sink): Promise<'goes on' | 'failed'> {
    if (await this.#rescued(broken)) return 'goes on';
    if (!this.#stages.isEmpty) {
      const held = await this.#stages.end('failed');
      if (!isRefusal(held)) await this.#send(eventBytes(held), false, to);
    }
    if (!this.#closed) await to.write(this.#failure(broken));
    return 'failed';
  }

  /** From here on, what goes to the client is kept beside what comes. */
  get #retold(): BodyCapture {
    this.#told ??= new BodyCapture();
    return this.#told;
  }

  #finish(outcome: StreamEnd['outcome']): void {
    if (this.#closed) return;
    this.#closed = true;
    if (outcome !== 'complete' && !this.#stages.isEmpty) {
      this.#stages.end(outcome).catch((fault) => this.#onFault(fault, this.#context.requestId));
    }
    const record = this.#closedRecord(outcome);
    const received = this.#events.received.bytes;
    record.received = received;
    const passed = this.#before ?? received.subarray(0, this.#passed);
    const sent = this.#told ? Buffer.concat([passed, this.#told.bytes]) : passed;
    this.#settle({ outcome, record, sent });
  }

  /** Ends whatever is still open and completes the last trail. */
  #closedRecord(outcome: StreamEnd['outcome']): AttemptRecord {
    const { record } = this.#answer;
    if (outcome !== 'complete') this.#events.abandon();
    const { usage, usageOpen, model, characters, text } = this.#events.state;
    record.usage = usage;
    record.usageOpen = usageOpen;
    record.model = model;
    record.producedCharacters = characters;
    if ((usage === null || usageOpen) && text.length === characters) record.producedText = text.whole;
    const { text: told } = this.#delivered;
    // What stages made of the text is known to them alone.
    if (this.#stages.isEmpty && told.length > 0) record.preview = told.beginning(previewLength).toWellFormed();
    if (outcome === 'client left') record.status = clientLeftStatus;
    record.endedAt = performance.now();
    return record;
  }

  /** The part of a piece that the client does not have yet. */
  #joined(piece: BytesPiece): BytesPiece | Broken {
    if (!this.#resumption) return piece;
    const joined = this.#resumption.join(piece.events);
    if (joined !== 'diverged') {
      return { is: 'bytes', bytes: eventBytes(joined.events), events: joined.events, asReceived: false };
    }
    this.#events.abandon();
    const message = 'the stream broke, and the answer of the next target differs from what was delivered';
    return { is: 'broken', error: new GatewayError('stream_diverged', message), reported: null };
  }

  #failure({ error, reported }: Broken): Uint8Array {
    const { record } = this.#answer;
    record.status = error.status;
    record.error = error;
    const told = reported && this.#resumption ? this.#resumption.retold(reported) : reported;
    return this.#added(told ?? this.#events.dialect.errorEvent(error, this.#delivered));
  }

  /** An event of ours at the end. */
  #added(event: ServerEvent): Uint8Array {
    const bytes = writeEvent(event);
    this.#retold.push(bytes);
    return bytes;
  }

  /** Takes up the next target's stream, if there is one that can go on from what was delivered. */
  async #rescued({ error }: Broken): Promise<boolean> {
    const { rescue, record } = this.#answer;
    const { resume } = this.#events.dialect;
    const untouched = this.#passed === 0 && this.#told === null;
    const joinable = untouched || (resume !== null && !this.#delivered.beyondText);
    if (!rescue || !joinable || this.#gone) return false;
    this.#events.abandon();
    record.received = this.#events.received.bytes;
    record.status = error.status;
    record.error = error;
    record.endedAt = performance.now();
    const next = await rescue({ text: untouched ? '' : this.#delivered.text.whole, status: error.status });
    if (next && this.#gone) discard(next);
    if (!next || this.#gone || !isEventAnswer(next)) return false;
    const { events, joined, stages } = next.content;
    await this.#takeOver(stages, untouched);
    if (!untouched) {
      this.#before ??= record.received.subarray(0, this.#passed);
      // Nothing that the next one says is known to be what came before.
      this.#told = this.#retold;
    }
    this.#answer = next;
    this.#events = events;
    if (untouched) this.#delivered = events.state;
    else if (resume) this.#resumption = new Resumption(events.dialect, resume, this.#delivered, joined === 'continued');
    return true;
  }

  /** A client that has nothing yet gets the next stream as if it were the first; else what was held goes on being held. */
  async #takeOver(stages: readonly StreamStage[], untouched: boolean): Promise<void> {
    if (!untouched) {
      this.#stages.add(stages);
      return;
    }
    await this.#stages.end('failed');
    this.#stages = new StageChain(stages);
  }

  get #gone(): boolean {
    return this.#closed || this.#context.request.left;
  }
}
