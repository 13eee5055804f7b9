/** Puts the authorization server together. */

import { readUpstream } from '../catalog/mcp/read.ts';
import type { Clock } from '../clock.ts';
import type { Settings } from '../environment.ts';
import { clientAddress, parseRanges } from '../http/client-address.ts';
import type { WebHandler } from '../http/web.ts';
import type { Authenticator } from '../identity/authenticate.ts';
import type { SessionCaller } from '../identity/caller.ts';
import { faultFields, type Log } from '../log.ts';
import { createCallLimiter } from '../mcp/call-limiter.ts';
import { createEndUserTokens } from '../mcp/end-user-token.ts';
import type { OauthIdentity } from '../mcp/identify.ts';
import { filledUpstream } from '../mcp/upstream/filled.ts';
import type { UpstreamHttp } from '../mcp/upstream/http.ts';
import type { Secrets } from '../secrets/resolver.ts';
import type { ChangeFeed } from '../store/changes.ts';
import type { Store } from '../store/database.ts';
import type { Vault } from '../store/vault.ts';
import { createAuthorization } from './authorization.ts';
import { createClients } from './clients.ts';
import { createExternalLogins, type ExternalLogins } from './external.ts';
import { createFlows } from './flows.ts';
import { createGrants } from './grants.ts';
import { createOauthRoutes } from './routes.ts';
import type { Signing } from './signing.ts';
import type { UpstreamSignIns } from './upstream-tokens.ts';

interface OauthNeeds {
  settings: Settings;
  clock: Clock;
  store: Store;
  feed: ChangeFeed;
  vault: Vault;
  secrets: Secrets;
  http: UpstreamHttp;
  authenticator: Authenticator;
  signing: Signing;
  signIns: UpstreamSignIns;
  /** Notes a consent in the audit trail. */
  noteConsent(who: SessionCaller, details: Record<string, unknown>): void;
  log: Log;
}

export interface OauthServer {
  handle: WebHandler;
  /** How we are reached, as documents name us. */
  originOf(request: Request, peer: string): string;
  /** The grant behind a token of ours. */
  find(token: string): Promise<OauthIdentity | null>;
  /** Servers whose callers sign in elsewhere. */
  external: ExternalLogins;
}

const registrationsAMinute = 20;

export function openOauth(needs: OauthNeeds): OauthServer {
  const { settings, clock, store, feed, vault, http, authenticator, signing, signIns, log } = needs;
  const now = () => clock.now();
  const rules = { schemes: settings.mcp.redirectSchemes, hosts: settings.mcp.redirectHosts };
  const clients = createClients(store.db, http, rules, now);
  const flows = createFlows(store, vault, now);
  const grants = createGrants(store, feed, now);
  const external = createExternalLogins({
    store,
    vault,
    feed,
    now: () => clock.now().getTime(),
    validate: createEndUserTokens(http, () => clock.now().getTime()),
  });
  const proxies = parseRanges(settings.trustedProxies);
  const publicOrigin = settings.mcp.baseUrl;

  const originOf = (request: Request, peer: string): string => {
    if (publicOrigin !== null) return publicOrigin;
    const url = new URL(request.url);
    const { viaTrustedProxy } = clientAddress(peer, request.headers, proxies);
    const told = viaTrustedProxy ? request.headers.get('x-forwarded-proto')?.split(',')[0]?.trim() : undefined;
    return `${told || url.protocol.slice(0, -1)}://${request.headers.get('host') ?? url.host}`;
  };

  const serverIn = (slug: string, workspaceId: string) =>
    store.db
      .selectFrom('mcp_servers as server')
      .innerJoin('mcp_integrations as integration', 'integration.id', 'server.integration_id')
      .selectAll('integration')
      .select(['server.id as server_id', 'server.slug as server_slug'])
      .where('server.workspace_id', '=', workspaceId)
      .where('server.status', '=', 'active')
      .where('integration.status', '=', 'active')
      .where((eb) => eb.or([eb('server.slug', '=', slug), eb('integration.slug', '=', slug)]))
      .executeTakeFirst();

  const authorization = createAuthorization({
    db: store.db,
    clients,
    flows,
    grants,
    authenticator,
    async upstreamSignIn({ slug, workspaceId }, userId, origin, resumeAt) {
      const row = await serverIn(slug, workspaceId);
      if (!row) return null;
      const upstream = {
        ...(await readUpstream(store.db, row, vault)),
        id: row.server_id,
        slug: row.server_slug,
        workspaceId,
      };
      // A person who cannot be redirected now is asked again at their first call.
      return signIns
        .signInUrl(await filledUpstream(needs.secrets, upstream), { userId, origin }, resumeAt)
        .catch((fault) => {
          log.warn('The sign-in at an MCP server could not be begun.', faultFields(fault));
          return null;
        });
    },
    noteConsent: needs.noteConsent,
  });

  const handle = createOauthRoutes({
    clients,
    grants,
    authorization,
    signing,
    signIns,
    external: (slug) => external.serverOf(slug),
    registrations: createCallLimiter(() => clock.now().getTime(), registrationsAMinute, 60_000),
    originOf,
    clientIpOf: (request, peer) => clientAddress(peer, request.headers, proxies).ip,
    async userOf(headers) {
      const cookie = headers.get('cookie');
      const found = await authenticator.authenticate(new Headers(cookie === null ? {} : { cookie }));
      return found.outcome === 'caller' ? found.caller.userId : null;
    },
    async serviceOf(headers) {
      const found = await authenticator.authenticate(headers);
      return found.outcome === 'caller' && found.caller.kind === 'admin-key' ? found.caller.organisationId : null;
    },
    onFault: (fault) => log.error('An OAuth call failed.', faultFields(fault)),
  });
  return { handle, originOf, find: (token) => grants.find(token), external };
}
