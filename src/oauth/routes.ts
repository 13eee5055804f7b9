/** The addresses of our authorization server: documents, registration, authorization, tokens. */

import { readJson } from '../bounded-json.ts';
import { readBytes } from '../http/body.ts';
import { ApiError } from '../http/errors.ts';
import type { WebHandler } from '../http/web.ts';
import type { CallLimiter } from '../mcp/call-limiter.ts';
import { McpError } from '../mcp/errors.ts';
import type { createAuthorization } from './authorization.ts';
import type { Clients } from './clients.ts';
import { OauthError } from './errors.ts';
import type { ExternalServer } from './external.ts';
import type { Grants } from './grants.ts';
import { donePage, errorPage, signInPage } from './pages.ts';
import { supportedScopes } from './scopes.ts';
import type { Signing } from './signing.ts';
import type { UpstreamSignIns } from './upstream-tokens.ts';

interface OauthDeps {
  clients: Clients;
  grants: Grants;
  authorization: ReturnType<typeof createAuthorization>;
  signing: Signing;
  signIns: UpstreamSignIns;
  registrations: CallLimiter;
  originOf(request: Request, peer: string): string;
  clientIpOf(request: Request, peer: string): string;
  /** Who is signed in with the browser's cookie. */
  userOf(headers: Headers): Promise<string | null>;
  /** Where the callers of a server sign in, if not here. */
  external(slug: string): Promise<ExternalServer | null>;
  /** The organisation whose service makes a request: with an admin key. Null for anybody else. */
  serviceOf(headers: Headers): Promise<string | null>;
  onFault(fault: unknown): void;
}

const resourceForm = /^\/\.well-known\/oauth-protected-resource(\/[A-Za-z0-9_-]{1,255}\/mcp|\/mcp)?$/;
const serverForm = /^\/\.well-known\/(oauth-authorization-server|openid-configuration)(\/.*)?$/;
const largestForm = 16 * 1024;

export function createOauthRoutes(deps: OauthDeps): WebHandler {
  const { clients, grants, authorization, signing, signIns } = deps;

  const handle = async (request: Request, path: string, origin: string, peer: string): Promise<Response> => {
    const route = `${request.method} ${path}`;
    const resource = resourceForm.exec(path);
    if (resource && request.method === 'GET') {
      const slug = /^\/([^/]+)\/mcp$/.exec(resource[1] ?? '')?.[1];
      return resourceDocument(origin, resource[1] ?? null, slug === undefined ? null : await deps.external(slug));
    }
    if (serverForm.test(path) && request.method === 'GET') return json(serverDocument(origin));
    if (route === 'GET /.well-known/jwks.json') return json(await signing.jwks());
    if (route === 'GET /oauth/client.json') return json(ownDocument(origin));
    if (route === 'GET /oauth/authorize') {
      await admit(new URL(request.url).searchParams.get('client_id'), request, peer);
      return authorization.authorize(request, origin);
    }
    if (route === 'GET /oauth/upstream-callback') return callback(request);
    if (route === 'POST /oauth/register') return register(request, peer);
    if (route === 'POST /oauth/postAuthorizeConsent')
      return authorization.consent(request, await formOf(request), origin);
    if (route === 'POST /oauth/token') return tokens(request, peer);
    if (route === 'POST /oauth/revoke') return revoke(request, peer);
    if (route === 'POST /oauth/introspect') return introspect(request);
    return json({ error: 'not_found' }, 404);
  };

  const countRegistration = (request: Request, peer: string): void => {
    const wait = deps.registrations(deps.clientIpOf(request, peer));
    if (wait > 0) {
      const told = `too many registrations; try again in ${wait} seconds`;
      throw new OauthError('slow_down', told, 429, { 'retry-after': String(wait) });
    }
  };

  /** A client that is described at its own address is fetched and kept: one that is new counts as a registration. */
  const admit = async (clientId: string | null, request: Request, peer: string): Promise<void> => {
    if (clientId?.startsWith('https://') && !(await clients.isKept(clientId))) countRegistration(request, peer);
  };

  const clientOf = async (form: URLSearchParams, request: Request, peer: string) => {
    await admit(form.get('client_id'), request, peer);
    return clients.authenticate(form, request.headers.get('authorization'));
  };

  const register = async (request: Request, peer: string): Promise<Response> => {
    countRegistration(request, peer);
    const text = await textOf(request);
    let body: unknown;
    try {
      body = readJson(text);
    } catch {
      throw new OauthError('invalid_client_metadata', 'the body is no JSON');
    }
    return json(await clients.register(body), 201);
  };

  const tokens = async (request: Request, peer: string): Promise<Response> => {
    const form = await formOf(request);
    const client = await clientOf(form, request, peer);
    const type = form.get('grant_type');
    if (type === 'authorization_code') return json(await authorization.exchange(client, form));
    if (type === 'refresh_token') {
      if (!client.mayRefresh) {
        throw new OauthError('unauthorized_client', 'the client is not registered for refresh tokens');
      }
      const resource = form.get('resource')?.replace(/\/$/, '') ?? null;
      return json(await grants.refresh(client.id, form.get('refresh_token') ?? '', form.get('scope'), resource));
    }
    throw new OauthError('unsupported_grant_type', 'grant_type must be authorization_code or refresh_token');
  };

  const revoke = async (request: Request, peer: string): Promise<Response> => {
    const form = await formOf(request);
    const client = await clientOf(form, request, peer);
    await grants.revokeToken(client.id, form.get('token') ?? '');
    return json({});
  };

  const introspect = async (request: Request): Promise<Response> => {
    const organisationId = await deps.serviceOf(request.headers);
    if (organisationId === null) throw new OauthError('invalid_client', 'introspection needs an admin key');
    const form = await formOf(request);
    return json(await grants.introspect(form.get('token') ?? '', organisationId));
  };

  const callback = async (request: Request): Promise<Response> => {
    const query = new URL(request.url).searchParams;
    const state = query.get('state') ?? '';
    const waiting = await signIns.waitingFor(state);
    if (!waiting) return errorPage('Too late', 'This sign-in has expired or was completed before.');
    // Whoever completes it must be the one whose sign-in it becomes.
    const userId = await deps.userOf(request.headers);
    if (userId === null) return signInPage();
    if (userId !== waiting.userId) return errorPage('Another person', 'This sign-in was begun by somebody else.', 403);
    const error = query.get('error');
    if (error !== null) return errorPage('Not signed in', (query.get('error_description') ?? error).slice(0, 500));
    const code = query.get('code');
    if (!code) return errorPage('Not signed in', 'The authorization server sent no code.');
    try {
      const { resumeAt } = await signIns.complete(state, code, query.get('iss'));
      return resumeAt === null ? donePage('You are signed in.') : Response.redirect(resumeAt, 302);
    } catch (fault) {
      if (!(fault instanceof McpError)) deps.onFault(fault);
      return errorPage(
        'Not signed in',
        fault instanceof McpError ? fault.message : 'The authorization server refused the sign-in.',
        502,
      );
    }
  };

  return async (request, peer) => {
    const { pathname } = new URL(request.url);
    if (!pathname.startsWith('/oauth/') && !pathname.startsWith('/.well-known/')) return null;
    if (pathname.startsWith('/.well-known/') && !isOurs(pathname)) return null;
    try {
      return await handle(request, pathname, deps.originOf(request, peer()), peer());
    } catch (fault) {
      if (fault instanceof OauthError) return json(fault.body, fault.status, { ...fault.headers });
      deps.onFault(fault);
      return json({ error: 'server_error', error_description: 'something went wrong on our side' }, 500);
    }
  };
}

const isOurs = (path: string): boolean =>
  resourceForm.test(path) || serverForm.test(path) || path === '/.well-known/jwks.json';

const json = (body: object, status = 200, headers: Record<string, string> = {}): Response =>
  Response.json(body, { status, headers: { 'cache-control': 'no-store', pragma: 'no-cache', ...headers } });

async function textOf(request: Request): Promise<string> {
  try {
    return (await readBytes(request, largestForm)).toString();
  } catch (fault) {
    if (fault instanceof ApiError) throw new OauthError('invalid_request', fault.message, fault.status);
    throw fault;
  }
}

const formOf = async (request: Request): Promise<URLSearchParams> => new URLSearchParams(await textOf(request));

const resourceDocument = (origin: string, path: string | null, external: ExternalServer | null): Response =>
  json({
    resource: `${origin}${path ?? '/mcp'}`,
    authorization_servers: [external?.issuer ?? origin],
    ...(external
      ? external.scopes.length > 0 && { scopes_supported: external.scopes }
      : { scopes_supported: [...supportedScopes] }),
    bearer_methods_supported: ['header'],
    resource_name: path === null || path === '/mcp' ? 'gw MCP servers' : `gw MCP server ${path.split('/')[1]}`,
  });

const methods = ['none', 'client_secret_post', 'client_secret_basic'];

const serverDocument = (origin: string): object => ({
  issuer: origin,
  authorization_endpoint: `${origin}/oauth/authorize`,
  token_endpoint: `${origin}/oauth/token`,
  registration_endpoint: `${origin}/oauth/register`,
  revocation_endpoint: `${origin}/oauth/revoke`,
  introspection_endpoint: `${origin}/oauth/introspect`,
  jwks_uri: `${origin}/.well-known/jwks.json`,
  response_types_supported: ['code'],
  grant_types_supported: ['authorization_code', 'refresh_token'],
  code_challenge_methods_supported: ['S256'],
  token_endpoint_auth_methods_supported: methods,
  revocation_endpoint_auth_methods_supported: methods,
  scopes_supported: [...supportedScopes],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['RS256'],
  authorization_response_iss_parameter_supported: true,
  client_id_metadata_document_supported: true,
});

/** Who we are at upstreams that read such documents. */
const ownDocument = (origin: string): object => ({
  client_id: `${origin}/oauth/client.json`,
  client_name: 'GW',
  redirect_uris: [`${origin}/oauth/upstream-callback`],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
  software_id: 'gw.mcp',
});
