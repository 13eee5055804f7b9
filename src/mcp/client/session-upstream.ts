/** The way from a client's session to the upstream's own: found by the session id, held in this process, or opened anew. */
import type { CallContext } from '../call-context.ts';
import type { McpDeps } from '../deps.ts';
import { withoutTasks } from '../tasks/capability.ts';
import type { Link, ServerFacts } from '../upstream/link.ts';
import { SessionLink } from '../upstream/session-link.ts';
import { StatelessLink } from '../upstream/stateless-link.ts';
import type { SessionState } from './session-token.ts';
import type { LocalSession } from './sessions.ts';

/** A message with the session that it belongs to. */
export interface InSession {
  context: CallContext;
  state: SessionState;
  local: LocalSession;
}

/** Stands in place of an upstream's session id where it speaks only on a stream that this process holds. */
export const heldMark = '@pair';

export const holdsConnection = (link: Link): boolean =>
  !(link instanceof SessionLink) && !(link instanceof StatelessLink);

/** `lost`: the upstream no longer knows the session. */
export async function linkOf(deps: McpDeps, session: InSession, lost: boolean): Promise<Link> {
  const { state, local, context } = session;
  const { server, identity } = context;
  const { upstream } = state;
  if (upstream.sessionId === heldMark || lost) {
    if (lost) local.link = null;
    if (local.link) return local.link;
    local.reopening ??= reopened(deps, session).finally(() => {
      local.reopening = null;
    });
    return local.reopening;
  }
  const facts: ServerFacts = {
    protocolVersion: upstream.version,
    capabilities: upstream.capabilities,
    serverInfo: {},
    instructions: null,
  };
  if (upstream.era === 'stateless') {
    const client = { ...state.client, capabilities: withoutTasks(state.client.capabilities) };
    return new StatelessLink(deps.upstream, server, identity, client, facts);
  }
  const id = local.reopened ? local.reopened.sessionId : upstream.sessionId;
  return new SessionLink(deps.upstream, server, identity, { id, facts });
}

/** The upstream forgot the session, or another node holds it: another is opened in its place, for the same client. */
async function reopened(deps: McpDeps, { state, local, context }: InSession): Promise<Link> {
  const { server, identity } = context;
  const link = await deps.opener.open({
    upstream: server,
    identity,
    client: state.client,
    era: 'session',
    version: state.version,
  });
  if (link.era === 'session') {
    await link.send({ kind: 'notification', method: 'notifications/initialized', params: {} });
  }
  if (holdsConnection(link)) local.link = link;
  else local.reopened = { sessionId: link.sessionId };
  return link;
}
