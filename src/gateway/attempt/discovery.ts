/** What a provider must be asked before calls to a target can be made; remembered, so that few of them wait for it. */
import type { Leaf } from '../../catalog/plan.ts';
import { objectIn } from '../../providers/json.ts';
import type { CallFacts, Discovery, JsonObject, TargetFields } from '../../providers/provider.ts';
import { Abort } from '../../wire/abort.ts';
import { isOk } from '../../wire/client/answer.ts';
import { type RequestContext, timeoutOf } from '../context.ts';
import type { Token } from '../credentials/token-cache.ts';
import type { GatewayDeps } from '../deps.ts';
import { clientLeft, GatewayError } from '../errors.ts';
import { sendAuthorised } from '../upstream/authorised.ts';
import { unlessGivenUp } from '../upstream/given-up.ts';
import { bytesOf, GivenUp } from '../upstream/send.ts';
import { baseAddress, wholeAddress } from '../upstream/upstream-address.ts';
import type { Upstream } from '../upstream/upstream-request.ts';
import { factsOf } from './operation.ts';
import type { Target } from './target.ts';

const rememberedMs = 24 * 60 * 60_000;
/** Not long, because rights may be given meanwhile. */
const unknownMs = 10 * 60_000;
/** Calls can go on without an answer. */
const discoveryTimeoutMs = 5_000;

/** The very same target where there is nothing to ask. */
export function discovered(
  deps: GatewayDeps,
  context: RequestContext,
  leaf: Leaf,
  target: Target,
  shaped: JsonObject,
): Target | Promise<Target> {
  const discovery = target.provider.discovers?.(target);
  if (!discovery) return target;
  // Who may not ask is told nothing by what others have learned.
  const asked = { path: discovery.call.path, credential: target.credential, fields: target.fields };
  const facts = factsOf(context, target, shaped, false, true);
  const told = deps.discoveries.get(asked, () => ask(deps, target, discovery, facts, context.caller.organisationId));
  return inTime(deps, context, leaf, told).then((fields) => ({ ...target, fields: { ...target.fields, ...fields } }));
}

/** Others may wait for the same answer: who leaves, or has no time left, stops waiting. */
async function inTime<T>(deps: GatewayDeps, context: RequestContext, leaf: Leaf, told: Promise<T>): Promise<T> {
  const stop = new Abort();
  const timeoutMs = timeoutOf(deps, context, leaf);
  const deadline = deps.deadlines.set(timeoutMs, () =>
    stop.abort(new GatewayError('request_timeout', `the provider did not answer within ${timeoutMs} ms`)),
  );
  const gone = context.request.gone;
  const leave = () => stop.abort(clientLeft());
  gone.addEventListener('abort', leave, { once: true });
  try {
    return await unlessGivenUp(told, stop.signal);
  } finally {
    deadline.clear();
    gone.removeEventListener('abort', leave);
  }
}

async function ask(
  deps: GatewayDeps,
  target: Target,
  { call, read }: Discovery,
  facts: CallFacts,
  tenant: string,
): Promise<Token<TargetFields>> {
  const upstream: Upstream = {
    url: wholeAddress(call.path),
    method: call.method,
    headers: { ...target.provider.headers(facts), ...call.headers },
    body: null,
    repeatable: true,
    changed: false,
    tenant,
    customHost: target.customHost !== null,
    passthrough: false,
    facts,
    endpoint: {},
    translation: null,
    base: baseAddress(call.path),
    usageAsked: false,
    sensitive: [],
  };
  const now = deps.clock.now().getTime();
  const answer = await answerTo(deps, target, upstream);
  return answer ? { value: read(answer), expiresAt: now + rememberedMs } : { value: {}, expiresAt: now + unknownMs };
}

/** Null where there is none: the call itself is then made without knowing, and tells what is wrong. */
async function answerTo(deps: GatewayDeps, target: Target, upstream: Upstream): Promise<JsonObject | null> {
  const abort = new Abort();
  const silent = new GivenUp(new GatewayError('upstream_unreachable', 'the provider does not answer'));
  const deadline = deps.deadlines.set(discoveryTimeoutMs, () => abort.abort(silent));
  const lease = deps.bodies.lease(upstream.tenant);
  try {
    const response = await sendAuthorised(deps, target, upstream, abort.signal);
    const bytes = await bytesOf(response, abort.signal, target, {
      limit: deps.settings.answerLimit,
      hold: lease.hold,
    });
    return isOk(response) ? objectIn(bytes) : null;
  } catch (fault) {
    if (fault instanceof GatewayError) return null;
    throw fault;
  } finally {
    lease.release();
    deadline.clear();
  }
}
