/** Where browsers come back from identity providers: the answer is checked, the person is let in, and the console opens. */

import { type BodyRoom, readBytes } from '../../http/body.ts';
import { clientAddress, parseRanges } from '../../http/client-address.ts';
import { ApiError } from '../../http/errors.ts';
import type { WebHandler } from '../../http/web.ts';
import { findAuthSettings } from '../../identity/auth-settings.ts';
import { readCookie } from '../../identity/authenticate.ts';
import { digestOf } from '../../identity/secrets.ts';
import { openSession } from '../../identity/sessions.ts';
import { type SsoFlow, type SsoIdentity, SsoRefused } from '../../identity/sso/flows.ts';
import { type LogoutMessage, partyMetadata } from '../../identity/sso/saml.ts';
import { errorPage } from '../../oauth/pages.ts';
import type { Change } from '../../store/changes.ts';
import type { Db } from '../../store/database.ts';
import { decode } from '../../store/json.ts';
import { rememberSignIn } from '../auth/login.ts';
import { cookieOf, originOf } from '../auth/session-reply.ts';
import { type AuditTrail, insertAuditRow } from '../kernel/audit/audit.ts';
import type { Exchange } from '../kernel/endpoint.ts';
import { exchangeOf } from '../kernel/exchange.ts';
import { createCallLimiter } from '../kernel/rate-limit.ts';
import type { Services } from '../kernel/services.ts';
import { ssoAuditRow } from './audit-row.ts';
import { browserCookie, clearBrowserCookie } from './browser-cookie.ts';
import { endNamedSessions, logoutColumns } from './named-sessions.ts';
import { admitPerson } from './provision.ts';
import { spend } from './spend.ts';

interface SsoHandlerParts {
  services: Services;
  trail: AuditTrail;
  onFault(fault: unknown, requestId: string): void;
}

export function createSsoHandler({ services, trail, onFault }: SsoHandlerParts): WebHandler {
  const { store, sso, clock } = services;
  const proxies = parseRanges(services.settings.trustedProxies);
  const calls = createCallLimiter(clock, services.settings.sensitiveRateLimit);
  // The person is not identified yet.
  const room = services.bodyRoom('');

  const loginRow = (
    exchange: Exchange,
    path: string,
    status: number,
    { organisationId, kind }: { organisationId: string; kind: string },
    userId: string,
    details: object,
  ) => {
    const method = kind.startsWith('saml') ? 'saml' : 'oidc';
    return ssoAuditRow(clock, exchange, { path, status, organisationId, method, userId, details });
  };

  const enter = async (tx: Db, exchange: Exchange, path: string, flow: SsoFlow, identity: SsoIdentity) => {
    const { organisationId } = flow;
    const now = clock.now();
    const row = await findAuthSettings(tx, organisationId);
    if (row.sso === null) throw new SsoRefused('the organisation has no single sign-on any more');
    const { userId, changes } = await admitPerson(
      {
        db: tx,
        services,
        now,
        organisationId,
        sso: decode(row.sso),
        autoProvision: row.disable_auto_provision_user === 0,
      },
      identity,
    );
    await rememberSignIn(tx, now, { userId, organisationId });
    if (row.sso_verified_at === null) {
      await tx
        .updateTable('auth_settings')
        .set({ sso_verified_at: now.toISOString(), sso_proven_at: row.sso_proven_at ?? now.toISOString() })
        .where('organisation_id', '=', organisationId)
        .execute();
    }
    const leaving = logoutColumns(services.vault, organisationId, identity);
    const session = await openSession(
      tx,
      now,
      { userId, organisationId, authTime: now, ...leaving },
      originOf(exchange),
    );
    await services.feed.publish(tx, changes);
    if (services.settings.auditLogs) await insertAuditRow(tx, loginRow(exchange, path, 200, flow, userId, {}));
    return { session, changes };
  };

  /** The browser that began must be the one that comes back: else somebody else's answer would sign it in. */
  const requireSameBrowser = (exchange: Exchange, flow: SsoFlow): void => {
    const brought = readCookie(exchange.headers.get('cookie') ?? '', browserCookie);
    if (!brought || digestOf(brought) !== flow.browserDigest) {
      throw new SsoRefused('this sign-in was begun in another browser; begin it here');
    }
  };

  const refused = (fault: unknown, exchange: Exchange, url: URL, flow: SsoFlow): Response => {
    const reason = reasonOf(fault);
    if (reason === null) throw fault;
    if (services.settings.auditLogs) trail.queue(loginRow(exchange, url.pathname, 403, flow, '', { reason }));
    return errorPage('Sign-in not possible', `You could not be signed in: ${reason}.`, 403);
  };

  /** Nobody asked for this, or it was answered before: whoever tries it is told in the trail of the organisation that it names. */
  const unknown = async (
    exchange: Exchange,
    url: URL,
    organisationId: string | undefined,
    reason = 'unknown, too old, or used before',
  ): Promise<Response> => {
    const named = await store.db
      .selectFrom('organisations')
      .select('id')
      .where('id', '=', organisationId ?? '')
      .executeTakeFirst();
    if (named && services.settings.auditLogs) {
      const flow = { organisationId: named.id, kind: url.pathname.includes('/saml') ? 'saml' : 'oidc' };
      trail.queue(loginRow(exchange, url.pathname, 400, flow, '', { reason }));
    }
    return errorPage('Sign-in not possible', 'This sign-in is unknown, too old, or was used before. Begin anew.', 400);
  };

  const finish = async (exchange: Exchange, url: URL): Promise<Response> => {
    const state = url.searchParams.get('state');
    const flow = state === null ? null : await sso.flows.take(state);
    if (!flow || flow.kind === 'saml' || flow.kind === 'used') return unknown(exchange, url, flow?.organisationId);
    try {
      requireSameBrowser(exchange, flow);
      const row = await findAuthSettings(store.db, flow.organisationId);
      const identity = flow.kind === 'saml-ticket' ? flow.identity : await sso.answered(row, flow, url.searchParams);
      const entered = await store.atomically((tx) => enter(tx, exchange, url.pathname, flow, identity));
      services.feed.announce(entered.changes as readonly Change[]);
      const seconds = Math.floor((Date.parse(entered.session.expiresAt) - clock.now().getTime()) / 1_000);
      const headers = new Headers({ location: flow.returnTo, 'cache-control': 'no-store' });
      headers.append('set-cookie', cookieOf(exchange, entered.session.token, seconds));
      headers.append('set-cookie', clearBrowserCookie(exchange));
      return new Response(null, { status: 302, headers });
    } catch (fault) {
      return refused(fault, exchange, url, flow);
    }
  };

  /** The browser of whoever posts an assertion sends no cookie here; it fetches its session with the ticket that it gets. */
  const assertion = async (
    exchange: Exchange,
    url: URL,
    organisationId: string,
    request: Request,
  ): Promise<Response> => {
    const form = new URLSearchParams((await readBytes(request, formLimit, { room })).toString('utf8'));
    const relayState = form.get('RelayState');
    const flow = relayState === null ? null : await sso.flows.take(relayState);
    if (flow?.kind !== 'saml') return unknown(exchange, url, flow?.organisationId ?? organisationId);
    try {
      if (flow.organisationId !== organisationId) throw new SsoRefused('the answer came to another organisation');
      const row = await findAuthSettings(store.db, organisationId);
      const { id, expiresAt, identity } = await sso.asserted(
        row,
        flow,
        exchange.origin,
        form.get('SAMLResponse') ?? '',
      );
      await spend(store.db, organisationId, { what: 'assertion', id, expiresAt });
      const { returnTo, browserDigest } = flow;
      const ticket = await sso.flows.begin({ kind: 'saml-ticket', organisationId, returnTo, browserDigest, identity });
      const location = `/v2/auth/callback?state=${ticket}`;
      return new Response(null, { status: 303, headers: { location, 'cache-control': 'no-store' } });
    } catch (fault) {
      return refused(fault, exchange, url, flow);
    }
  };

  /** The provider ends sessions here by a signed request, or answers one of ours; then there is nothing left to do. */
  const samlLogout = async (exchange: Exchange, url: URL, organisationId: string, request: Request) => {
    const message = await logoutMessageIn(request, url, room);
    if (message === null) return new Response(null, { status: 303, headers: { location: '/' } });
    const flow = { organisationId, kind: 'saml' };
    try {
      const row = await findAuthSettings(store.db, organisationId);
      const { replyTo, ...named } = await sso.loggedOut(row, exchange.origin, message);
      const users = await store.atomically((tx) => endNamedSessions(tx, services.vault, organisationId, named));
      for (const userId of services.settings.auditLogs ? new Set(users) : []) {
        const details = { event: 'logout', by: 'identity provider' };
        trail.queue({ ...loginRow(exchange, url.pathname, 200, flow, userId, details), action: 'manage' as const });
      }
      return new Response(null, { status: 303, headers: { location: replyTo ?? '/', 'cache-control': 'no-store' } });
    } catch (fault) {
      const reason = reasonOf(fault);
      if (reason === null) throw fault;
      await unknown(exchange, url, organisationId, reason);
      return errorPage('Logout not possible', `You could not be logged out: ${reason}.`, 403);
    }
  };

  const metadata = async (exchange: Exchange, url: URL): Promise<Response> => {
    const named = url.searchParams.get('organisation_id');
    const rows = await store.db
      .selectFrom('organisations')
      .select('id')
      .where('status', '=', 'active')
      .limit(2)
      .execute();
    const organisationId = named ?? (rows.length === 1 ? rows[0]?.id : undefined);
    if (!organisationId || !/^[\w-]{1,64}$/.test(organisationId)) {
      return errorPage('Which organisation?', 'Name it: ?organisation_id=', 400);
    }
    const party = sso.party(await findAuthSettings(store.db, organisationId), exchange.origin);
    return new Response(await partyMetadata(party), {
      headers: { 'content-type': 'application/samlmetadata+xml', 'cache-control': 'no-store' },
    });
  };

  return async (request, peer) => {
    const url = new URL(request.url);
    const place = places.exec(url.pathname);
    if (!place) return null;
    const [, isCallback, samlPlace, organisationId] = place;
    const client = clientAddress(peer(), request.headers, proxies);
    const exchange = exchangeOf(request, url, client, Bun.randomUUIDv7(), services.settings.publicUrl);
    const wait = calls.count(exchange.clientIp);
    if (wait > 0) return errorPage('Too many calls', `Try again in ${wait} seconds.`, 429);
    const method = samlPlace === 'callback' ? 'POST' : 'GET';
    const isOffered = request.method === method || (samlPlace === 'logout' && request.method === 'POST');
    if (!isOffered) return errorPage('Not offered', `This address takes ${method}.`, 405);
    try {
      if (organisationId !== undefined) {
        const answer = samlPlace === 'logout' ? samlLogout : assertion;
        return await answer(exchange, url, organisationId, request);
      }
      return await (isCallback ? finish(exchange, url) : metadata(exchange, url));
    } catch (fault) {
      if (fault instanceof ApiError && fault.status < 500)
        return errorPage('Sign-in not possible', fault.message, fault.status);
      onFault(fault, exchange.requestId);
      return errorPage(
        'Sign-in not possible',
        `Something went wrong on our side (${exchange.requestId}). Try again.`,
        500,
      );
    }
  };
}

const formLimit = 512 * 1024;
/** `/callback`, the addresses of assertions and of logouts with their organisation, or our metadata. */
const places = /^\/v[12]\/auth\/(?:(callback)|saml(?:\/(callback|logout)\/([\w-]{1,64}))?)\/?$/;

/** Null for the provider's answer to a logout that began here. */
async function logoutMessageIn(request: Request, url: URL, room: BodyRoom): Promise<LogoutMessage | null> {
  if (request.method === 'GET') {
    const { searchParams: query, search } = url;
    return query.has('SAMLRequest') ? { binding: 'redirect', query, rawQuery: search.slice(1) } : null;
  }
  const form = new URLSearchParams((await readBytes(request, formLimit, { room })).toString('utf8'));
  const sent = form.get('SAMLRequest');
  return sent === null ? null : { binding: 'post', request: sent, relayState: form.get('RelayState') };
}

/** What may be told to the person; null for faults of ours. */
function reasonOf(fault: unknown): string | null {
  if (fault instanceof SsoRefused) return fault.message;
  return fault instanceof ApiError && fault.status < 500 ? fault.message : null;
}
