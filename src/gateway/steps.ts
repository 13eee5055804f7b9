/** Operations that take several calls: the provider says what it needs next, we ask, and hand it the answers. */
import { ProviderFault, readFault } from '../providers/faults.ts';
import type { ProviderCall, RawAnswer, Step } from '../providers/provider.ts';
import type { Answer } from './answer.ts';
import { sendAuthorised } from './authorised.ts';
import { inClientsDialect, type Try } from './exchange.ts';
import { bytesOf, send } from './send.ts';
import { encoded, refusal, type TranslatedAnswer } from './translated.ts';
import { isAddress, type Upstream } from './upstream.ts';

const callsAtOnce = 5;

export async function inSteps(call: Try, upstream: Upstream, signal: AbortSignal): Promise<Answer> {
  return inClientsDialect(call.trail, new Headers(), await walk(call, upstream, signal));
}

async function walk(call: Try, upstream: Upstream, signal: AbortSignal): Promise<TranslatedAnswer> {
  const { facts, endpoint } = upstream;
  const operation = endpoint.steps?.(facts);
  if (!operation) throw new Error('An operation without steps is one call');
  try {
    let step = operation.next([]);
    while (!step.done) step = operation.next(await carryOut(call, upstream, step.value, signal));
    return { status: 200, ...encoded(step.value) };
  } catch (fault) {
    if (!(fault instanceof ProviderFault)) throw fault;
    return refusal(fault, facts.provider, call.journey.matched.route.errorForm);
  }
}

async function carryOut(call: Try, upstream: Upstream, step: Step, signal: AbortSignal): Promise<RawAnswer[]> {
  if ('waitMs' in step) {
    await call.parts.pause(step.waitMs, signal);
    return [];
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
async function make(call: Try, upstream: Upstream, next: ProviderCall, signal: AbortSignal): Promise<RawAnswer> {
  const { parts, target } = call;
  const content = next.body === undefined ? null : encoded(next.body);
  const elsewhere = isAddress(next.path);
  const made: Upstream = {
    ...upstream,
    url: elsewhere ? next.path : upstream.base + next.path,
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
  const response = await (next.bare
    ? send(parts, target, made, signal)
    : sendAuthorised(parts, target, made, signal, next.authentication));
  const answer = {
    status: response.status,
    headers: response.headers,
    bytes: await bytesOf(response, signal, target),
  };
  if (response.ok || next.accepts?.includes(response.status)) return answer;
  throw readFault(answer.status, answer.bytes);
}
