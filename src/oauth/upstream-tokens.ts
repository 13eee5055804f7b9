/** Our side as a client of upstreams' authorization servers: one sign-in for each person and server, renewed by one at a time. */
import type {
  AuthorizationServerMetadata,
  OAuthClientInformationMixed,
  OAuthTokens,
} from '@modelcontextprotocol/client';
import type { McpUpstream } from '../catalog/mcp/server.ts';
import { McpError } from '../mcp/errors.ts';
import type { UpstreamHttp } from '../mcp/upstream/http.ts';
import type { TokenHolder, UpstreamToken, UpstreamTokens } from '../mcp/upstream/tokens.ts';
import type { ChangeFeed } from '../store/changes.ts';
import type { Store } from '../store/database.ts';
import type { Vault } from '../store/vault.ts';
import type { Flows } from './flows.ts';
import { challengedScope, createUpstreamDiscovery, type Described, guardedFetch } from './upstream-discovery.ts';

const signInMs = 10 * 60_000;
const earlyMs = 60_000;
const purpose = 'mcp-connection';
/** Answers of a token endpoint after which only the person can help. */
const endsSignIn = new Set<string>(['invalid_grant', 'invalid_client', 'unauthorized_client']);

/** What is kept of a sign-in, sealed. */
interface StoredTokens {
  accessToken: string;
  refreshToken: string | null;
  /** Milliseconds since the epoch; null: nobody said. */
  expiresAt: number | null;
  /** What was granted, and asked for. */
  scope: string | null;
  issuer: string;
  resource: string | null;
  metadata: AuthorizationServerMetadata | null;
  client: OAuthClientInformationMixed;
}

/** A sign-in that waits for the browser to come back. */
interface Waiting {
  serverId: string;
  userId: string;
  organisationId: string;
  codeVerifier: string;
  described: Described;
  client: OAuthClientInformationMixed;
  redirectUri: string;
  resumeAt: string | null;
}

export interface UpstreamSignIns extends UpstreamTokens {
  /** Where a person signs in; null where they need not. */
  signInUrl(upstream: McpUpstream, holder: TokenHolder, resumeAt: string | null): Promise<string | null>;
  /** The browser came back: whose sign-in it was and where to go on, or why it failed. */
  complete(state: string, code: string, iss: string | null): Promise<{ resumeAt: string | null }>;
  waitingFor(state: string): Promise<{ userId: string } | null>;
  revoke(upstream: McpUpstream, userId: string): Promise<void>;
}

interface Needs {
  store: Store;
  vault: Vault;
  feed: ChangeFeed;
  http: UpstreamHttp;
  flows: Flows;
  now: () => Date;
}

export function createUpstreamSignIns({ store, vault, feed, http, flows, now }: Needs): UpstreamSignIns {
  const { db } = store;
  const discovery = createUpstreamDiscovery(db, vault, http, now);
  const refreshing = new Map<string, Promise<StoredTokens | null>>();
  const shared = new Map<string, { token: string; until: number }>();
  const offered = new Map<string, { url: string; expiresAt: number }>();
  const tellConnection = (serverId: string, userId: string) => ({
    topic: 'mcp_connection' as const,
    id: `${serverId} ${userId}`,
  });

  const read = async (serverId: string, userId: string): Promise<StoredTokens | null> => {
    const row = await db
      .selectFrom('mcp_connections')
      .select('tokens_sealed')
      .where('server_id', '=', serverId)
      .where('user_id', '=', userId)
      .where('status', '=', 'connected')
      .executeTakeFirst();
    return row?.tokens_sealed ? JSON.parse(vault.open(row.tokens_sealed, purpose)) : null;
  };

  const write = async (
    serverId: string,
    userId: string,
    organisationId: string,
    tokens: StoredTokens | null,
  ): Promise<void> => {
    const at = now().toISOString();
    const columns = {
      status: tokens ? ('connected' as const) : ('not_connected' as const),
      tokens_sealed: tokens && vault.seal(JSON.stringify(tokens), purpose),
      last_updated_at: at,
      ...(tokens && { issuer: tokens.issuer }),
    };
    await db
      .insertInto('mcp_connections')
      .values({
        server_id: serverId,
        user_id: userId,
        organisation_id: organisationId,
        issuer: '',
        created_at: at,
        ...columns,
      })
      .onConflict((conflict) => conflict.columns(['server_id', 'user_id']).doUpdateSet(columns))
      .execute();
  };

  const kept = (
    tokens: OAuthTokens,
    before: Omit<StoredTokens, 'accessToken' | 'refreshToken' | 'expiresAt'> & { refreshToken?: string | null },
  ): StoredTokens => ({
    accessToken: tokens.access_token,
    refreshToken: tokens.refresh_token ?? before.refreshToken ?? null,
    expiresAt: tokens.expires_in === undefined ? null : now().getTime() + tokens.expires_in * 1_000,
    scope: tokens.scope ?? before.scope,
    issuer: before.issuer,
    resource: before.resource,
    metadata: before.metadata,
    client: before.client,
  });

  /** One at a time for each person and server; null where the person must sign in again. */
  const refreshed = (upstream: McpUpstream, userId: string, tokens: StoredTokens): Promise<StoredTokens | null> => {
    const key = `${upstream.id} ${userId}`;
    const running = refreshing.get(key);
    if (running) return running;
    const work = refresh(upstream, userId, tokens).finally(() => refreshing.delete(key));
    refreshing.set(key, work);
    return work;
  };

  const refresh = async (upstream: McpUpstream, userId: string, used: StoredTokens): Promise<StoredTokens | null> => {
    // Another node may have done it meanwhile, and its refresh token is the one that counts.
    const tokens = (await read(upstream.id, userId)) ?? used;
    if (tokens.accessToken !== used.accessToken) return tokens;
    if (tokens.refreshToken === null || (await movedFrom(upstream, tokens.issuer))) {
      await write(upstream.id, userId, upstream.organisationId, null);
      return null;
    }
    const { refreshAuthorization, OAuthError } = await import('@modelcontextprotocol/client');
    try {
      const answer = await refreshAuthorization(tokens.issuer, {
        ...(tokens.metadata && { metadata: tokens.metadata }),
        clientInformation: tokens.client,
        refreshToken: tokens.refreshToken,
        ...(tokens.resource !== null && { resource: tokens.resource }),
        fetchFn: guardedFetch(http, upstream.organisationId),
      });
      const renewed = kept(answer, tokens);
      await write(upstream.id, userId, upstream.organisationId, renewed);
      return renewed;
    } catch (fault) {
      if (fault instanceof McpError) throw fault;
      // Only a refusal of the token itself ends the sign-in; an authorization server that is ill does not.
      if (!OAuthError.isInstance(fault) || !endsSignIn.has(fault.code)) {
        throw new McpError('upstream_error', 'the authorization server of the upstream does not renew tokens now');
      }
      await write(upstream.id, userId, upstream.organisationId, null);
      return null;
    }
  };

  /** Whether the upstream has another authorization server by now; its tokens are of no use at the new one. */
  const movedFrom = async (upstream: McpUpstream, issuer: string): Promise<boolean> => {
    const described = await discovery.describe(upstream).catch(() => null);
    return described !== null && described.issuer !== issuer;
  };

  /** A token that cannot be renewed is used to its end. */
  const lasts = ({ expiresAt, refreshToken }: StoredTokens): boolean =>
    expiresAt === null || expiresAt > now().getTime() + (refreshToken === null ? 0 : earlyMs);

  const personal = async (
    upstream: McpUpstream,
    holder: TokenHolder,
    refused: string | null,
  ): Promise<UpstreamToken> => {
    const { userId } = holder;
    if (userId === null) throw new McpError('forbidden', 'each person signs in at this server by themselves');
    const stored = await read(upstream.id, userId);
    // Of several calls that were refused at once, the first has renewed it for all.
    if (stored && stored.accessToken !== refused && lasts(stored)) {
      return { token: stored.accessToken, refreshed: false };
    }
    const renewed = stored && (await refreshed(upstream, userId, stored));
    if (renewed) return { token: renewed.accessToken, refreshed: true };
    throw await authorizationRequired(upstream, holder);
  };

  const authorizationRequired = async (
    upstream: McpUpstream,
    holder: TokenHolder,
    scope: string | null = null,
  ): Promise<McpError> => {
    const key = `${upstream.id} ${holder.userId} ${scope ?? ''}`;
    const known = offered.get(key);
    const fresh = known && known.expiresAt > now().getTime() + earlyMs ? known : null;
    const url = fresh?.url ?? (await begin(upstream, holder, null, scope));
    const expiresAt = fresh?.expiresAt ?? now().getTime() + signInMs;
    if (!fresh) {
      if (offered.size >= 10_000) offered.clear();
      offered.set(key, { url, expiresAt });
    }
    return new McpError('authorization_required', `Sign in first; authorization_url: ${url}`, {
      data: { authorization_url: url, expires_at: new Date(expiresAt).toISOString() },
    });
  };

  const begin = async (
    upstream: McpUpstream,
    { userId, origin }: TokenHolder,
    resumeAt: string | null,
    scope: string | null = null,
  ): Promise<string> => {
    if (origin === null || userId === null)
      throw new McpError('upstream_unauthorized', 'somebody must sign in at this server first');
    const redirectUri = `${origin}/oauth/upstream-callback`;
    const found = await discovery.describe(upstream);
    const described = scope === null ? found : { ...found, scope };
    const client = await discovery.client(upstream, described, redirectUri, origin);
    const { startAuthorization } = await import('@modelcontextprotocol/client');
    const { authorizationUrl, codeVerifier } = await startAuthorization(described.issuer, {
      ...(described.metadata && { metadata: described.metadata }),
      clientInformation: client,
      redirectUrl: redirectUri,
      ...(described.scope !== null && { scope: described.scope }),
      ...(described.resource !== null && { resource: described.resource }),
    });
    const waiting: Waiting = {
      serverId: upstream.id,
      userId,
      organisationId: upstream.organisationId,
      codeVerifier,
      described,
      client,
      redirectUri,
      resumeAt,
    };
    const handle = await flows.begin('upstream', waiting, signInMs);
    authorizationUrl.searchParams.set('state', handle);
    for (const [name, value] of Object.entries(described.extra)) authorizationUrl.searchParams.set(name, value);
    return authorizationUrl.href;
  };

  const forAll = async (upstream: McpUpstream, refused: string | null): Promise<UpstreamToken> => {
    const key = `${upstream.id} ${upstream.revision}`;
    const known = shared.get(key);
    if (known && known.token !== refused && known.until > now().getTime())
      return { token: known.token, refreshed: false };
    const answer = await discovery.clientCredentials(upstream);
    if (shared.size >= 10_000) shared.clear();
    shared.set(key, { token: answer.token, until: now().getTime() + answer.seconds * 1_000 - earlyMs });
    return { token: answer.token, refreshed: known !== undefined };
  };

  return {
    bearer(upstream, holder, refused) {
      if (upstream.authType === 'oauth_auto') return personal(upstream, holder, refused);
      if (upstream.authType === 'oauth_client_credentials') return forAll(upstream, refused);
      return Promise.resolve(null);
    },
    learn: (upstream, header) => discovery.learn(upstream, header),
    async wider(upstream, holder, header) {
      const asked = challengedScope(header);
      if (upstream.authType !== 'oauth_auto' || holder.userId === null || asked === null) return null;
      const stored = await read(upstream.id, holder.userId);
      const had = stored?.scope ?? '';
      const { computeScopeUnion, isStrictScopeSuperset } = await import('@modelcontextprotocol/client');
      const scope = computeScopeUnion(had, asked);
      // Whoever has it all already would be asked for ever.
      return scope && isStrictScopeSuperset(scope, had) ? authorizationRequired(upstream, holder, scope) : null;
    },
    async signInUrl(upstream, holder, resumeAt) {
      if (upstream.authType !== 'oauth_auto' || holder.userId === null) return null;
      return (await read(upstream.id, holder.userId)) ? null : begin(upstream, holder, resumeAt);
    },
    waitingFor: (state) => flows.look<Waiting>('upstream', state),
    async complete(state, code, iss) {
      const waiting = await flows.take<Waiting>('upstream', state);
      if (!waiting) throw new McpError('invalid_request', 'this sign-in has expired or was completed before');
      const { described, client } = waiting;
      const { exchangeAuthorization, IssuerMismatchError } = await import('@modelcontextprotocol/client');
      const tokens = await exchangeAuthorization(described.issuer, {
        ...(described.metadata && { metadata: described.metadata }),
        clientInformation: client,
        authorizationCode: code,
        ...(iss !== null && { iss }),
        codeVerifier: waiting.codeVerifier,
        redirectUri: waiting.redirectUri,
        ...(described.resource !== null && { resource: described.resource }),
        fetchFn: guardedFetch(http, waiting.organisationId),
      }).catch((fault) => {
        if (!IssuerMismatchError.isInstance(fault)) throw fault;
        throw new McpError(
          'invalid_request',
          'the answer came from another authorization server than the one that was asked',
        );
      });
      await write(waiting.serverId, waiting.userId, waiting.organisationId, kept(tokens, { ...described, client }));
      const offer = `${waiting.serverId} ${waiting.userId} `;
      for (const key of offered.keys()) if (key.startsWith(offer)) offered.delete(key);
      feed.announce([tellConnection(waiting.serverId, waiting.userId)]);
      return { resumeAt: waiting.resumeAt };
    },
    async revoke(upstream, userId) {
      const tokens = await read(upstream.id, userId);
      const endpoint =
        tokens?.metadata && 'revocation_endpoint' in tokens.metadata ? tokens.metadata.revocation_endpoint : undefined;
      if (!tokens || typeof endpoint !== 'string') return;
      const form = new URLSearchParams({
        token: tokens.refreshToken ?? tokens.accessToken,
        client_id: tokens.client.client_id,
        ...(tokens.client.client_secret && { client_secret: tokens.client.client_secret }),
      });
      // It is deleted here whether or not the upstream takes note.
      await http
        .fetch(
          {
            url: endpoint,
            method: 'POST',
            headers: { 'content-type': 'application/x-www-form-urlencoded' },
            body: new TextEncoder().encode(form.toString()),
            tenant: upstream.organisationId,
          },
          { bytes: 65_536, ms: 5_000 },
        )
        .catch(() => undefined);
    },
  };
}
