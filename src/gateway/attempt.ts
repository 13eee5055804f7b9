/** One leaf of the plan: shape the parameters, resolve the target, ask it, ask again. What goes wrong here is an answer too. */
import { shapeParameters } from '../catalog/parameters.ts';
import type { Leaf, PlanNode } from '../catalog/plan.ts';
import { isTooDeep, RequestFault } from '../providers/faults.ts';
import type { JsonObject } from '../providers/provider.ts';
import type { Soon } from '../soon.ts';
import { type Answer, type Delivered, discard, type Joining, type Trail } from './answer.ts';
import { parametersOf } from './body.ts';
import { dialectOf } from './dialects/index.ts';
import { GatewayError } from './errors.ts';
import { exchange, failed, type Try } from './exchange.ts';
import type { Journey } from './journey.ts';
import { learned } from './learned.ts';
import { withMedia } from './media.ts';
import { type Operation, operationOf } from './operation.ts';
import type { GatewayParts } from './parts.ts';
import { isFinalRefusal, type RetryState, waitBefore } from './retry.ts';
import { resolveTarget } from './target.ts';
import { withUpload } from './upload.ts';
import { buildUpstream, type Upstream } from './upstream.ts';

export { failed };

export function attempt(
  parts: GatewayParts,
  journey: Journey,
  leaf: Leaf,
  delivered: Delivered | null,
): Promise<Answer> {
  const trail = newTrail(leaf);
  try {
    const shaped = shapeParameters(parametersOf(journey.body), leaf);
    const target = resolveTarget(parts, journey, leaf, shaped);
    trail.target = target;
    const call: Try = { parts, journey, leaf, trail, target };
    const begun = delivered?.text ? delivered : null;
    if (!begun && !target.provider.learns) return ask(call, shaped, 'fresh');
    return learnedFirst(call, shaped, begun).catch((fault) => spoilt(call, fault));
  } catch (fault) {
    return Promise.resolve(failed(trail, asGatewayError(parts, journey, fault)));
  }
}

async function learnedFirst(asked: Try, shaped: JsonObject, delivered: Delivered | null): Promise<Answer> {
  const { parts, journey, leaf, trail } = asked;
  const target = asked.target.provider.learns
    ? await learned(parts, journey, leaf, asked.target, shaped)
    : asked.target;
  trail.target = target;
  const call: Try = { ...asked, target };
  if (!delivered) return ask(call, shaped, 'fresh');
  const continued = target.provider.continuesPrefix ? await continueFrom(call, shaped, delivered) : null;
  return continued ?? ask(call, shaped, 'restarted');
}

const spoilt = ({ parts, journey, trail }: Try, fault: unknown): Answer =>
  failed(trail, asGatewayError(parts, journey, fault));

/** Asks a model that accepts the beginning of its own answer to go on from it; null when it refuses. */
async function continueFrom(call: Try, shaped: JsonObject, delivered: Delivered): Promise<Answer | null> {
  const { resume } = dialectOf(call.journey.matched.route.kind);
  if (!resume) return null;
  const answer = await ask(call, resume.continuation(shaped, delivered.text), 'continued');
  return answer.status === 400 || answer.status === 422 ? null : answer;
}

function ask(call: Try, shaped: JsonObject, joined: Joining): Promise<Answer> {
  const { journey, target, leaf } = call;
  const stream = asksForStream(journey, shaped);
  const strict = leaf.strictOpenAiCompliance && !journey.rules.strictOff;
  const asked = withUpload(
    journey,
    operationOf(journey, target, shaped, { stream, strict }),
    call.parts.settings.bodyLimit,
  );
  if (!(asked instanceof Promise || asked.translation?.media)) return askFor(call, asked, joined);
  return askWithMore(call, asked, joined).catch((fault) => spoilt(call, fault));
}

function askFor(call: Try, operation: Operation, joined: Joining): Promise<Answer> {
  const upstream = buildUpstream(call.journey, call.leaf, call.target, operation);
  call.trail.upstream = upstream;
  return repeatedly(call, upstream, joined, exchange);
}

/** With an upload that must be taken apart, or with media that must be fetched before. */
async function askWithMore(call: Try, asked: Soon<Operation>, joined: Joining): Promise<Answer> {
  const operation = await asked;
  const wanted = operation.translation?.media?.(operation.facts) ?? [];
  return askFor(call, wanted.length === 0 ? operation : await withMedia(call, operation, wanted), joined);
}

/** Tries until the target answers, its retries are used up, or trying again is no use. */
export async function repeatedly(
  call: Try,
  upstream: Upstream,
  joined: Joining,
  once: (call: Try, upstream: Upstream, joined: Joining) => Promise<Answer>,
): Promise<Answer> {
  const { parts, journey, trail } = call;
  const retry: RetryState = { made: 0, waitedMs: 0 };
  try {
    for (;;) {
      const answer = await once(call, upstream, joined);
      trail.retryCount = retry.made;
      const wait = nextWait(call, upstream, retry, answer);
      if (wait === 'done') return answer;
      if (wait === 'used up') {
        trail.retryCount = -1;
        return answer;
      }
      discard(answer);
      await parts.pause(wait, journey.request.gone);
      retry.made++;
      retry.waitedMs += wait;
    }
  } catch (fault) {
    return spoilt(call, fault);
  }
}

const asksForStream = (journey: Journey, shaped: JsonObject): boolean =>
  shaped.stream === true || (journey.body.form === 'form' && shaped.stream === 'true');

function nextWait(
  { parts, journey, leaf }: Try,
  upstream: Upstream,
  state: RetryState,
  { content, status, headers }: Answer,
): number | 'done' | 'used up' {
  const rule = leaf.retry ?? journey.rules.retry;
  if (!rule || rule.attempts === 0) return 'done';
  const unreachable = content.form === 'error' && isTransportFault(content.error);
  if (!unreachable && !rule.onStatus.has(status)) return 'done';
  if (content.form === 'error' && isOurRefusal(content.error)) return 'done';
  if (content.form === 'bytes' && isFinalRefusal(status, content.bytes)) return 'done';
  if (!upstream.repeatable || journey.request.left) return 'done';
  return waitBefore(rule, state, { status, headers, now: parts.clock.now() }) ?? 'used up';
}

/** Without an answer there is no status to look up in a list. */
const isTransportFault = ({ code }: GatewayError): boolean =>
  code === 'upstream_unreachable' || code === 'upstream_connect_timeout' || code === 'too_many_connections';

/** A provider that stays silent is not asked twice, and what we refuse ourselves we would refuse again. */
const isOurRefusal = ({ code, status }: GatewayError): boolean =>
  code === 'first_token_timeout' ||
  code === 'stream_stalled' ||
  (status < 500 && code !== 'request_timeout' && code !== 'upstream_refused');

export const newTrail = (node: PlanNode): Trail => {
  const now = performance.now();
  return {
    path: node.path,
    leaf: node.kind === 'leaf' ? node : null,
    target: null,
    upstream: null,
    status: 0,
    error: null,
    retryCount: 0,
    startedAt: now,
    endedAt: now,
    upstreamMs: 0,
    firstTokenMs: null,
    responseHeaders: null,
    received: null,
    usage: null,
    usageOpen: false,
    model: null,
    producedCharacters: 0,
    cacheStatus: 'DISABLED',
  };
};

export function asGatewayError(parts: GatewayParts, journey: Journey, fault: unknown): GatewayError {
  if (fault instanceof GatewayError) return fault;
  if (fault instanceof RequestFault) return new GatewayError('invalid_body', fault.message, { field: fault.field });
  if (isTooDeep(fault)) return new GatewayError('invalid_body', 'the body is nested too deeply', { field: 'body' });
  parts.onFault(fault, journey.requestId);
  return new GatewayError('internal_error', 'something went wrong on our side');
}
