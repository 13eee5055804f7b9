/** From an open upstream to a session: the client is accepted, and both are bound to each other, to the log and to the key. */
import type { InFlight } from '../../in-flight.ts';
import type { RequestContext } from '../context.ts';
import type { GatewayDeps } from '../deps.ts';
import { credentialOf } from '../request/identify.ts';
import { replyHeaders } from '../response/reply.ts';
import type { Routed } from '../routing/route.ts';
import { chosenProtocol, offeredProtocols } from './handshake.ts';
import { Session, type SessionTerms } from './session.ts';
import { SessionLog } from './session-log.ts';
import type { ProviderSocket } from './upstream-socket.ts';

const pingMs = 30_000;
/** Private close codes, after the statuses that the same faults have before a session. */
const keyGone = 4401;
const keyExhausted = 4412;
const tooFast = 4429;
/** A close frame has room for 123 bytes. */
const longestReason = 120;

/** False when the client has disconnected. */
export function openRealtimeSession(
  deps: GatewayDeps,
  context: RequestContext,
  routed: Routed,
  upstream: ProviderSocket,
  underway: InFlight,
): boolean {
  const headers = replyHeaders(context, routed.answer);
  const log = new SessionLog(deps, context, routed, headers, {
    exceeded: (refusal) =>
      session.dismissed(refusal.status === 429 ? tooFast : keyExhausted, refusal.message.slice(0, longestReason)),
    flooded: () => session.cut(tooFast, 'the provider ends more responses than can be accounted for'),
  });
  const { organisationId } = context.caller;
  const budget = deps.frameBudgets.open(organisationId);
  const leaveUnderway = underway.enter();
  const leave = () => {
    budget.close();
    deps.openTraces.end(context.request);
    leaveUnderway();
  };
  const session = new Session(upstream, deps.deadlines, {
    pingMs,
    standing: () => standing(deps, context),
    observe: (frame) => guarded(deps, context, () => log.observe(frame)) ?? 0,
    charge: (units) => budget.charge(units),
    gathers: (bytes) => granted(deps, organisationId, bytes),
    ended: (ending) => guarded(deps, context, () => log.end(ending)),
    over: leave,
  });
  const protocol = chosenProtocol(offeredProtocols(context.request.headers), upstream.protocol);
  if (context.request.upgrade(session, { ...headers, 'sec-websocket-protocol': protocol })) return true;
  leave();
  upstream.terminate();
  return false;
}

/** A key that was revoked or used up ends the sessions that were opened with it. */
async function standing(deps: GatewayDeps, context: RequestContext): ReturnType<SessionTerms['standing']> {
  try {
    const caller = await deps.keyring.find(credentialOf(context).credential);
    if (!caller) return { code: keyGone, reason: 'this API key is unknown, expired or revoked' };
    return caller.exhausted ? { code: keyExhausted, reason: 'usage limit exceeded for this API key' } : null;
  } catch (fault) {
    // The store is away: the session goes on with what was known when it began.
    deps.onFault(fault, context.requestId);
    return null;
  }
}

/** Messages that come in pieces share the memory of bodies. */
function granted({ bodies }: GatewayDeps, organisationId: string, bytes: number): boolean {
  if (bytes > 0) return bodies.take(organisationId, bytes);
  bodies.give(organisationId, -bytes);
  return true;
}

/** A fault in the log must not end the session. */
function guarded<T>(deps: GatewayDeps, context: RequestContext, work: () => T): T | undefined {
  try {
    return work();
  } catch (fault) {
    deps.onFault(fault, context.requestId);
    return undefined;
  }
}
