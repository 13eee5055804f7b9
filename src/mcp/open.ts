/** Puts the MCP data plane together from what the program has. */
import { createObserver } from '../catalog/mcp/observer.ts';
import type { Clock } from '../clock.ts';
import type { Settings } from '../environment.ts';
import type { ServiceCalls } from '../gateway/service-calls.ts';
import { clientAddress, parseRanges } from '../http/client-address.ts';
import { faultFields, type Log } from '../log.ts';
import type { ChangeFeed } from '../store/changes.ts';
import type { Store } from '../store/database.ts';
import type { Vault } from '../store/vault.ts';
import type { Incoming } from '../wire/server/incoming.ts';
import type { SessionSeal } from './client/session-token.ts';
import { Definitions } from './definitions.ts';
import type { McpDeps } from './deps.ts';
import { createEmails } from './emails.ts';
import { createEndUserTokens } from './end-user-token.ts';
import { createMcpGateway, type McpGateway } from './gateway.ts';
import type { Identities, OauthIdentity } from './identify.ts';
import type { McpUpstreams } from './open-upstreams.ts';
import { ResultSizes } from './result-sizes.ts';
import { createTaskOwners } from './tasks/owners.ts';
import { Pool } from './upstream/pool.ts';

interface McpNeeds {
  settings: Settings;
  clock: Clock;
  store: Store;
  feed: ChangeFeed;
  vault: Vault;
  services: ServiceCalls;
  upstreams: McpUpstreams;
  /** The grant behind a token of our authorization server. */
  oauth(token: string): Promise<OauthIdentity | null>;
  external: Identities['external'];
  isStoreAway(fault: unknown): boolean;
  log: Log;
}

export function openMcp(needs: McpNeeds): McpGateway {
  const { settings, clock, store, feed, vault, upstreams, log } = needs;
  const now = () => clock.now().getTime();
  const onFault = (fault: unknown, requestId: string) =>
    log.error('An MCP call failed.', { request_id: requestId, ...faultFields(fault) });
  const pool = new Pool(upstreams.opener, now, settings.mcp.poolLifetime);
  const deps: McpDeps = {
    clock,
    identities: identitiesOf(needs),
    upstream: upstreams.deps,
    opener: upstreams.opener,
    pool,
    definitions: new Definitions(now),
    resultSizes: new ResultSizes(),
    tasks: createTaskOwners(store, clock, (fault) =>
      log.warn('Owners of tasks could not be kept; it is tried again.', faultFields(fault)),
    ),
    seal: sealOf(vault),
    services: needs.services,
    endUser: createEndUserTokens(upstreams.http, now),
    observe: createObserver(store, feed, clock, (fault) =>
      log.warn('What an MCP server offers could not be kept; it is tried again.', faultFields(fault)),
    ),
    announceEnd(digest) {
      const change = { topic: 'mcp_session' as const, id: digest };
      feed.publish(store.db, [change]).catch((fault) => onFault(fault, digest.slice(0, 8)));
    },
    onFault,
  };
  const gateway = createMcpGateway(deps, {
    allowedOrigins: settings.mcp.allowedOrigins,
    originOf: originFinder(settings),
  });
  feed.subscribe((changes) => {
    if (changes === 'all') return;
    for (const { topic, id } of changes) {
      if (topic === 'mcp_session') gateway.sessionEnded(id);
      if (topic === 'mcp_connection') pool.forget(...(id.split(' ') as [string, string]));
    }
  });
  return gateway;
}

const sealOf = (vault: Vault): SessionSeal => ({
  seal: (text) => vault.seal(text, 'mcp-session'),
  open: (token) => vault.open(token, 'mcp-session'),
});

/** As the operator says, else as the client reached us. */
export function originFinder(settings: Settings): (request: Incoming) => string {
  const { baseUrl } = settings.mcp;
  if (baseUrl !== null) return () => baseUrl;
  const proxies = parseRanges(settings.trustedProxies);
  return (request) => {
    const headers = new Headers();
    for (const name of ['x-forwarded-for', 'x-forwarded-proto']) {
      const value = request.headers.get(name);
      if (value !== null) headers.set(name, value);
    }
    const { viaTrustedProxy } = clientAddress(request.peer, headers, proxies);
    const told = viaTrustedProxy ? headers.get('x-forwarded-proto')?.split(',')[0]?.trim() : undefined;
    const scheme = told || (request.secure ? 'https' : 'http');
    return `${scheme}://${request.headers.get('host') ?? 'localhost'}`;
  };
}

function identitiesOf({ store, feed, oauth, external, isStoreAway }: McpNeeds): Identities {
  const emailOf = createEmails(store, feed);
  return {
    oauth,
    external,
    emailOf,
    isStoreAway,
  };
}
