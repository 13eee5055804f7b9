/** One exchange with a provider: send, and read as much of the answer as must be known before the client gets any of it. */
import type { Leaf } from '../catalog/plan.ts';
import type { Framing } from '../providers/provider.ts';
import type { Soon } from '../soon.ts';
import { Abort, type Abortable } from '../wire/abort.ts';
import { type AnswerHeaders, type ByteReader, isOk, ReceivedHeaders, type WireAnswer } from '../wire/answer.ts';
import type { Bytes } from '../wire/collected.ts';
import type { Answer, Content, Joining, Trail } from './answer.ts';
import { sendWith } from './authorised.ts';
import type { Deadline } from './deadlines.ts';
import { dialectOf } from './dialects/index.ts';
import { clientLeft, GatewayError } from './errors.ts';
import { fieldsOf } from './headers.ts';
import { type Journey, timeoutOf } from './journey.ts';
import type { GatewayParts } from './parts.ts';
import { begin, bytesOf, GivenUp, opened, unsent } from './send.ts';
import { inSteps } from './steps.ts';
import type { Target } from './target.ts';
import { type TranslatedAnswer, translatedAnswer } from './translated.ts';
import { translatedStream } from './translated-stream.ts';
import { sentOf, type Upstream } from './upstream.ts';
import { UpstreamEvents } from './upstream-events.ts';

/** One leaf being tried. */
export interface Try {
  parts: GatewayParts;
  journey: Journey;
  leaf: Leaf;
  trail: Trail;
  target: Target;
}

/** A request on its way: it can be given up, and it counts the time. It hears of a client that leaves as long as a stream goes on, so that it keeps nothing of the request. */
class Flight {
  readonly joined: Joining;
  readonly abort = new Abort();
  readonly sentAt = performance.now();
  readonly #timeoutMs: number;
  readonly #answerBy: Deadline;
  readonly #firstTokenBy: Deadline | null;

  constructor({ parts, journey, leaf }: Try, stream: boolean, joined: Joining) {
    this.joined = joined;
    this.#timeoutMs = timeoutOf(parts, journey, leaf);
    this.#answerBy = parts.deadlines.set(this.#timeoutMs, this);
    const firstMs = stream ? leaf.firstTokenTimeout : null;
    this.#firstTokenBy = firstMs === null ? null : parts.deadlines.set(firstMs, () => this.#tooSlow(firstMs));
    if (journey.request.left) this.handleEvent();
    else journey.request.onLeave(this);
  }

  /** There is no answer, and it is too late for one. */
  expired(): void {
    this.#giveUp(new GatewayError('request_timeout', `the provider did not answer within ${this.#timeoutMs} ms`));
  }

  /** The client has left. */
  handleEvent(): void {
    this.#giveUp(clientLeft());
  }

  /** No deadline counts any more. */
  land(): void {
    this.#answerBy.clear();
    this.#firstTokenBy?.clear();
  }

  #tooSlow(firstMs: number): void {
    this.#giveUp(new GatewayError('first_token_timeout', `the provider sent no token within ${firstMs} ms`));
  }

  #giveUp(error: GatewayError): void {
    this.abort.abort(new GivenUp(error));
  }
}

export async function exchange(call: Try, upstream: Upstream, joined: Joining): Promise<Answer> {
  const { parts, trail, target } = call;
  forgetEarlierTry(trail);
  const flight = new Flight(call, upstream.facts.stream, joined);
  const { signal } = flight.abort;
  try {
    const special = sentSpecially(call, upstream, signal);
    let response: WireAnswer | Answer;
    if (special) response = await special;
    else {
      // What `send` does: most calls go this way, and a frame less is a hundredth of what they cost.
      try {
        response = opened(await begin(parts, target, upstream, signal), upstream);
      } catch (fault) {
        throw unsent(fault, upstream, signal, target);
      }
    }
    if ('trail' in response) return response;
    trail.responseHeaders = response.headers;
    trail.status = response.status;
    trail.error = null;
    const reading = isStatus(response.status) ? readContent(call, upstream, flight, response) : noAnswer(response);
    const content = reading instanceof Promise ? await reading : reading;
    if (content.form === 'error') return failed(trail, content.error);
    if (content.form === 'translated') return inClientsDialect(trail, response.headers, content.answer);
    return { status: response.status, headers: response.headers, content, trail, rescue: null };
  } catch (fault) {
    // Whatever is no fault of the exchange is one of ours, or the request's: the attempt tells it.
    if (!(fault instanceof GatewayError)) throw fault;
    return failed(trail, fault);
  } finally {
    flight.land();
    trail.endedAt = performance.now();
    trail.upstreamMs += trail.endedAt - flight.sentAt;
  }
}

/** In several steps, or with what its cloud asks for; null where neither is needed. */
function sentSpecially(call: Try, upstream: Upstream, signal: Abortable): Promise<WireAnswer | Answer> | null {
  const { parts, target } = call;
  if (upstream.endpoint.steps) return inSteps(call, upstream, signal);
  const authentication = target.provider.authentication?.(upstream.facts);
  return authentication ? sendWith(authentication, parts, target, upstream, signal) : null;
}

/** Nothing that the provider said of its own body is true of the translated one. */
export function inClientsDialect(
  trail: Trail,
  received: AnswerHeaders,
  { status, bytes, contentType, usage, model }: TranslatedAnswer,
): Answer {
  const headers = new ReceivedHeaders({ ...fieldsOf(received), 'content-type': contentType });
  trail.status = status;
  trail.received = bytes;
  trail.usage = usage ?? null;
  trail.model = model ?? null;
  return { status, headers, content: { form: 'bytes', bytes }, trail, rescue: null };
}

export function failed(trail: Trail, error: GatewayError): Answer {
  trail.status = error.status;
  trail.error = error;
  return { status: error.status, headers: null, content: { form: 'error', error }, trail, rescue: null };
}

function forgetEarlierTry(trail: Trail): void {
  trail.responseHeaders = null;
  trail.received = null;
  trail.usage = null;
  trail.model = null;
  trail.firstTokenMs = null;
}

const isStatus = (status: number): boolean => status >= 200 && status <= 599;

const noAnswer = ({ status }: WireAnswer): Content => ({
  form: 'error',
  error: new GatewayError('invalid_provider_response', `the provider answered with the status ${status}`),
});

type ReadContent = Content | { form: 'translated'; answer: TranslatedAnswer };

function readContent(call: Try, upstream: Upstream, flight: Flight, response: WireAnswer): Soon<ReadContent> {
  const { abort } = flight;
  const { translation, endpoint } = upstream;
  const { kind } = call.journey.matched.route;
  const idleMs = call.leaf.streamIdleTimeout ?? call.parts.settings.streamIdleTimeout;
  const untouched = !translation || translation.takes === 'nothing';
  if (isOk(response) && untouched && (upstream.passthrough || binaryKinds.has(kind))) {
    return { form: 'raw', body: response.body, abort, idleMs };
  }
  if (isStream(response, endpoint.framing ?? 'sse') && response.body) {
    return readStream(call, upstream, flight, response, response.body, idleMs);
  }
  const bytes = bytesOf(response, abort.signal, call.target, call.parts.settings.answerLimit);
  return bytes instanceof Promise ? later(call, upstream, response, bytes) : whole(call, upstream, response, bytes);
}

const later = async (
  call: Try,
  upstream: Upstream,
  response: WireAnswer,
  bytes: Promise<Bytes>,
): Promise<ReadContent> => whole(call, upstream, response, await bytes);

function whole({ journey, trail }: Try, upstream: Upstream, response: WireAnswer, bytes: Bytes): ReadContent {
  trail.received = bytes;
  if (isCutShort(response, bytes)) {
    const message = 'the provider closed the connection before its answer was complete';
    return { form: 'error', error: new GatewayError('invalid_provider_response', message) };
  }
  if (!upstream.translation) return { form: 'bytes', bytes };
  const raw = { status: response.status, headers: response.headers, bytes };
  return { form: 'translated', answer: translatedAnswer(upstream, raw, journey.matched.route.errorForm) };
}

async function readStream(
  call: Try,
  upstream: Upstream,
  { abort, joined, sentAt }: Flight,
  response: WireAnswer,
  received: ByteReader,
  idleMs: number,
): Promise<Content> {
  const { deadlines } = call.parts;
  const onFault = (fault: unknown) => call.parts.onFault(fault, call.journey.requestId);
  const body = upstream.translation ? translatedStream(response, upstream, abort, idleMs, onFault) : received;
  const events = new UpstreamEvents(body, dialectOf(call.journey.matched.route.kind), abort, { deadlines, idleMs });
  const broken = await events.untilFirst();
  if (broken) call.trail.received = events.received.bytes;
  call.trail.upstream = sentOf(upstream);
  call.trail.firstTokenMs = performance.now() - sentAt;
  return broken ? { form: 'error', error: broken } : { form: 'events', events, joined };
}

const streamTypes: Readonly<Record<Framing, readonly string[]>> = {
  sse: ['text/event-stream'],
  'sse-lines': ['text/event-stream'],
  aws: ['application/vnd.amazon.eventstream'],
  lines: ['application/x-ndjson', 'application/stream+json', 'application/jsonl'],
};

const isStream = (answer: WireAnswer, framing: Framing): boolean => {
  const type = answer.headers.get('content-type');
  return isOk(answer) && type !== null && streamTypes[framing].some((known) => type.startsWith(known));
};

const binaryKinds = new Set(['createSpeech', 'retrieveFileContent', 'getBatchOutput', 'uploadFile']);

/** An answer that tells no length ends where the connection ends, also when that broke: only its JSON shows the difference. */
function isCutShort(answer: WireAnswer, bytes: Uint8Array): boolean {
  const { headers } = answer;
  if (!isOk(answer) || headers.has('content-length') || headers.has('transfer-encoding')) return false;
  if (!headers.get('content-type')?.startsWith('application/json')) return false;
  try {
    JSON.parse(new TextDecoder().decode(bytes));
    return false;
  } catch {
    return true;
  }
}
