/** People who sign in at an identity provider of the operator's own: a server may accept its tokens in place of ours. */
import { decodeJwt } from 'jose';
import { readUpstream } from '../catalog/mcp/read.ts';
import type { McpUpstream } from '../catalog/mcp/server.ts';
import type { KeyCaller } from '../identity/caller.ts';
import { McpError } from '../mcp/errors.ts';
import type { JsonRpcFields } from '../mcp/protocol/json-rpc.ts';
import type { ChangeFeed } from '../store/changes.ts';
import type { Store } from '../store/database.ts';
import type { Vault } from '../store/vault.ts';
import { callerOf } from './grants.ts';

/** A server whose callers sign in elsewhere. */
export interface ExternalServer {
  issuer: string;
  scopes: readonly string[];
}

/** Who a token of such a provider stands for. */
export interface ExternalIdentity {
  caller: KeyCaller;
  claims: JsonRpcFields;
}

export interface ExternalLogins {
  /** Null where the server takes our own tokens. */
  serverOf(slug: string): Promise<ExternalServer | null>;
  /** Null where the token is none of the provider of this server; throws where it is and does not count. */
  identify(slug: string, token: string): Promise<ExternalIdentity | null>;
}

interface Known extends ExternalServer {
  upstream: McpUpstream;
  workspaceId: string;
}

interface Needs {
  store: Store;
  vault: Vault;
  feed: ChangeFeed;
  now(): number;
  /** Checks a token by the rules of a server. */
  validate(
    server: Pick<McpUpstream, 'settings' | 'organisationId'>,
    headers: Readonly<Record<string, string>>,
  ): Promise<JsonRpcFields | null>;
}

const mostKept = 5_000;
const keptMs = 60_000;

export function createExternalLogins({ store: { db }, vault, feed, now, validate }: Needs): ExternalLogins {
  const servers = new Map<string, Known | null>();
  const people = new Map<string, { identity: ExternalIdentity; until: number }>();
  feed.subscribe(() => {
    servers.clear();
    people.clear();
  });

  const read = async (slug: string): Promise<Known | null> => {
    const rows = await db
      .selectFrom('mcp_servers as server')
      .innerJoin('mcp_integrations as integration', 'integration.id', 'server.integration_id')
      .selectAll('integration')
      .select(['server.id as server_id', 'server.workspace_id as server_workspace_id'])
      .where('server.slug', '=', slug)
      .where('server.status', '=', 'active')
      .where('integration.status', '=', 'active')
      .limit(2)
      .execute();
    const [row] = rows;
    // Slugs are unique within an organisation; of two organisations, nobody can say which is meant.
    if (!row || rows.length > 1) return null;
    const upstream = { ...(await readUpstream(db, row, vault)), id: row.server_id };
    const config = upstream.settings.external_auth_config;
    if (!config) return null;
    const scopes = config.scopes_supported ?? config.scope?.split(' ').filter(Boolean) ?? [];
    return { issuer: config.issuer, scopes, upstream, workspaceId: row.server_workspace_id };
  };

  const known = async (slug: string): Promise<Known | null> => {
    const kept = feed.live ? servers.get(slug) : undefined;
    if (kept !== undefined) return kept;
    const found = await read(slug);
    if (servers.size >= mostKept) servers.clear();
    servers.set(slug, found);
    return found;
  };

  const personOf = async ({ upstream, workspaceId, issuer }: Known, claims: JsonRpcFields): Promise<KeyCaller> => {
    const { email, email_verified } = claims;
    if (typeof email !== 'string' || email_verified === false) {
      throw new McpError('forbidden', 'the token names no verified e-mail address');
    }
    const person = await db
      .selectFrom('users')
      .select('id')
      .where('email', '=', email.trim().toLowerCase())
      .executeTakeFirst();
    const caller =
      person &&
      (await callerOf(db, {
        id: `${upstream.id}:${person.id}`,
        client_id: issuer,
        user_id: person.id,
        organisation_id: upstream.organisationId,
        workspace_id: workspaceId,
      }));
    if (!caller) throw new McpError('forbidden', 'no member of this workspace has the e-mail address of the token');
    return caller;
  };

  return {
    serverOf: known,
    async identify(slug, token) {
      const server = await known(slug);
      if (!server || issuerIn(token) !== server.issuer) return null;
      const key = `${slug} ${Bun.CryptoHasher.hash('sha256', token, 'hex')}`;
      const kept = feed.live ? people.get(key) : undefined;
      if (kept && kept.until > now()) return kept.identity;
      const header = server.upstream.settings.jwt_validation?.headerKey.toLowerCase() ?? 'authorization';
      const claims = await validate(server.upstream, { [header]: `Bearer ${token}` });
      if (!claims) throw new McpError('unauthorized', 'the tokens of this server cannot be checked');
      const identity = { caller: await personOf(server, claims), claims };
      const expires = typeof claims.exp === 'number' ? claims.exp * 1_000 : Number.POSITIVE_INFINITY;
      if (people.size >= mostKept) people.clear();
      people.set(key, { identity, until: Math.min(expires, now() + keptMs) });
      return identity;
    },
  };
}

/** Who made a token out; null where it does not say. Keys of ours hold no dot and are never read as tokens. */
function issuerIn(token: string): string | null {
  try {
    return decodeJwt(token).iss ?? null;
  } catch {
    return null;
  }
}
