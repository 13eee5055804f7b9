/** From the headers of a request to who calls: an API key, or a token of our own authorization server. */
import type { Catalog, WorkspaceCatalog } from '../catalog/catalog.ts';
import { type KeyCaller, mayInWorkspace } from '../identity/caller.ts';
import type { Keyring } from '../identity/keyring.ts';
import { digestOf } from '../identity/secrets.ts';
import { McpError } from './errors.ts';
import type { Claims, Principal } from './principal.ts';

/** What a token of ours stands for. */
export interface OauthIdentity {
  grantId: string;
  caller: KeyCaller;
  clientId: string;
  scopes: ReadonlySet<string>;
  /** The address that it was made out for; null: any server of the workspace. */
  resource: string | null;
}

export const oauthTokenPrefix = 'gwo_';

export interface Identities {
  keyring: Pick<Keyring, 'find'> & Partial<Pick<Keyring, 'whyRefused'>>;
  catalog: Catalog;
  /** The grant behind a token; null where it is unknown, expired or revoked. */
  oauth(token: string): Promise<OauthIdentity | null>;
  /** A person's e-mail address, for claims. */
  emailOf(userId: string): Promise<string | null>;
  isStoreAway(fault: unknown): boolean;
}

/** Where the request came in, and what it is for. */
export interface Asked {
  headers: Readonly<Record<string, string>>;
  /** `https://host`, as OAuth documents name us. */
  origin: string;
  /** `/slug/mcp`. */
  path: string;
}

export async function identifyPrincipal(identities: Identities, asked: Asked): Promise<Principal> {
  try {
    return await identified(identities, asked);
  } catch (fault) {
    if (!identities.isStoreAway(fault)) throw fault;
    throw new McpError(
      'store_unavailable',
      'the database cannot be reached to check this credential; try again in a moment',
    );
  }
}

async function identified(identities: Identities, asked: Asked): Promise<Principal> {
  const key = asked.headers['x-gw-api-key'];
  const bearer = /^bearer\s+(.+)$/i.exec(asked.headers.authorization ?? '')?.[1]?.trim() ?? null;
  const isToken = bearer?.startsWith(oauthTokenPrefix) ?? false;
  if (key && isToken) {
    throw new McpError('invalid_request', 'conflicting credentials: send an API key or an OAuth token, not both');
  }
  if (isToken && bearer) return byToken(identities, asked, bearer);
  const credential = key ?? bearer;
  if (!credential) throw unauthorized(asked, 'send an API key in x-gw-api-key, or sign in with OAuth');
  const caller = await identities.keyring.find(credential);
  if (!caller) throw unknownCredential(identities, asked, credential);
  const workspace = await workspaceOf(identities, caller, asked);
  return {
    id: caller.keyId,
    authType: caller.token ? 'jwt' : 'api_key',
    caller,
    workspace,
    userId: caller.userId,
    scopes: null,
    claims: await claimsOf(identities, caller, { sub: caller.userId ?? caller.keyId, scope: 'mcp' }),
    bearer: key ? bearer : null,
  };
}

function unknownCredential({ keyring }: Identities, asked: Asked, credential: string): McpError {
  const reason = keyring.whyRefused?.(digestOf(credential));
  if (reason?.status === 403) return new McpError('forbidden', reason.message);
  if (reason?.status === 503) return new McpError('store_unavailable', reason.message);
  return unauthorized(asked, reason?.message ?? 'this credential is unknown, expired or revoked', 'invalid_token');
}

async function byToken(identities: Identities, asked: Asked, token: string): Promise<Principal> {
  const found = await identities.oauth(token);
  if (!found) throw unauthorized(asked, 'this token is unknown, expired or revoked', 'invalid_token');
  if (found.resource !== null && found.resource !== asked.origin + asked.path && asked.path !== '/mcp') {
    throw unauthorized(asked, 'this token was made out for another server', 'invalid_token');
  }
  const { caller, scopes, clientId } = found;
  const workspace = await workspaceOf(identities, caller, asked);
  return {
    id: found.grantId,
    authType: 'oauth',
    caller,
    workspace,
    userId: caller.userId,
    scopes,
    claims: await claimsOf(identities, caller, {
      sub: caller.userId ?? found.grantId,
      scope: [...scopes].join(' '),
      client_id: clientId,
    }),
    bearer: token,
  };
}

async function workspaceOf(identities: Identities, caller: KeyCaller, asked: Asked): Promise<WorkspaceCatalog> {
  if (caller.workspaceId === null) {
    throw new McpError(
      'forbidden',
      'an admin key manages the organisation and calls no MCP servers; use a workspace or user key',
    );
  }
  if (!mayInWorkspace(caller, 'mcp.invoke', caller.workspaceId)) {
    throw new McpError('insufficient_scope', 'this credential needs the scope mcp.invoke', {
      headers: { 'www-authenticate': challenge(asked, 'insufficient_scope') },
    });
  }
  const workspace = await identities.catalog.workspace(caller.workspaceId);
  if (!workspace) throw unauthorized(asked, 'the workspace of this credential is gone', 'invalid_token');
  return workspace;
}

async function claimsOf(identities: Identities, caller: KeyCaller, own: Claims): Promise<Claims> {
  const { userId, workspaceId, organisationId, defaults } = caller;
  const email = userId === null ? null : await identities.emailOf(userId);
  return {
    ...own,
    ...(userId !== null && { user_id: userId, username: defaults.userName, email }),
    workspace_id: workspaceId,
    organisation_id: organisationId,
  };
}

export const resourceMetadataUrl = ({ origin, path }: Asked): string =>
  `${origin}/.well-known/oauth-protected-resource${path}`;

const challenge = (asked: Asked, error: string | null, scope = 'mcp'): string =>
  `Bearer ${error === null ? '' : `error="${error}", `}resource_metadata="${resourceMetadataUrl(asked)}", scope="${scope}"`;

const unauthorized = (asked: Asked, message: string, error: string | null = null): McpError =>
  new McpError('unauthorized', message, { headers: { 'www-authenticate': challenge(asked, error) } });

/** A token that may only read was used to change something. */
export const needsWriteScope = (asked: Asked): McpError =>
  new McpError('insufficient_scope', 'this token may only read; calling this tool needs the scope mcp:write', {
    headers: { 'www-authenticate': challenge(asked, 'insufficient_scope', 'mcp:write') },
    data: { required_scope: 'mcp:write' },
  });
