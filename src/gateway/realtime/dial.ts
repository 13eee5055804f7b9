/** One leaf of the plan, for a session: resolve the target and open its WebSocket. What goes wrong here is an answer too. */
import { shapeParameters } from '../../catalog/parameters.ts';
import type { Leaf } from '../../catalog/plan.ts';
import type { JsonObject } from '../../providers/provider.ts';
import type { Answer } from '../answer.ts';
import { asGatewayError, newTrail, repeatedly } from '../attempt.ts';
import { authorised } from '../authorised.ts';
import { parametersOf } from '../body.ts';
import { clientLeft, GatewayError } from '../errors.ts';
import { failed, type Try } from '../exchange.ts';
import { type Journey, timeoutOf } from '../journey.ts';
import { operationOf } from '../operation.ts';
import type { GatewayParts } from '../parts.ts';
import { explain, GivenUp } from '../send.ts';
import { resolveTarget, type Target } from '../target.ts';
import { buildUpstream, type Upstream } from '../upstream.ts';
import { offeredProtocols, upstreamQuery } from './handshake.ts';
import { TranslatedSocket } from './translated-socket.ts';
import { type DialAddress, type ProviderSocket, UpstreamSocket } from './upstream-socket.ts';

export async function dial(parts: GatewayParts, journey: Journey, leaf: Leaf): Promise<Answer> {
  const trail = newTrail(leaf);
  try {
    const shaped = shapeParameters(parametersOf(journey.body), leaf);
    const target = resolveTarget(parts, journey, leaf, shaped);
    trail.target = target;
    const upstream = sessionUpstream(journey, leaf, target, shaped);
    trail.upstream = upstream;
    const call: Try = { parts, journey, leaf, trail, target };
    return await repeatedly(call, upstream, 'fresh', dialOnce);
  } catch (fault) {
    return failed(trail, asGatewayError(parts, journey, fault));
  }
}

async function dialOnce(call: Try, upstream: Upstream): Promise<Answer> {
  const { trail } = call;
  const sentAt = performance.now();
  try {
    const socket = inDialect(call, upstream, await open(call, upstream));
    trail.status = 101;
    trail.error = null;
    return { status: 101, headers: null, content: { form: 'socket', socket }, trail, rescue: null };
  } catch (fault) {
    return failed(trail, asGatewayError(call.parts, call.journey, fault));
  } finally {
    trail.endedAt = performance.now();
    trail.upstreamMs += trail.endedAt - sentAt;
  }
}

/** Clients speak OpenAI's events, whatever the provider speaks. */
function inDialect({ parts, journey }: Try, { endpoint, facts }: Upstream, socket: UpstreamSocket): ProviderSocket {
  if (!endpoint.realtime) return socket;
  return new TranslatedSocket(socket, endpoint.realtime(facts), (fault) => parts.onFault(fault, journey.requestId));
}

function sessionUpstream(journey: Journey, leaf: Leaf, target: Target, shaped: JsonObject): Upstream {
  const asked = { ...journey, query: upstreamQuery(journey.query, target.model) };
  const operation = operationOf(asked, target, shaped, { stream: true, strict: true });
  const upstream = buildUpstream(asked, leaf, target, operation);
  if (target.provider.local) {
    throw new GatewayError('unsupported_endpoint', `the provider ${target.provider.id} does not offer realtime`);
  }
  // The handshake with the provider is our own.
  const own = Object.entries(upstream.headers).filter(([name]) => !/^sec-websocket-/i.test(name));
  const headers = Object.fromEntries(own);
  const beta = journey.own.get('openai-beta') ?? journey.request.headers.get('openai-beta');
  if (beta && !upstream.endpoint.realtime) headers['openai-beta'] = beta;
  return { ...upstream, headers };
}

async function open({ parts, journey, leaf, target }: Try, upstream: Upstream): Promise<UpstreamSocket> {
  const abort = new AbortController();
  const giveUp = (error: GatewayError) => abort.abort(new GivenUp(error));
  const leave = () => giveUp(clientLeft());
  const gone = journey.request.gone;
  if (gone.aborted) leave();
  else gone.addEventListener('abort', leave, { once: true });
  const timeoutMs = timeoutOf(parts, journey, leaf);
  const deadline = parts.deadlines.set(timeoutMs, () =>
    giveUp(new GatewayError('request_timeout', `the provider did not accept the session within ${timeoutMs} ms`)),
  );
  try {
    const address = await addressOf(parts, journey, await authorised(parts, target, upstream, abort.signal));
    return await UpstreamSocket.open(address, abort.signal).catch((fault) => {
      if (!tookNoOffer(fault)) throw fault;
      return UpstreamSocket.open({ ...address, protocols: [] }, abort.signal);
    });
  } catch (fault) {
    throw refusal(fault, target) ?? explain(fault, abort.signal, target);
  } finally {
    deadline.clear();
    gone.removeEventListener('abort', leave);
  }
}

async function addressOf(parts: GatewayParts, journey: Journey, upstream: Upstream): Promise<DialAddress> {
  const { url, headers, endpoint } = upstream;
  const protocols = endpoint.realtime ? [] : offeredProtocols(journey.request.headers).forProvider;
  const pinned = upstream.customHost ? await parts.hostGuard.check(url) : null;
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

/**
 * A provider's own refusal, with its status. Bun tells that status in the words of its error and nowhere else; asking
 * again over plain HTTP would be answered for another request than the one that was refused.
 */
function refusal(fault: unknown, target: Target): GatewayError | null {
  const told = fault instanceof Error ? /Expected 101 status code: (\d{3})/.exec(fault.message) : null;
  if (!told) return null;
  const status = Number(told[1]);
  const name = target.saved ? `@${target.saved.slug}` : target.provider.id;
  return new GatewayError('upstream_refused', `${name} refused the session with status ${status}`, {
    ...(status >= 400 && { status }),
  });
}
