/** Session ids: sealed tokens that hold the session, so that any node can serve it and none must keep it. */
import { isFields } from '../protocol/json-rpc.ts';
import type { Era } from '../protocol/versions.ts';
import type { ClientFacts, ServerFacts } from '../upstream/link.ts';

export interface SessionState {
  serverId: string;
  principalId: string;
  /** The revision that was agreed on with the client. */
  version: string;
  client: ClientFacts;
  upstream: { era: Era; sessionId: string | null; version: string; capabilities: ServerFacts['capabilities'] };
  /** Milliseconds since the epoch. */
  openedAt: number;
}

export interface SessionSeal {
  seal(text: string): string;
  /** Throws where it was not sealed by us. */
  open(token: string): string;
}

/** No session outlives a day, however busy. */
const longestLifeMs = 24 * 3_600_000;
const longestName = 100;
const mostCapabilityText = 1_024;

export const sealSession = (seal: SessionSeal, state: SessionState): string => {
  const { info, capabilities } = state.client;
  return seal.seal(
    JSON.stringify([
      state.serverId,
      state.principalId,
      state.version,
      [text(info.name), text(info.version)],
      slim(capabilities),
      [state.upstream.era === 'session' ? 0 : 1, state.upstream.sessionId, state.upstream.version],
      slim(state.upstream.capabilities),
      state.openedAt,
    ]),
  );
};

const text = (value: unknown): string => (typeof value === 'string' ? value.slice(0, longestName) : '');

/** What is told in one kilobyte is kept as it is; of more only the names. */
function slim(capabilities: ClientFacts['capabilities']): object {
  if (JSON.stringify(capabilities).length <= mostCapabilityText) return capabilities;
  return Object.fromEntries(
    Object.keys(capabilities)
      .slice(0, 20)
      .map((name) => [name.slice(0, 40), {}]),
  );
}

/** Null for whatever is no session of this server and this principal, or is too old. */
export function openSession(
  seal: SessionSeal,
  token: string,
  expected: { serverId: string; principalId: string },
  now: number,
): SessionState | null {
  let sealed: unknown;
  try {
    sealed = JSON.parse(seal.open(token));
  } catch {
    // A token that is not ours is an unknown session.
    return null;
  }
  if (!Array.isArray(sealed)) return null;
  const [serverId, principalId, version, info, capabilities, upstream, offered, openedAt] = sealed;
  if (serverId !== expected.serverId || principalId !== expected.principalId) return null;
  if (typeof openedAt !== 'number' || now - openedAt > longestLifeMs || openedAt > now + 60_000) return null;
  return {
    serverId,
    principalId,
    version,
    client: {
      info: { name: info[0] || 'unknown', version: info[1] || '0' },
      capabilities: isFields(capabilities) ? capabilities : {},
    },
    upstream: {
      era: upstream[0] === 0 ? 'session' : 'stateless',
      sessionId: upstream[1],
      version: upstream[2],
      capabilities: isFields(offered) ? offered : {},
    },
    openedAt,
  };
}
