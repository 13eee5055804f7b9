/** From the headers of a request to who calls: an API key, or a token of our own authorization server. */
import type { Arrival, Identified } from '../gateway/context.ts';
import { GatewayError } from '../gateway/errors.ts';
import { serviceRoute } from '../gateway/request/routes.ts';
import type { ServiceCalls } from '../gateway/service-calls.ts';
import type { KeyCaller } from '../identity/caller.ts';
import { McpError, ofGateway } from './errors.ts';
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
  /** The grant behind a token; null where it is unknown, expired or revoked. */
  oauth(token: string): Promise<OauthIdentity | null>;
  /** Servers whose callers sign in at an identity provider of the operator's own. */
  external: {
    serverOf(slug: string): Promise<{ scopes: readonly string[] } | null>;
    identify(slug: string, token: string): Promise<{ caller: KeyCaller; claims: Claims } | null>;
  };
  /** A person's e-mail address, for claims. */
  emailOf(userId: string): Promise<string | null>;
  isStoreAway(fault: unknown): boolean;
}

/** Where the request came in, and what it is for. */
export interface McpArrival {
  headers: Readonly<Record<string, string>>;
  /** `https://host`, as OAuth documents name us. */
  origin: string;
  /** `/slug/mcp`. */
  path: string;
}

export interface KnownPrincipal {
  identified: Identified;
  principal: Principal;
}

export const messageRoute = serviceRoute('mcp', 'mcp.invoke');
export const toolCallRoute = serviceRoute('mcpToolCall', 'mcp.invoke');

interface Needs {
  identities: Identities;
  services: ServiceCalls;
}

export async function identifyPrincipal(needs: Needs, arrival: Arrival, asked: McpArrival): Promise<KnownPrincipal> {
  try {
    return await known(needs, arrival, asked);
  } catch (fault) {
    if (fault instanceof GatewayError) throw await challenged(needs, refusal(fault, asked), asked);
    if (fault instanceof McpError) throw await challenged(needs, fault, asked);
    if (!needs.identities.isStoreAway(fault)) throw fault;
    throw new McpError(
      'store_unavailable',
      'the database cannot be reached to check this credential; try again in a moment',
    );
  }
}

/** Whoever signs in elsewhere asks for the scopes that are known there. */
async function challenged({ identities }: Needs, error: McpError, asked: McpArrival): Promise<McpError> {
  const told = error.headers['www-authenticate'];
  const external = error.status === 401 && told ? await identities.external.serverOf(slugIn(asked)) : null;
  if (!external || !told) return error;
  const scope = external.scopes.length > 0 ? `, scope="${external.scopes.join(' ')}"` : '';
  const headers = { ...error.headers, 'www-authenticate': told.replace(/, scope="[^"]*"/, scope) };
  return new McpError(error.kind, error.message, { headers, ...(error.data && { data: error.data }) });
}

const slugIn = ({ path }: McpArrival): string => path.split('/')[1] ?? '';

async function known({ identities, services }: Needs, arrival: Arrival, asked: McpArrival): Promise<KnownPrincipal> {
  const key = arrival.own.get('api-key');
  const bearer = /^bearer\s+(.+)$/i.exec(asked.headers.authorization ?? '')?.[1]?.trim() ?? null;
  const isToken = bearer?.startsWith(oauthTokenPrefix) ?? false;
  if (key && isToken) {
    throw new McpError('invalid_request', 'conflicting credentials: send an API key or an OAuth token, not both');
  }
  if (isToken && bearer) return byToken({ identities, services }, arrival, asked, bearer);
  const credential = key ?? bearer;
  if (!credential) throw unauthorized(asked, 'send an API key in x-gw-api-key, or sign in with OAuth');
  const elsewhere =
    !key && bearer?.includes('.') ? await byExternal({ identities, services }, arrival, asked, bearer) : null;
  if (elsewhere) return elsewhere;
  const identified = await services.identify(arrival);
  const { caller, workspace } = identified;
  const principal: Principal = {
    id: caller.keyId,
    authType: caller.token ? 'jwt' : 'api_key',
    caller,
    workspace,
    userId: caller.userId,
    scopes: null,
    claims: await claimsOf(identities, caller, { sub: caller.userId ?? caller.keyId, scope: 'mcp' }),
    bearer: key ? bearer : null,
  };
  return { identified, principal };
}

async function byToken(
  { identities, services }: Needs,
  arrival: Arrival,
  asked: McpArrival,
  token: string,
): Promise<KnownPrincipal> {
  const found = await identities.oauth(token);
  if (!found) throw unauthorized(asked, 'this token is unknown, expired or revoked', 'invalid_token');
  if (found.resource !== null && found.resource !== asked.origin + asked.path) {
    throw unauthorized(asked, 'this token was made out for another server', 'invalid_token');
  }
  const { caller, scopes, clientId } = found;
  const identified = await services.identifyAs(arrival, { caller, credential: token, header: 'authorization' });
  const principal: Principal = {
    id: found.grantId,
    authType: 'oauth',
    caller,
    workspace: identified.workspace,
    userId: caller.userId,
    scopes,
    claims: await claimsOf(identities, caller, {
      sub: caller.userId ?? found.grantId,
      scope: [...scopes].join(' '),
      client_id: clientId,
    }),
    bearer: token,
  };
  return { identified, principal };
}

/** A token of the identity provider that the server names; null where it is none. */
async function byExternal(
  { identities, services }: Needs,
  arrival: Arrival,
  asked: McpArrival,
  token: string,
): Promise<KnownPrincipal | null> {
  const found = await identities.external.identify(slugIn(asked), token).catch((fault) => {
    throw fault instanceof McpError && fault.kind === 'unauthorized'
      ? unauthorized(asked, fault.message, 'invalid_token')
      : fault;
  });
  if (!found) return null;
  const { caller, claims } = found;
  const identified = await services.identifyAs(arrival, { caller, credential: token, header: 'authorization' });
  const principal: Principal = {
    id: caller.keyId,
    authType: 'external',
    caller,
    workspace: identified.workspace,
    userId: caller.userId,
    scopes: null,
    claims: { ...claims, ...(await claimsOf(identities, caller, { sub: claims.sub ?? caller.userId })) },
    bearer: token,
  };
  return { identified, principal };
}

/** The gateway's refusal in the words of this protocol; whoever lacks a credential is told where to get one. */
function refusal(error: GatewayError, asked: McpArrival): McpError {
  const told = ofGateway(error);
  if (told.kind === 'unauthorized') return unauthorized(asked, told.message, 'invalid_token');
  if (told.kind !== 'insufficient_scope') return told;
  return new McpError('insufficient_scope', told.message, {
    headers: { 'www-authenticate': challenge(asked, 'insufficient_scope') },
  });
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

export const resourceMetadataUrl = ({ origin, path }: McpArrival): string =>
  `${origin}/.well-known/oauth-protected-resource${path}`;

const challenge = (asked: McpArrival, error: string | null, scope = 'mcp'): string =>
  `Bearer ${error === null ? '' : `error="${error}", `}resource_metadata="${resourceMetadataUrl(asked)}", scope="${scope}"`;

const unauthorized = (asked: McpArrival, message: string, error: string | null = null): McpError =>
  new McpError('unauthorized', message, { headers: { 'www-authenticate': challenge(asked, error) } });

/** A token that may only read was used to change something. */
export const needsWriteScope = (asked: McpArrival): McpError =>
  new McpError('insufficient_scope', 'this token may only read; calling this tool needs the scope mcp:write', {
    headers: { 'www-authenticate': challenge(asked, 'insufficient_scope', 'mcp:write') },
    data: { required_scope: 'mcp:write' },
  });
