/** From an open upstream to a session: the client is accepted, and both are bound to each other, to the log and to the key. */
import type { Underway } from '../../underway.ts';
import { credentialOf } from '../identify.ts';
import type { Journey } from '../journey.ts';
import type { GatewayParts } from '../parts.ts';
import { replyHeaders } from '../reply.ts';
import type { Routed } from '../route.ts';
import { chosenProtocol, offeredProtocols } from './handshake.ts';
import { Session, type SessionTerms } from './session.ts';
import { SessionLog } from './session-log.ts';
import type { ProviderSocket } from './upstream-socket.ts';

const pingMs = 30_000;
/** Private close codes, after the statuses that the same faults have before a session. */
const keyGone = 4401;
const keyExhausted = 4412;

/** False when the client is gone. */
export function openSession(
  parts: GatewayParts,
  journey: Journey,
  routed: Routed,
  upstream: ProviderSocket,
  underway: Underway,
): boolean {
  const headers = replyHeaders(journey, routed.answer);
  const log = new SessionLog(parts, journey, routed, headers);
  const leave = underway.enter();
  const session = new Session(upstream, parts.deadlines, {
    pingMs,
    standing: () => standing(parts, journey),
    observe: (frame) => guarded(parts, journey, () => log.observe(frame)),
    ended: (ending) => guarded(parts, journey, () => log.end(ending)),
    over: leave,
  });
  const protocol = chosenProtocol(offeredProtocols(journey.request.headers), upstream.protocol);
  if (journey.request.upgrade(session, { ...headers, 'sec-websocket-protocol': protocol })) return true;
  leave();
  upstream.terminate();
  return false;
}

/** A key that was revoked or used up ends the sessions that were opened with it. */
async function standing(parts: GatewayParts, journey: Journey): ReturnType<SessionTerms['standing']> {
  try {
    const caller = await parts.keyring.find(credentialOf(journey).credential);
    if (!caller) return { code: keyGone, reason: 'this API key is unknown, expired or revoked' };
    return caller.exhausted ? { code: keyExhausted, reason: 'usage limit exceeded for this API key' } : null;
  } catch (fault) {
    // The store is away: the session goes on with what was known when it began.
    parts.onFault(fault, journey.requestId);
    return null;
  }
}

/** A fault in the log must not end the session. */
function guarded(parts: GatewayParts, journey: Journey, work: () => void): void {
  try {
    work();
  } catch (fault) {
    parts.onFault(fault, journey.requestId);
  }
}
