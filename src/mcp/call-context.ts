/** One message on its way: who sent it to which server, and under which ids it is followed. */
import type { McpServer } from '../catalog/mcp/server.ts';
import type { Identified } from '../gateway/context.ts';
import type { BodyLease } from '../gateway/request/body-budget.ts';
import type { McpDeps } from './deps.ts';
import type { McpArrival } from './identify.ts';
import type { Principal, UpstreamIdentity } from './principal.ts';
import type { ClientFacts } from './upstream/link.ts';

export interface CallContext {
  principal: Principal;
  server: McpServer;
  identity: UpstreamIdentity;
  asked: McpArrival;
  client: ClientFacts;
  /** The client's session, as logs name it. */
  sessionId: string | null;
  /** Claims of an end user's own token, where the integration asks for one. */
  userClaims: Readonly<Record<string, unknown>> | null;
  /** Who calls, as every route of the data plane knows it, and under which ids the message is followed. */
  identified: Identified;
  requestId: string;
}

/** The same context for another message, with ids of its own. */
export function followedAs(context: CallContext, ids: Partial<Pick<Identified, MessageId>>): CallContext {
  const identified = { ...context.identified, ...ids };
  return { ...context, identified, requestId: identified.requestId };
}

type MessageId = 'requestId' | 'traceId' | 'spanId' | 'parentSpanId' | 'receivedAt' | 'startedAt';

/** A caller who signs in themselves, or whose identity is forwarded to the upstream, has their own connections. */
export function upstreamIdentityOf(
  server: McpServer,
  principal: Principal,
  { headers, origin }: Pick<McpArrival, 'headers' | 'origin'>,
): UpstreamIdentity {
  const { settings, authType } = server;
  const own = authType === 'oauth_auto' || settings.user_identity_forwarding || settings.forward_headers;
  return {
    key: own ? (principal.userId ?? principal.id) : 'shared',
    userId: principal.userId,
    claims: principal.claims,
    bearer: principal.bearer,
    origin,
    headers,
  };
}

/** Counts what a client leaves unread of its streams. */
export const leaseFor = ({ services }: McpDeps, { identified }: CallContext): BodyLease =>
  services.lease(identified.caller.organisationId);
