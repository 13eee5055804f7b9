/** One exchange with a provider: send, and read as much of the answer as must be known before the client gets any of it. */
import { readJson } from '../../bounded-json.ts';
import type { MaybePromise } from '../../maybe-promise.ts';
import type { Framing } from '../../providers/provider.ts';
import { readResponseUsage } from '../../providers/usage.ts';
import { Abort, type Abortable } from '../../wire/abort.ts';
import {
  type AnswerHeaders,
  type ByteReader,
  isOk,
  ReceivedHeaders,
  type WireAnswer,
} from '../../wire/client/answer.ts';
import type { Bytes } from '../../wire/client/collected.ts';
import { PacedBody } from '../../wire/client/paced.ts';
import { timeoutOf } from '../context.ts';
import type { GatewayDeps } from '../deps.ts';
import { dialectOf } from '../dialects/index.ts';
import { clientLeft, GatewayError } from '../errors.ts';
import { fieldsOf } from '../request/headers.ts';
import { type TranslatedAnswer, translatedAnswer } from '../response/translated-answer.ts';
import { readJsonAnswer } from '../response/unusable-answer.ts';
import { noStages } from '../streaming/stages.ts';
import { translatedStream } from '../streaming/translated-stream.ts';
import { UpstreamEvents } from '../streaming/upstream-events.ts';
import { sendWith } from '../upstream/authorised.ts';
import { concealedBytes, concealedError, concealedHeaders, secretsSent } from '../upstream/conceal.ts';
import type { Deadline } from '../upstream/deadlines.ts';
import { inSteps } from '../upstream/multi-step.ts';
import { bytesOf, GivenUp, send } from '../upstream/send.ts';
import { sentOf, type Upstream } from '../upstream/upstream-request.ts';
import type { Answer, AttemptRecord, Content, Joining } from './answer.ts';
import { type AttemptContext, holdFor } from './context.ts';

/** A request on its way: it can be given up, and it counts the time. It hears of a client that leaves as long as a stream goes on, so that it keeps nothing of the request. */
class PendingCall {
  readonly joined: Joining;
  readonly abort = new Abort();
  readonly sentAt = performance.now();
  readonly #timeoutMs: number;
  readonly #answerBy: Deadline;
  readonly #firstTokenBy: Deadline | null;

  constructor({ deps, context, leaf }: AttemptContext, stream: boolean, joined: Joining) {
    this.joined = joined;
    this.#timeoutMs = timeoutOf(deps, context, leaf);
    this.#answerBy = deps.deadlines.set(this.#timeoutMs, this);
    const firstMs = stream ? leaf.firstTokenTimeout : null;
    this.#firstTokenBy = firstMs === null ? null : deps.deadlines.set(firstMs, () => this.#tooSlow(firstMs));
    if (context.request.left) this.handleEvent();
    else context.request.onLeave(this);
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
  end(): void {
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

export async function exchange(call: AttemptContext, upstream: Upstream, joined: Joining): Promise<Answer> {
  const { deps, record, target } = call;
  forgetEarlierTry(record);
  const pending = new PendingCall(call, upstream.facts.stream, joined);
  const { signal } = pending.abort;
  record.sentAt ??= pending.sentAt;
  try {
    const special = sentSpecially(call, upstream, signal);
    const response = await (special ?? send(deps, target, upstream, signal));
    if ('record' in response) return response;
    record.responseHeaders = response.headers;
    if (response.replayed) record.replays++;
    record.status = response.status;
    record.error = null;
    const reading = isStatus(response.status) ? readContent(call, upstream, pending, response) : noAnswer(response);
    const content = reading instanceof Promise ? await reading : reading;
    if (content.form === 'error') return failed(record, content.error);
    if (content.form === 'translated') {
      return inClientsDialect(record, record.responseHeaders ?? response.headers, content.answer);
    }
    return { status: response.status, headers: response.headers, content, record, rescue: null };
  } catch (fault) {
    // Whatever is no fault of the exchange is one of ours, or the request's: the attempt tells it.
    if (!(fault instanceof GatewayError)) throw fault;
    return failed(record, fault);
  } finally {
    pending.end();
    record.endedAt = performance.now();
    record.upstreamMs += record.endedAt - pending.sentAt;
  }
}

/** In several steps, or with what its cloud asks for; null where neither is needed. */
function sentSpecially(
  call: AttemptContext,
  upstream: Upstream,
  signal: Abortable,
): Promise<WireAnswer | Answer> | null {
  const { deps, target } = call;
  if (upstream.endpoint.steps) return answeredInSteps(call, upstream, signal);
  const authentication = target.provider.authentication?.(upstream.facts);
  return authentication ? sendWith(authentication, deps, target, upstream, signal) : null;
}

async function answeredInSteps(
  call: AttemptContext,
  upstream: Upstream,
  signal: Abortable,
): Promise<WireAnswer | Answer> {
  const made = await inSteps(call, upstream, signal);
  return 'body' in made ? made : inClientsDialect(call.record, new Headers(), made);
}

/** Nothing that the provider said of its own body is true of the translated one. */
function inClientsDialect(
  record: AttemptRecord,
  received: AnswerHeaders,
  { status, bytes, contentType, usage, model }: TranslatedAnswer,
): Answer {
  const headers = new ReceivedHeaders({ ...fieldsOf(received), 'content-type': contentType });
  record.status = status;
  record.received = bytes;
  record.usage = usage ?? null;
  record.model = model ?? null;
  return { status, headers, content: { form: 'bytes', bytes }, record, rescue: null };
}

export function failed(record: AttemptRecord, error: GatewayError): Answer {
  record.status = error.status;
  record.error = error;
  return { status: error.status, headers: null, content: { form: 'error', error }, record, rescue: null };
}

function forgetEarlierTry(record: AttemptRecord): void {
  record.responseHeaders = null;
  record.received = null;
  record.answered = null;
  record.preview = null;
  record.original = null;
  record.usage = null;
  record.model = null;
  record.producedText = null;
  record.firstTokenMs = null;
}

const isStatus = (status: number): boolean => status >= 200 && status <= 599;

const noAnswer = ({ status }: WireAnswer): Content => ({
  form: 'error',
  error: new GatewayError('invalid_provider_response', `the provider answered with the status ${status}`),
});

type ReadContent = Content | { form: 'translated'; answer: TranslatedAnswer };

function readContent(
  call: AttemptContext,
  upstream: Upstream,
  pending: PendingCall,
  response: WireAnswer,
): MaybePromise<ReadContent> {
  const { abort } = pending;
  const { translation, endpoint } = upstream;
  const { kind } = call.context.matched.route;
  const idleMs = call.leaf.streamIdleTimeout ?? call.deps.settings.streamIdleTimeout;
  const untouched = !translation || translation.takes === 'nothing';
  if (isOk(response) && untouched && (upstream.passthrough || binaryKinds.has(kind))) {
    return { form: 'raw', body: response.body, abort, idleMs };
  }
  if (isStream(response, endpoint.framing ?? 'sse') && response.body) {
    return readStream(call, upstream, pending, response, response.body, idleMs);
  }
  const terms = { limit: call.deps.settings.answerLimit, hold: holdFor(call) };
  const bytes = bytesOf(response, abort.signal, call.target, terms);
  return bytes instanceof Promise ? later(call, upstream, response, bytes) : whole(call, upstream, response, bytes);
}

const later = async (
  call: AttemptContext,
  upstream: Upstream,
  response: WireAnswer,
  bytes: Promise<Bytes>,
): Promise<ReadContent> => whole(call, upstream, response, await bytes);

function whole(
  { deps, context, record, target }: AttemptContext,
  upstream: Upstream,
  response: WireAnswer,
  bytes: Bytes,
): ReadContent {
  record.received = bytes;
  if (isCutShort(response, bytes)) {
    const message = 'the provider closed the connection before its answer was complete';
    return { form: 'error', error: new GatewayError('invalid_provider_response', message) };
  }
  if (!upstream.translation) {
    if (!isOk(response) || upstream.passthrough) return { form: 'bytes', bytes };
    const { fields, fault } = readJsonAnswer(context.matched.route.kind, bytes, upstream.facts.provider);
    if (fault) {
      const secrets = secretsSent(target, sentWith(deps, upstream, response));
      record.received = concealedBytes(bytes, secrets);
      record.responseHeaders = concealedHeaders(response.headers, secrets);
      return { form: 'error', error: concealedError(fault, secrets) };
    }
    // Read here, so that nobody has to parse the answer a second time.
    record.answered = fields && { bytes, fields };
    record.usage = fields && readResponseUsage(fields);
    record.model = typeof fields?.model === 'string' ? fields.model : null;
    return { form: 'bytes', bytes };
  }
  record.original = bytes;
  const raw = { status: response.status, headers: response.headers, bytes };
  const begunAt = performance.now();
  const answer = translatedAnswer(upstream, raw, context.matched.route.errorForm);
  record.translationMs = performance.now() - begunAt;
  // An error under the wrong status was not known as one before, and not every translation knows it as one.
  if (!isOk(response) || (answer.status < 400 && !mentionsError(bytes))) return { form: 'translated', answer };
  const secrets = secretsSent(target, sentWith(deps, upstream, response));
  record.original = concealedBytes(bytes, secrets);
  record.responseHeaders = concealedHeaders(response.headers, secrets);
  return { form: 'translated', answer: { ...answer, bytes: concealedBytes(answer.bytes, secrets) } };
}

async function readStream(
  call: AttemptContext,
  upstream: Upstream,
  { abort, joined, sentAt }: PendingCall,
  response: WireAnswer,
  received: ByteReader,
  idleMs: number,
): Promise<Content> {
  const { deadlines } = call.deps;
  const onFault = (fault: unknown) => call.deps.onFault(fault, call.context.requestId);
  const { target } = call;
  // Of the call itself nothing is kept, because streams take long.
  const sent = sentWith(call.deps, upstream, response);
  const secrets = () => secretsSent(target, sent);
  const hold = holdFor(call);
  const paced = new PacedBody(received);
  const body = upstream.translation
    ? translatedStream({ ...response, body: paced }, upstream, abort, { idleMs, onFault, secrets, hold })
    : paced;
  const events = new UpstreamEvents(body, dialectOf(call.context.matched.route.kind), abort, {
    deadlines,
    idleMs,
    hidesUsage: upstream.usageAsked,
    secrets,
    hold,
  });
  // Whoever bounds the time to the first token falls back where none comes, though the stream was opened.
  const broken = await events.untilFirst(call.leaf.firstTokenTimeout !== null);
  if (broken) call.record.received = events.received.bytes;
  call.record.upstream = sentOf(upstream);
  // A stream that ends before it began had no first token.
  call.record.firstTokenMs = broken ? null : performance.now() - sentAt;
  return broken ? { form: 'error', error: broken } : { form: 'events', events, joined, stages: noStages };
}

/** Errors are short. */
const longestError = 64 * 1024;

const mentionsError = ({ buffer, byteOffset, length }: Bytes): boolean =>
  length <= longestError && Buffer.from(buffer, byteOffset, length).includes('"error"');

/** A token that was fetched for the call is a credential, too. */
const sentWith = ({ settings }: GatewayDeps, { url, headers, sensitive }: Upstream, { sentHeaders }: WireAnswer) => ({
  url,
  headers: sentHeaders ?? headers,
  sensitive: [...settings.maskedHeaders, ...sensitive],
});

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
    readJson(new TextDecoder().decode(bytes));
    return false;
  } catch {
    return true;
  }
}
