/** One leaf of the plan, for a session: resolve the target and open its WebSocket. What goes wrong here is an answer too. */
import { shapeParameters } from '../../catalog/parameters.ts';
import type { Leaf } from '../../catalog/plan.ts';
import type { JsonObject } from '../../providers/provider.ts';
import type { Answer } from '../attempt/answer.ts';
import { asGatewayError, newAttemptRecord, withRetries } from '../attempt/attempt.ts';
import type { AttemptContext } from '../attempt/context.ts';
import { failed } from '../attempt/exchange.ts';
import { operationOf } from '../attempt/operation.ts';
import { resolveTarget, type Target } from '../attempt/target.ts';
import { type RequestContext, timeoutOf } from '../context.ts';
import type { GatewayDeps } from '../deps.ts';
import { clientLeft, GatewayError } from '../errors.ts';
import { guardInput } from '../guardrails/guard-input.ts';
import { reserveStep } from '../limits/steps.ts';
import { parametersOf } from '../request/body.ts';
import { filledTarget } from '../secrets/filled-target.ts';
import { type Exchange, renewingExchange } from '../secrets/renewing-exchange.ts';
import { authorised } from '../upstream/authorised.ts';
import { secretsSent } from '../upstream/conceal.ts';
import { marked } from '../upstream/host-guard.ts';
import { explain, GivenUp } from '../upstream/send.ts';
import { buildUpstream, type Upstream } from '../upstream/upstream-request.ts';
import { offeredProtocols, upstreamQuery } from './handshake.ts';
import { type SessionHandshake, SessionRefused } from './refusal-words.ts';
import { TranslatedSocket } from './translated-socket.ts';
import { type DialAddress, type ProviderSocket, UpstreamSocket } from './upstream-socket.ts';

export async function dialSession(deps: GatewayDeps, context: RequestContext, leaf: Leaf): Promise<Answer> {
  const record = newAttemptRecord(leaf);
  try {
    const shaped = shapeParameters(parametersOf(context.body), leaf);
    const target = await filledTarget(deps, context, leaf, resolveTarget(deps, context, leaf, shaped));
    record.target = target;
    const upstream = sessionUpstream(context, leaf, target, shaped);
    record.upstream = upstream;
    const call: AttemptContext = { deps, context, leaf, record, target, shaped };
    const refusal = (guardInput.applies(call) ? await guardInput.run(call) : null) ?? (await reserved(call));
    return refusal ?? (await withRetries(call, upstream, 'fresh', dialing(call)));
  } catch (fault) {
    return failed(record, asGatewayError(deps, context, fault));
  }
}

/** A provider that refuses credentials from a secret manager is asked once more with newer ones. */
const dialing = ({ target }: AttemptContext): Exchange =>
  target.saved?.secrets
    ? renewingExchange(dialOnce, (call) => sessionUpstream(call.context, call.leaf, call.target, call.shaped))
    : dialOnce;

/** A session reserves like any other call; it has no input to guard and nothing to recall yet. */
async function reserved(call: AttemptContext): Promise<Answer | null> {
  const step = call.deps.steps.send.find(({ name }) => name === reserveStep);
  return step?.applies(call) ? step.run(call) : null;
}

async function dialOnce(call: AttemptContext, upstream: Upstream): Promise<Answer> {
  const { record } = call;
  const sentAt = performance.now();
  try {
    const socket = inDialect(call, upstream, await open(call, upstream));
    record.status = 101;
    record.error = null;
    return { status: 101, headers: null, content: { form: 'socket', socket }, record, rescue: null };
  } catch (fault) {
    return failed(record, asGatewayError(call.deps, call.context, fault));
  } finally {
    record.endedAt = performance.now();
    record.upstreamMs += record.endedAt - sentAt;
  }
}

/** Clients speak OpenAI's events, whatever the provider speaks. */
function inDialect(
  { deps, context }: AttemptContext,
  { endpoint, facts }: Upstream,
  socket: UpstreamSocket,
): ProviderSocket {
  if (!endpoint.realtime) return socket;
  return new TranslatedSocket(socket, endpoint.realtime(facts), (fault) => deps.onFault(fault, context.requestId));
}

function sessionUpstream(context: RequestContext, leaf: Leaf, target: Target, shaped: JsonObject): Upstream {
  const asked = { ...context, query: upstreamQuery(context.query, target.model) };
  const operation = operationOf(asked, target, shaped, { stream: true, strict: true });
  const upstream = buildUpstream(asked, leaf, target, operation);
  if (target.provider.local) {
    throw new GatewayError('unsupported_endpoint', `the provider ${target.provider.id} does not offer realtime`);
  }
  // The handshake with the provider is our own.
  const own = Object.entries(upstream.headers).filter(([name]) => !/^sec-websocket-/i.test(name));
  const headers = Object.fromEntries(own);
  const beta = context.own.get('openai-beta') ?? context.request.headers.get('openai-beta');
  if (beta && !upstream.endpoint.realtime) headers['openai-beta'] = beta;
  return { ...upstream, headers };
}

async function open({ deps, context, leaf, target }: AttemptContext, upstream: Upstream): Promise<UpstreamSocket> {
  const abort = new AbortController();
  const giveUp = (error: GatewayError) => abort.abort(new GivenUp(error));
  const leave = () => giveUp(clientLeft());
  const gone = context.request.gone;
  if (gone.aborted) leave();
  else gone.addEventListener('abort', leave, { once: true });
  const timeoutMs = timeoutOf(deps, context, leaf);
  const deadline = deps.deadlines.set(timeoutMs, () =>
    giveUp(new GatewayError('request_timeout', `the provider did not accept the session within ${timeoutMs} ms`)),
  );
  try {
    const handshake = await handshakeOf(deps, context, await authorised(deps, target, upstream, abort.signal));
    const address = addressOf(handshake);
    const secrets = () => secretsSent(target, handshake);
    const socket = withinShare(deps, upstream.tenant, () =>
      UpstreamSocket.open(address, abort.signal, secrets).catch((fault) => {
        if (!tookNoOffer(fault)) throw fault;
        return UpstreamSocket.open({ ...address, protocols: [] }, abort.signal, secrets);
      }),
    );
    return await socket.catch((fault) => {
      throw refusal(fault, target, handshake) ?? fault;
    });
  } catch (fault) {
    throw explain(fault, abort.signal, target);
  } finally {
    deadline.clear();
    gone.removeEventListener('abort', leave);
  }
}

/** A session takes a connection out of the organisation's share, until it is over. */
async function withinShare(
  { http }: GatewayDeps,
  tenant: string,
  open: () => Promise<UpstreamSocket>,
): Promise<UpstreamSocket> {
  http.claim(tenant);
  try {
    const socket = await open();
    socket.whenClosed(() => http.release(tenant));
    return socket;
  } catch (fault) {
    http.release(tenant);
    throw fault;
  }
}

async function handshakeOf(
  deps: GatewayDeps,
  context: RequestContext,
  { url, headers, endpoint, customHost, tenant }: Upstream,
): Promise<SessionHandshake> {
  const protocols = endpoint.realtime ? [] : offeredProtocols(context.request.headers).forProvider;
  return {
    url,
    headers: customHost ? marked(headers, deps.hostGuard.mark) : headers,
    protocols,
    pinned: customHost ? await deps.hostGuard.check(url, tenant) : null,
  };
}

function addressOf({ url, headers, protocols, pinned }: SessionHandshake): DialAddress {
  if (!pinned) return { url: webSocketUrl(url), headers, protocols, serverName: null };
  const address = new URL(url);
  address.hostname = pinned.address.includes(':') ? `[${pinned.address}]` : pinned.address;
  return {
    url: webSocketUrl(address.href),
    headers: { ...headers, host: pinned.host },
    protocols,
    serverName: pinned.name,
  };
}

/** A provider that takes none of the subprotocols has accepted all the same. Bun's client has not, so it offers none instead. */
const tookNoOffer = (fault: unknown): boolean =>
  fault instanceof Error && fault.message.includes('Missing client protocol');

const webSocketUrl = (url: string): string => url.replace(/^http/i, 'ws');

/** A provider's own refusal, with its status. Bun tells that status in the words of its error and nowhere else. */
function refusal(fault: unknown, target: Target, handshake: SessionHandshake): GatewayError | null {
  const told = fault instanceof Error ? /Expected 101 status code: (\d{3})/.exec(fault.message) : null;
  if (!told) return null;
  const name = target.saved ? `@${target.saved.slug}` : target.provider.id;
  return new SessionRefused(name, Number(told[1]), handshake);
}
