/** Finds an upstream's authorization server, and who we are there. */

import type { AuthorizationServerMetadata, FetchLike, OAuthClientInformationMixed } from '@modelcontextprotocol/client';
import { readJson } from '../bounded-json.ts';
import type { McpUpstream } from '../catalog/mcp/server.ts';
import { McpError } from '../mcp/errors.ts';
import type { UpstreamHttp } from '../mcp/upstream/http.ts';
import type { Db } from '../store/database.ts';
import type { Vault } from '../store/vault.ts';

export interface Described {
  issuer: string;
  metadata: AuthorizationServerMetadata | null;
  resource: string | null;
  scope: string | null;
  /** Parameters that the integration adds to the address where people sign in. */
  extra: Readonly<Record<string, string>>;
}

const limits = { bytes: 1024 * 1024, ms: 10_000 };
const purpose = 'mcp-upstream-client';
const knownForMs = 300_000;

/** Ours to set; an integration cannot change them. */
const fixedParameters = new Set([
  'response_type',
  'client_id',
  'client_secret',
  'code_challenge',
  'code_challenge_method',
  'redirect_uri',
  'state',
  'scope',
  'resource',
]);

/** `fetch` for the SDK, over connections that check every address. */
export const guardedFetch =
  (http: UpstreamHttp, tenant: string): FetchLike =>
  async (url, init = {}) => {
    const headers: Record<string, string> = {};
    new Headers(init.headers).forEach((value, name) => {
      headers[name] = value;
    });
    const body = init.body == null ? null : new TextEncoder().encode(String(init.body));
    const method = init.method === 'POST' ? 'POST' : 'GET';
    if (body && headers['content-type'] === undefined) headers['content-type'] = 'application/x-www-form-urlencoded';
    const answer = await http.fetch({ url: String(url), method, headers, body, tenant }, limits);
    const type = answer.headers.get('content-type') ?? 'application/json';
    return new Response(answer.text, { status: answer.status, headers: { 'content-type': type } });
  };

export function createUpstreamDiscovery(db: Db, vault: Vault, http: UpstreamHttp, now: () => Date) {
  const hinted = new Map<string, Hint>();
  const known = new Map<string, { described: Described; until: number }>();

  const discover = async (upstream: McpUpstream): Promise<Described> => {
    const own = upstream.settings.oauth_metadata ?? {};
    const extra = Object.fromEntries(
      Object.entries(own.authorization_params ?? {}).filter(([name]) => !fixedParameters.has(name)),
    );
    const told = overrides(own);
    if (told) return { ...told, resource: upstream.url, scope: own.scope ?? null, extra };
    const { discoverOAuthServerInfo } = await import('@modelcontextprotocol/client');
    const hint = hinted.get(upstream.id) ?? (await probed(upstream));
    const info = await discoverOAuthServerInfo(upstream.url, {
      fetchFn: guardedFetch(http, upstream.organisationId),
      ...(hint.metadataUrl !== null && { resourceMetadataUrl: new URL(hint.metadataUrl) }),
      skipIssuerMetadataValidation: false,
    }).catch((fault) => {
      if (fault instanceof McpError) throw fault;
      throw new McpError(
        'upstream_error',
        `the authorization server of the upstream cannot be found: ${String(fault instanceof Error ? fault.message : fault).slice(0, 200)}`,
      );
    });
    const { resourceMetadata, authorizationServerMetadata } = info;
    if (resourceMetadata && !covers(resourceMetadata.resource, upstream.url)) {
      throw new McpError(
        'upstream_error',
        'the upstream describes another resource than the address that is registered',
      );
    }
    const scopes = hint.scope ?? resourceMetadata?.scopes_supported?.join(' ') ?? null;
    return {
      issuer: info.authorizationServerUrl.toString(),
      metadata: authorizationServerMetadata ?? null,
      resource: resourceMetadata?.resource ?? null,
      scope: own.scope ?? (scopes && withOfflineAccess(scopes, authorizationServerMetadata)),
      extra,
    };
  };

  /** What the upstream says to a call without a token: only so it tells an unusual place of its description. */
  const probed = async (upstream: McpUpstream): Promise<Hint> => {
    const body = new TextEncoder().encode('{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}');
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const call = { url: upstream.url, method: 'POST' as const, headers, body, tenant: upstream.organisationId };
    // Whether it can be reached at all shows when its description is read.
    const answer = await http.fetch(call, limits).catch(() => null);
    return hintIn(answer?.status === 401 ? answer.headers.get('www-authenticate') : null);
  };

  const describe = async (upstream: McpUpstream): Promise<Described> => {
    const key = keyOf(upstream);
    const kept = known.get(key);
    if (kept && kept.until > now().getTime()) return kept.described;
    const described = await discover(upstream);
    if (known.size >= 5_000) known.clear();
    known.set(key, { described, until: now().getTime() + knownForMs });
    return described;
  };

  return {
    describe,
    /** The upstream refused us: where it is described, and what it wants, may have changed. */
    learn(upstream: McpUpstream, header: string | null): void {
      if (hinted.size >= 5_000) hinted.clear();
      hinted.set(upstream.id, hintIn(header));
      known.delete(keyOf(upstream));
    },
    /** Who we are there: as the integration says, else by a document of ours, else as we registered. */
    async client(
      upstream: McpUpstream,
      { issuer, metadata }: Described,
      redirectUri: string,
      origin: string,
    ): Promise<OAuthClientInformationMixed> {
      const own = upstream.settings.oauth_metadata ?? {};
      if (own.client_id) {
        // Without a method of its own the SDK takes one that the authorization server supports.
        const { client_id, client_secret, token_endpoint_auth_method } = own;
        return {
          client_id,
          ...(client_secret && { client_secret }),
          ...(token_endpoint_auth_method && { token_endpoint_auth_method }),
        } as OAuthClientInformationMixed;
      }
      if (
        metadata &&
        'client_id_metadata_document_supported' in metadata &&
        metadata.client_id_metadata_document_supported === true &&
        origin.startsWith('https://')
      ) {
        return { client_id: `${origin}/oauth/client.json` };
      }
      const row = await db
        .selectFrom('mcp_upstream_clients')
        .select('client_sealed')
        .where('server_id', '=', upstream.id)
        .where('issuer', '=', issuer)
        .executeTakeFirst();
      if (row) {
        const stored = JSON.parse(vault.open(row.client_sealed, purpose));
        if (!Array.isArray(stored.redirect_uris) || stored.redirect_uris.includes(redirectUri)) return stored;
      }
      if (!metadata?.registration_endpoint) {
        throw new McpError(
          'upstream_error',
          'the authorization server of the upstream needs a pre-registered client: set configurations.oauth_metadata.client_id',
        );
      }
      const { registerClient } = await import('@modelcontextprotocol/client');
      const { client_name, client_uri, logo_uri, contacts, tos_uri, policy_uri, software_id, software_version, scope } =
        own;
      const registered = await registerClient(issuer, {
        metadata,
        clientMetadata: {
          client_name: client_name ?? `GW (${upstream.workspaceId ?? 'organisation'}/${upstream.slug})`,
          ...(client_uri && { client_uri }),
          ...(logo_uri && { logo_uri }),
          ...(contacts && { contacts }),
          ...(tos_uri && { tos_uri }),
          ...(policy_uri && { policy_uri }),
          software_id: software_id ?? 'gw.mcp',
          ...(software_version && { software_version }),
          ...(scope && { scope }),
          redirect_uris: [redirectUri],
          grant_types: ['authorization_code', 'refresh_token'],
          response_types: ['code'],
          token_endpoint_auth_method: own.token_endpoint_auth_method ?? methodAt(metadata),
          application_type: redirectUri.startsWith('https://') ? 'web' : 'native',
        },
        fetchFn: guardedFetch(http, upstream.organisationId),
      }).catch((fault) => {
        if (fault instanceof McpError) throw fault;
        throw new McpError('upstream_error', 'the authorization server of the upstream refused our registration');
      });
      const sealed = vault.seal(JSON.stringify(registered), purpose);
      await db
        .insertInto('mcp_upstream_clients')
        .values({ server_id: upstream.id, issuer, client_sealed: sealed, created_at: now().toISOString() })
        .onConflict((conflict) => conflict.columns(['server_id', 'issuer']).doUpdateSet({ client_sealed: sealed }))
        .execute();
      return registered;
    },
    async clientCredentials(upstream: McpUpstream): Promise<{ token: string; seconds: number }> {
      const own = upstream.settings.client_credentials;
      if (!own) throw new McpError('upstream_error', 'the integration has no client credentials');
      const endpoint = own.token_endpoint ?? (await describe(upstream)).metadata?.token_endpoint;
      if (!endpoint) throw new McpError('upstream_error', 'the token endpoint of the upstream cannot be found');
      const basic = own.auth_method === 'client_secret_basic';
      const form = new URLSearchParams({
        grant_type: 'client_credentials',
        ...(own.scope && { scope: own.scope }),
        ...(own.audience && { audience: own.audience }),
        ...(!basic && { client_id: own.client_id, client_secret: own.client_secret }),
      });
      const encoded = Buffer.from(
        `${encodeURIComponent(own.client_id)}:${encodeURIComponent(own.client_secret)}`,
      ).toString('base64');
      const { status, text } = await http.fetch(
        {
          url: endpoint,
          method: 'POST',
          headers: {
            'content-type': 'application/x-www-form-urlencoded',
            accept: 'application/json',
            ...(basic && { authorization: `Basic ${encoded}` }),
          },
          body: new TextEncoder().encode(form.toString()),
          tenant: upstream.organisationId,
        },
        limits,
      );
      const token = status === 200 ? tokenIn(text) : null;
      if (!token)
        throw new McpError(
          'upstream_unauthorized',
          `the token endpoint of the upstream refused our credentials (${status})`,
        );
      return token;
    },
  };
}

/** What an upstream told when it refused a call. */
interface Hint {
  metadataUrl: string | null;
  scope: string | null;
}

function hintIn(header: string | null): Hint {
  const url = /resource_metadata="?([^",\s]+)/i.exec(header ?? '')?.[1] ?? null;
  return { metadataUrl: url !== null && URL.canParse(url) ? url : null, scope: challengedScope(header) };
}

/** The scope that a refusal asks for. */
export const challengedScope = (header: string | null): string | null =>
  /(?:^|[\s,])scope="([^"]{1,2000})"/i.exec(header ?? '')?.[1] ?? null;

const keyOf = ({ id, revision }: McpUpstream): string => `${id} ${revision}`;

/** Refresh tokens come only to those who ask for them, where the authorization server knows that scope. */
function withOfflineAccess(scope: string, metadata: AuthorizationServerMetadata | undefined): string {
  const supported = metadata?.scopes_supported?.includes('offline_access') ?? false;
  return supported && !scope.split(' ').includes('offline_access') ? `${scope} offline_access` : scope;
}

/** We need no secret, and keep one only where nothing else is accepted. */
function methodAt(metadata: AuthorizationServerMetadata): string {
  const supported = metadata.token_endpoint_auth_methods_supported ?? ['none'];
  if (supported.includes('none')) return 'none';
  return supported.includes('client_secret_basic') ? 'client_secret_basic' : 'client_secret_post';
}

function tokenIn(text: string): { token: string; seconds: number } | null {
  try {
    const answer = readJson(text);
    if (typeof answer !== 'object' || answer === null) return null;
    const { access_token: token, expires_in: seconds }: { access_token?: unknown; expires_in?: unknown } = answer;
    return typeof token === 'string' ? { token, seconds: typeof seconds === 'number' ? seconds : 300 } : null;
  } catch {
    return null;
  }
}

/** Endpoints that the integration writes down replace what would be discovered. */
function overrides(
  own: NonNullable<McpUpstream['settings']['oauth_metadata']>,
): Pick<Described, 'issuer' | 'metadata'> | null {
  const { authorization_endpoint, token_endpoint } = own;
  if (!authorization_endpoint || !token_endpoint) return null;
  const issuer = own.issuer ?? new URL(token_endpoint).origin;
  return {
    issuer,
    metadata: {
      issuer,
      authorization_endpoint,
      token_endpoint,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      ...(own.registration_endpoint && { registration_endpoint: own.registration_endpoint }),
      ...(own.revocation_endpoint && { revocation_endpoint: own.revocation_endpoint }),
    },
  };
}

/** A resource covers itself and what lies below it. */
function covers(resource: string, url: string): boolean {
  const [described, called] = [URL.parse(resource), URL.parse(url)];
  if (!described || described.origin !== called?.origin) return false;
  const base = described.pathname.replace(/\/$/, '');
  return (
    called.pathname === base || called.pathname.startsWith(`${base}/`) || called.pathname.replace(/\/$/, '') === base
  );
}
