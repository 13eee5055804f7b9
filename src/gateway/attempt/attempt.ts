/** One leaf of the plan: shape the parameters, resolve the target, ask it, ask again. What goes wrong here is an answer too. */
import { shapeParameters } from '../../catalog/parameters.ts';
import type { Leaf, PlanNode, RetryRule } from '../../catalog/plan.ts';
import type { MaybePromise } from '../../maybe-promise.ts';
import { isTooDeep, MissingFault, RequestFault } from '../../providers/faults.ts';
import type { JsonObject } from '../../providers/provider.ts';
import type { PromptUse, RequestContext } from '../context.ts';
import type { GatewayDeps } from '../deps.ts';
import { dialectOf } from '../dialects/index.ts';
import { GatewayError } from '../errors.ts';
import { reported } from '../guardrails/report.ts';
import { parametersOf } from '../request/body.ts';
import { filledTarget } from '../secrets/filled-target.ts';
import { renewingExchange } from '../secrets/renewing-exchange.ts';
import { withMedia } from '../upstream/media.ts';
import { withUpload } from '../upstream/upload.ts';
import { buildUpstream, type Upstream } from '../upstream/upstream-request.ts';
import { type Answer, type AttemptRecord, type Delivered, discard, type Joining } from './answer.ts';
import type { AttemptContext } from './context.ts';
import { discovered } from './discovery.ts';
import { exchange, failed } from './exchange.ts';
import { type Operation, operationOf } from './operation.ts';
import { isFinalRefusal, type RetryState, waitBefore } from './retry.ts';
import { hasSendSteps, runAnswerSteps, runSendSteps } from './steps.ts';
import { resolveTarget, type Target } from './target.ts';

export { failed };

/** One target, step by step: shape, guard the input, recall from the cache, reserve, send with retries, guard the output. */
export function attempt(
  deps: GatewayDeps,
  context: RequestContext,
  leaf: Leaf,
  delivered: Delivered | null,
): Promise<Answer> {
  const record = newAttemptRecord(leaf);
  try {
    if (leaf.promptId !== null && context.prompt) {
      const swapped = withPromptOf(context, context.prompt, leaf.promptId);
      if (swapped !== context) return attempt(deps, swapped, { ...leaf, promptId: null }, delivered);
    }
    const shaped = shapeParameters(parametersOf(context.body), leaf);
    const target = resolveTarget(deps, context, leaf, shaped);
    record.target = target;
    const call: AttemptContext = { deps, context, leaf, record, target, shaped };
    if (!target.saved?.secrets) return begin(call, delivered);
    const filled = filledTarget(deps, context, leaf, target);
    if (!(filled instanceof Promise)) return begin(withTarget(call, filled), delivered);
    return filled.then((known) => begin(withTarget(call, known), delivered)).catch((fault) => asFailure(call, fault));
  } catch (fault) {
    return Promise.resolve(failed(record, asGatewayError(deps, context, fault)));
  }
}

function begin(call: AttemptContext, delivered: Delivered | null): Promise<Answer> {
  const begun = delivered?.text ? delivered : null;
  if (!begun && !call.target.provider.discovers && !hasSendSteps(call)) return ask(call, 'fresh');
  return prepared(call, begun).catch((fault) => asFailure(call, fault));
}

function withTarget(call: AttemptContext, target: Target): AttemptContext {
  call.record.target = target;
  return { ...call, target };
}

/** The request as the prompt of this target makes it. */
function withPromptOf(context: RequestContext, { swaps }: PromptUse, promptId: string): RequestContext {
  const prompt = swaps?.get(promptId);
  if (!prompt) return context;
  if (prompt instanceof GatewayError) throw prompt;
  return {
    ...context,
    prompt,
    body: prompt.body,
    provider: { ...context.provider, savedSlug: context.provider.name === null ? prompt.provider : null },
  };
}

/** With what must be done before the target can be asked. */
async function prepared(asked: AttemptContext, delivered: Delivered | null): Promise<Answer> {
  const answered = await runSendSteps(asked);
  if (answered) return reported(asked, answered);
  const call = asked.target.provider.discovers ? await withDiscoveries(asked) : asked;
  if (!delivered) return ask(call, 'fresh');
  const continued = call.target.provider.continuesPrefix ? await continueFrom(call, delivered) : null;
  return continued ?? ask(call, 'restarted');
}

async function withDiscoveries(asked: AttemptContext): Promise<AttemptContext> {
  const { deps, context, leaf } = asked;
  return withTarget(asked, await discovered(deps, context, leaf, asked.target, asked.shaped));
}

const asFailure = ({ deps, context, record }: AttemptContext, fault: unknown): Answer =>
  failed(record, asGatewayError(deps, context, fault));

/** Asks a model that accepts the beginning of its own answer to go on from it; null when it refuses. */
async function continueFrom(call: AttemptContext, delivered: Delivered): Promise<Answer | null> {
  const { resume } = dialectOf(call.context.matched.route.kind);
  if (!resume) return null;
  const answer = await ask({ ...call, shaped: resume.continuation(call.shaped, delivered.text) }, 'continued');
  return answer.status === 400 || answer.status === 422 ? null : answer;
}

function ask(call: AttemptContext, joined: Joining): Promise<Answer> {
  const { context, target, leaf, shaped } = call;
  const stream = asksForStream(context, shaped);
  const strict = leaf.strictOpenAiCompliance && !context.rules.strictOff;
  const asked = withUpload(
    context,
    operationOf(context, target, shaped, { stream, strict }),
    call.deps.settings.bodyLimit,
  );
  if (!(asked instanceof Promise || asked.translation?.media)) return askFor(call, asked, joined);
  return askWithMore(call, asked, joined).catch((fault) => asFailure(call, fault));
}

function askFor(call: AttemptContext, operation: Operation, joined: Joining): Promise<Answer> {
  const upstream = buildUpstream(call.context, call.leaf, call.target, operation);
  call.record.upstream = upstream;
  const { body } = call.context;
  if (operation.translation && body.form === 'json' && call.shaped !== body.json)
    call.record.finalRequest = call.shaped;
  const once = call.target.saved?.secrets
    ? renewingExchange(exchange, (renewed) => upstreamFor(renewed, operation))
    : exchange;
  return withRetries(call, upstream, joined, once);
}

/** The same operation with other credentials. */
const upstreamFor = ({ context, leaf, target }: AttemptContext, operation: Operation): Upstream => {
  const { credential, fields, customHost } = target;
  const facts = { ...operation.facts, credential, fields, customHost };
  return buildUpstream(context, leaf, target, { ...operation, facts });
};

/** With an upload that must be taken apart, or with media that must be fetched before. */
async function askWithMore(call: AttemptContext, asked: MaybePromise<Operation>, joined: Joining): Promise<Answer> {
  const operation = await asked;
  const wanted = operation.translation?.media?.(operation.facts) ?? [];
  return askFor(call, wanted.length === 0 ? operation : await withMedia(call, operation, wanted), joined);
}

/** Tries until the target answers, its retries are used up, or trying again is no use. */
export async function withRetries(
  call: AttemptContext,
  upstream: Upstream,
  joined: Joining,
  once: (call: AttemptContext, upstream: Upstream, joined: Joining) => Promise<Answer>,
): Promise<Answer> {
  const { deps, context, record } = call;
  const retry: RetryState = { made: 0, waitedMs: 0 };
  try {
    for (;;) {
      const received = await once(call, upstream, joined);
      const judged = runAnswerSteps(call, received);
      const answer = judged instanceof Promise ? await judged : judged;
      record.retryCount = retry.made;
      const wait = nextWait(call, upstream, retry, answer);
      if (wait === 'done') return answer;
      if (wait === 'used up') {
        record.retryCount = -1;
        return answer;
      }
      discard(answer);
      record.retries = [...record.retries, { status: answer.status, waitMs: wait }];
      await deps.pause(wait, context.request.gone);
      retry.made++;
      retry.waitedMs += wait;
    }
  } catch (fault) {
    return asFailure(call, fault);
  }
}

const asksForStream = (context: RequestContext, shaped: JsonObject): boolean =>
  shaped.stream === true || (context.body.form === 'form' && shaped.stream === 'true');

function nextWait(
  { deps, context, leaf, record }: AttemptContext,
  upstream: Upstream,
  state: RetryState,
  { content, status, headers }: Answer,
): number | 'done' | 'used up' {
  const rule = leaf.retry ?? context.rules.retry;
  if (!rule || rule.attempts === 0) return 'done';
  if (isVerdict(status)) return nextAfterVerdict(record, rule, state, upstream);
  const unreachable = content.form === 'error' && isTransportFault(content.error);
  if (!unreachable && !rule.onStatus.has(status)) return 'done';
  if (content.form === 'error' && isOurRefusal(content.error)) return 'done';
  if (content.form === 'bytes' && isFinalRefusal(status, content.bytes)) return 'done';
  if (!upstream.repeatable || context.request.left) return 'done';
  return waitBefore(rule, state, { status, headers, now: deps.clock.now() }) ?? 'used up';
}

/** The statuses by which output guardrails say that an answer failed. */
const isVerdict = (status: number): boolean => status === 246 || status === 446;

/** An answer that guardrails refuse may be asked for again at once: the provider did nothing wrong. What they say of the input stays the same. */
function nextAfterVerdict(
  { guard, status }: AttemptRecord,
  rule: RetryRule,
  { made }: RetryState,
  { repeatable }: Upstream,
): number | 'done' | 'used up' {
  if (!guard?.outputFailed || !rule.onStatus.has(status) || !repeatable) return 'done';
  return made < rule.attempts ? 0 : 'used up';
}

/** Without an answer there is no status to look up in a list. */
const isTransportFault = ({ code }: GatewayError): boolean =>
  code === 'upstream_unreachable' || code === 'upstream_connect_timeout' || code === 'too_many_connections';

/** A provider that stays silent is not asked twice, and what we refuse ourselves we would refuse again. */
const isOurRefusal = ({ code, status }: GatewayError): boolean =>
  code === 'first_token_timeout' ||
  code === 'stream_stalled' ||
  (status < 500 && code !== 'request_timeout' && code !== 'upstream_refused');

const noRetries: AttemptRecord['retries'] = [];

export const newAttemptRecord = (node: PlanNode): AttemptRecord => {
  const now = performance.now();
  return {
    path: node.path,
    leaf: node.kind === 'leaf' ? node : null,
    target: null,
    upstream: null,
    status: 0,
    error: null,
    retryCount: 0,
    retries: noRetries,
    rule: 'single',
    replays: 0,
    startedAt: now,
    endedAt: now,
    upstreamMs: 0,
    firstTokenMs: null,
    sentAt: null,
    cacheMs: null,
    translationMs: null,
    responseHeaders: null,
    received: null,
    answered: null,
    preview: null,
    original: null,
    usage: null,
    usageOpen: false,
    model: null,
    producedCharacters: 0,
    producedText: null,
    cacheStatus: 'DISABLED',
    guard: null,
    withheld: false,
  };
};

export function asGatewayError(deps: GatewayDeps, context: RequestContext, fault: unknown): GatewayError {
  if (fault instanceof GatewayError) return fault;
  if (fault instanceof MissingFault) {
    return new GatewayError(`${fault.kind}_not_found`, fault.message, { field: fault.field });
  }
  if (fault instanceof RequestFault) return new GatewayError('invalid_body', fault.message, { field: fault.field });
  if (isTooDeep(fault)) return new GatewayError('invalid_body', 'the body is nested too deeply', { field: 'body' });
  deps.onFault(fault, context.requestId);
  return new GatewayError('internal_error', 'something went wrong on our side');
}
