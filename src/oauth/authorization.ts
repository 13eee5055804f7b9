/** Asking a person: from a client's authorization request over the consent page to a code. */
import { createHash } from 'node:crypto';
import type { Authenticator } from '../identity/authenticate.ts';
import { type SessionCaller, workspacesWith } from '../identity/caller.ts';
import type { Db } from '../store/database.ts';
import type { Clients, OauthClient } from './clients.ts';
import { OauthError } from './errors.ts';
import type { Flows } from './flows.ts';
import type { Grants, IssuedTokens } from './grants.ts';
import { consentPage, errorPage, signInPage } from './pages.ts';
import { isRegistered } from './redirect-uris.ts';
import { requestedScopes } from './scopes.ts';

const consentMs = 10 * 60_000;
const codeMs = 300_000;
const challengeForm = /^[A-Za-z0-9_-]{43}$/;
const verifierForm = /^[A-Za-z0-9._~-]{43,128}$/;

interface Consent {
  clientId: string;
  redirectUri: string;
  state: string | null;
  challenge: string;
  scopes: string[];
  resource: string | null;
  userId: string;
}

interface Code extends Omit<Consent, 'state' | 'scopes'> {
  scope: string;
  organisationId: string;
  workspaceId: string;
}

interface AuthorizationDeps {
  db: Db;
  clients: Clients;
  flows: Flows;
  grants: Grants;
  authenticator: Authenticator;
  /** Where a person must sign in upstream before the server can be used; null where that is not needed. */
  upstreamSignIn(
    server: { slug: string; workspaceId: string },
    userId: string,
    origin: string,
    resumeAt: string,
  ): Promise<string | null>;
  /** Notes a consent in the audit trail. */
  noteConsent(who: SessionCaller, details: Record<string, unknown>): void;
}

export function createAuthorization(deps: AuthorizationDeps) {
  const { db, clients, flows, grants } = deps;

  const signedIn = async (headers: Headers): Promise<SessionCaller | null> => {
    const cookies = new Headers();
    const cookie = headers.get('cookie');
    if (cookie !== null) cookies.set('cookie', cookie);
    const found = await deps.authenticator.authenticate(cookies);
    return found.outcome === 'caller' && found.caller.kind === 'session' ? found.caller : null;
  };

  /** The workspaces through which the person may use the server; all of theirs where none is named. */
  const eligible = async (caller: SessionCaller, slug: string | null): Promise<{ id: string; name: string }[]> => {
    const allowed = workspacesWith(caller, 'mcp.invoke');
    let query = db
      .selectFrom('workspaces')
      .select(['workspaces.id', 'workspaces.name'])
      .where('workspaces.organisation_id', '=', caller.organisationId)
      .where('workspaces.status', '=', 'active');
    if (allowed !== 'all') {
      if (allowed.length === 0) return [];
      query = query.where('workspaces.id', 'in', allowed);
    }
    if (slug !== null) {
      query = query.where('workspaces.id', 'in', (eb) =>
        eb
          .selectFrom('mcp_servers as server')
          .innerJoin('mcp_integrations as integration', 'integration.id', 'server.integration_id')
          .select('server.workspace_id')
          .where('server.organisation_id', '=', caller.organisationId)
          .where('server.status', '=', 'active')
          .where('integration.status', '=', 'active')
          .where((or) => or.or([or('server.slug', '=', slug), or('integration.slug', '=', slug)])),
      );
    }
    return query.orderBy('workspaces.name').limit(500).execute();
  };

  const back = (redirectUri: string, parameters: Record<string, string | null>): Response => {
    const url = new URL(redirectUri);
    for (const [name, value] of Object.entries(parameters)) if (value !== null) url.searchParams.set(name, value);
    return new Response(null, { status: 302, headers: { location: url.href, 'cache-control': 'no-store' } });
  };

  const refusal = (fault: unknown, to: { redirectUri: string; state: string | null; issuer: string }): Response => {
    if (!(fault instanceof OauthError)) throw fault;
    return back(to.redirectUri, {
      error: fault.code,
      error_description: fault.message,
      state: to.state,
      iss: to.issuer,
    });
  };

  const asked = (query: URLSearchParams, client: OauthClient, origin: string) => {
    if (query.get('response_type') !== 'code') {
      throw new OauthError('unsupported_response_type', 'response_type must be code');
    }
    const challenge = query.get('code_challenge') ?? '';
    if ((query.get('code_challenge_method') ?? 'plain') !== 'S256' || !challengeForm.test(challenge)) {
      throw new OauthError('invalid_request', 'send a code_challenge with code_challenge_method S256');
    }
    const scopes = requestedScopes(query.get('scope'), client.scope);
    const resource = query.get('resource');
    const slug = resource === null ? null : slugIn(resource, origin);
    return { challenge, scopes, resource: resource?.replace(/\/$/, '') ?? null, slug };
  };

  return {
    async authorize(request: Request, origin: string): Promise<Response> {
      const query = new URL(request.url).searchParams;
      const client = await clients.find(query.get('client_id') ?? '');
      if (!client) return errorPage('Unknown application', 'This client_id is not registered here.');
      // Only who has a single address need not name it.
      const redirectUri =
        query.get('redirect_uri') ?? (client.redirectUris.length === 1 ? client.redirectUris[0] : '') ?? '';
      if (!isRegistered(client.redirectUris, redirectUri)) {
        return errorPage('Wrong address', 'The application asks to be sent to an address that it has not registered.');
      }
      const state = query.get('state')?.slice(0, 4_096) ?? null;
      try {
        const wanted = asked(query, client, origin);
        const caller = await signedIn(request.headers);
        if (!caller) return signInPage();
        const requestId = await flows.begin(
          'consent',
          {
            clientId: client.id,
            redirectUri,
            state,
            challenge: wanted.challenge,
            scopes: wanted.scopes,
            resource: wanted.resource,
            userId: caller.userId,
          } satisfies Consent,
          consentMs,
        );
        const organisation = await db
          .selectFrom('organisations')
          .select('name')
          .where('id', '=', caller.organisationId)
          .executeTakeFirstOrThrow();
        return consentPage({
          requestId,
          csrfToken: caller.csrfToken,
          clientName: client.name,
          redirectUri,
          server: wanted.slug,
          scopes: wanted.scopes,
          organisation: organisation.name,
          email: caller.email,
          workspaces: await eligible(caller, wanted.slug),
        });
      } catch (fault) {
        return refusal(fault, { redirectUri, state, issuer: origin });
      }
    },

    async consent(request: Request, form: URLSearchParams, origin: string): Promise<Response> {
      const caller = await signedIn(request.headers);
      if (!caller) return errorPage('Not signed in', 'Your session has ended; start again from the application.', 401);
      if (form.get('csrf_token') !== caller.csrfToken) {
        return errorPage('Not allowed', 'This form was not sent by our own page.', 403);
      }
      const waiting = await flows.take<Consent>('consent', form.get('request_id') ?? '');
      if (!waiting || waiting.userId !== caller.userId) {
        return errorPage(
          'Too late',
          'This request has expired or was answered before; start again from the application.',
        );
      }
      const client = await clients.find(waiting.clientId);
      if (!client || !isRegistered(client.redirectUris, waiting.redirectUri)) {
        return errorPage('Wrong address', 'The application no longer has this address.');
      }
      const to = { redirectUri: waiting.redirectUri, state: waiting.state, issuer: origin };
      if (form.get('decision') !== 'approve') {
        deps.noteConsent(caller, { client: client.name, decision: 'deny' });
        return refusal(new OauthError('access_denied', 'the person denied the request'), to);
      }
      const slug = waiting.resource === null ? null : slugIn(waiting.resource, origin);
      const workspaceId = form.get('workspace_id') ?? '';
      const places = await eligible(caller, slug);
      if (!places.some(({ id }) => id === workspaceId)) {
        return refusal(new OauthError('access_denied', 'the person may not use the server in this workspace'), to);
      }
      const code = await flows.begin(
        'code',
        {
          clientId: client.id,
          redirectUri: waiting.redirectUri,
          challenge: waiting.challenge,
          scope: waiting.scopes.join(' '),
          resource: waiting.resource,
          userId: caller.userId,
          organisationId: caller.organisationId,
          workspaceId,
        } satisfies Code,
        codeMs,
      );
      deps.noteConsent(caller, {
        client: client.name,
        decision: 'approve',
        workspace_id: workspaceId,
        scope: waiting.scopes,
      });
      const reply = back(waiting.redirectUri, { code, state: waiting.state, iss: origin });
      const upstream =
        slug === null
          ? null
          : await deps.upstreamSignIn(
              { slug, workspaceId },
              caller.userId,
              origin,
              reply.headers.get('location') ?? '',
            );
      return upstream === null ? reply : new Response(null, { status: 302, headers: { location: upstream } });
    },

    async exchange(client: OauthClient, form: URLSearchParams): Promise<IssuedTokens> {
      const handle = form.get('code') ?? '';
      if (handle === '' || !form.get('code_verifier')) {
        throw new OauthError('invalid_request', 'send the code and its code_verifier');
      }
      const code = await flows.take<Code>('code', handle);
      if (!code) {
        // A code that comes twice was stolen by one of the two: what the first got ends.
        const grantId = await flows.grantOf(handle);
        if (grantId !== null) await grants.revoke(grantId);
        throw new OauthError('invalid_grant', 'the code is unknown, expired or was used before');
      }
      if (code.clientId !== client.id) throw new OauthError('invalid_grant', 'the code belongs to another client');
      const redirectUri = form.get('redirect_uri');
      if (redirectUri !== null && redirectUri !== code.redirectUri) {
        throw new OauthError('invalid_grant', 'redirect_uri is not the one of the authorization request');
      }
      const verifier = form.get('code_verifier') ?? '';
      if (!verifierForm.test(verifier) || s256(verifier) !== code.challenge) {
        throw new OauthError('invalid_grant', 'code_verifier does not match the code_challenge');
      }
      const resource = form.get('resource')?.replace(/\/$/, '') ?? null;
      if (resource !== null && code.resource !== null && resource !== code.resource) {
        throw new OauthError('invalid_target', 'resource is not the one of the authorization request');
      }
      await clients.used(client.id);
      return grants.make(
        {
          clientId: client.id,
          userId: code.userId,
          organisationId: code.organisationId,
          workspaceId: code.workspaceId,
          resource: code.resource ?? resource,
          scope: code.scope,
          mayRefresh: client.mayRefresh,
        },
        (tx, grantId) => flows.noteGrant(tx, handle, grantId),
      );
    },
  };
}

const s256 = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url');

/** The server that a resource names; it must be one that we serve. */
export function slugIn(resource: string, origin: string): string | null {
  const path = resource.startsWith(`${origin}/`) ? resource.slice(origin.length) : '';
  if (/^\/mcp\/?$/.test(path)) return null;
  const slug = /^\/([A-Za-z0-9_-]{1,255})\/mcp\/?$/.exec(path)?.[1];
  if (!slug) throw new OauthError('invalid_target', 'resource must be the address of an MCP server of ours');
  return slug;
}
