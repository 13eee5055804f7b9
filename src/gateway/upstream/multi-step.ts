/** Operations that take several calls: the provider says what it needs next, we ask, and hand it the answers. */
import { EncodedBody } from '../../providers/encoded-body.ts';
import { ProviderFault, readFault } from '../../providers/faults.ts';
import type { JsonObject, ProviderCall, RawAnswer, Step } from '../../providers/provider.ts';
import { StreamedCall } from '../../providers/streamed-call.ts';
import { Abort, type Abortable } from '../../wire/abort.ts';
import { answerOf, isOk, type WireAnswer } from '../../wire/client/answer.ts';
import { type AttemptContext, holdFor } from '../attempt/context.ts';
import { keptFile } from '../managed/kept-file.ts';
import { encoded, refusal, type TranslatedAnswer } from '../response/translated-answer.ts';
import { sendAuthorised } from './authorised.ts';
import { begin } from './cancel-on-leave.ts';
import { bytesOf, send } from './send.ts';
import { addressBelow, isAddress, wholeAddress } from './upstream-address.ts';
import type { Upstream } from './upstream-request.ts';

const callsAtOnce = 5;

/** The answer; or the response that is still to be read, where the last call streams. */
export async function inSteps(
  call: AttemptContext,
  upstream: Upstream,
  signal: Abortable,
): Promise<TranslatedAnswer | WireAnswer> {
  const { facts, endpoint, translation } = upstream;
  const operation = endpoint.steps?.(facts, translation?.request?.(facts) ?? {});
  if (!operation) throw new Error('An operation without steps is one call');
  const over = new Abort();
  let streams = false;
  try {
    let step = operation.next([]);
    while (!step.done) step = operation.next(await carryOut(call, upstream, step.value, signal, over.signal));
    const outcome = step.value;
    if (outcome instanceof StreamedCall) {
      const response = await dial(call, upstream, outcome.call, signal);
      streams = isOk(response);
      return response;
    }
    if (outcome instanceof EncodedBody && outcome.contentType === eventStream) return toldAsStream(outcome);
    return { status: 200, ...encoded(inRoutesDialect(upstream, outcome)) };
  } catch (fault) {
    if (!(fault instanceof ProviderFault)) throw fault;
    return refusal(fault, facts.provider, call.context.matched.route.errorForm);
  } finally {
    // Whoever reads a stream may still leave it.
    if (!streams) over.abort();
  }
}

const eventStream = 'text/event-stream';

const toldAsStream = ({ bytes }: EncodedBody): WireAnswer =>
  answerOf(new Response(bytes, { headers: { 'content-type': eventStream } }));

/** A family reads what its provider said, as it does after a single call. */
const inRoutesDialect = (
  { translation, facts }: Upstream,
  outcome: JsonObject | EncodedBody,
): JsonObject | EncodedBody =>
  translation
    ? translation.response(outcome, facts, { status: 200, headers: new Headers(), bytes: new Uint8Array() })
    : outcome;

async function carryOut(
  call: AttemptContext,
  upstream: Upstream,
  step: Step,
  signal: Abortable,
  over: Abortable,
): Promise<RawAnswer[]> {
  if ('waitMs' in step) {
    await call.deps.pause(step.waitMs, signal);
    return [];
  }
  if ('keptFile' in step) return [await keptFile(call, step.keptFile)];
  if ('begins' in step) {
    return [await begin(call, step, (next, until) => make(call, upstream, next, until), signal, over)];
  }
  const answers: RawAnswer[] = [];
  const waiting = step.calls.entries();
  const worker = async () => {
    for (const [index, next] of waiting) answers[index] = await make(call, upstream, next, signal);
  };
  await Promise.all(Array.from({ length: Math.min(step.atOnce ?? callsAtOnce, step.calls.length) }, worker));
  return answers;
}

/** One of the calls. An answer that the operation does not expect ends it. */
async function make(
  call: AttemptContext,
  upstream: Upstream,
  next: ProviderCall,
  signal: Abortable,
): Promise<RawAnswer> {
  const response = await dial(call, upstream, next, signal);
  const answer = {
    status: response.status,
    headers: response.headers,
    bytes: await bytesOf(response, signal, call.target, { limit: call.deps.settings.answerLimit, hold: holdFor(call) }),
  };
  if (isOk(response) || next.accepts?.includes(response.status)) return answer;
  throw readFault(answer.status, answer.bytes);
}

function dial(
  { deps, target }: AttemptContext,
  upstream: Upstream,
  next: ProviderCall,
  signal: Abortable,
): Promise<WireAnswer> {
  const content = next.body === undefined ? null : encoded(next.body);
  const elsewhere = isAddress(next.path);
  const made: Upstream = {
    ...upstream,
    url: elsewhere ? wholeAddress(next.path) : addressBelow(upstream.base, next.path, ''),
    method: next.method,
    headers: {
      ...(!next.bare && upstream.headers),
      ...(content && { 'content-type': content.contentType }),
      ...next.headers,
    },
    body: content?.bytes ?? null,
    // An address out of an answer was chosen by somebody else, and is checked like one.
    customHost: upstream.customHost || elsewhere,
  };
  return next.bare ? send(deps, target, made, signal) : sendAuthorised(deps, target, made, signal, next.authentication);
}
