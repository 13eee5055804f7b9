/** Where browsers come back from identity providers: the answer is checked, the person is let in, and the console opens. */
import { clientAddress, parseRanges } from '../../http/client-address.ts';
import { ApiError } from '../../http/errors.ts';
import type { WebHandler } from '../../http/web.ts';
import { findAuthSettings } from '../../identity/auth-settings.ts';
import { readCookie } from '../../identity/authenticate.ts';
import { digestOf } from '../../identity/secrets.ts';
import { openSession } from '../../identity/sessions.ts';
import { type SsoFlow, type SsoIdentity, SsoRefused } from '../../identity/sso/flows.ts';
import { errorPage } from '../../oauth/pages.ts';
import type { Change } from '../../store/changes.ts';
import type { Db } from '../../store/database.ts';
import { decode } from '../../store/json.ts';
import { rememberSignIn } from '../auth/login.ts';
import { cookieOf, originOf } from '../auth/session-reply.ts';
import { type AuditTrail, insertAuditRow } from '../kernel/audit/audit.ts';
import { maskHeaders } from '../kernel/audit/mask.ts';
import type { Exchange } from '../kernel/endpoint.ts';
import { bounded, exchangeOf } from '../kernel/kernel.ts';
import { createCallLimiter } from '../kernel/rate-limit.ts';
import type { Services } from '../kernel/services.ts';
import { browserCookie, clearBrowserCookie } from './browser-cookie.ts';
import { admitPerson } from './provision.ts';

interface SsoHandlerParts {
  services: Services;
  trail: AuditTrail;
  onFault(fault: unknown, requestId: string): void;
}

export const ssoLogoutPurpose = 'sso-logout';

export function createSsoHandler({ services, trail, onFault }: SsoHandlerParts): WebHandler {
  const { store, sso, clock } = services;
  const proxies = parseRanges(services.settings.trustedProxies);
  const calls = createCallLimiter(clock, services.settings.sensitiveRateLimit);

  const loginRow = (
    exchange: Exchange,
    path: string,
    status: number,
    flow: SsoFlow,
    userId: string,
    details: object,
  ) => ({
    id: Bun.randomUUIDv7(),
    timestamp: clock.now().toISOString(),
    method: 'POST',
    uri: path,
    request_id: exchange.requestId,
    request_body: '',
    query_params: '',
    request_headers: bounded(JSON.stringify(maskHeaders(exchange.headers))),
    user_id: userId,
    user_type: 'user' as const,
    organisation_id: flow.organisationId,
    workspace_id: null,
    response_status_code: status,
    resource_type: 'user' as const,
    resource_id: userId === '' ? null : userId,
    action: 'login' as const,
    client_ip: exchange.clientIp,
    country: exchange.country,
    details: JSON.stringify({ method: flow.kind.startsWith('saml') ? 'saml' : flow.kind, ...details }),
  });

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
        .set({ sso_verified_at: now.toISOString() })
        .where('organisation_id', '=', organisationId)
        .execute();
    }
    const ssoSealed = services.vault.seal(JSON.stringify({ logout: identity.logout }), ssoLogoutPurpose);
    const session = await openSession(
      tx,
      now,
      { userId, organisationId, authTime: now, ssoSealed },
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

  const finish = async (exchange: Exchange, url: URL): Promise<Response> => {
    const state = url.searchParams.get('state');
    const flow = state === null ? null : await sso.flows.take(state);
    if (!flow || flow.kind === 'saml') {
      return errorPage(
        'Sign-in not possible',
        'This sign-in is unknown, too old, or was used before. Begin anew.',
        400,
      );
    }
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
      const reason = reasonOf(fault);
      if (reason === null) throw fault;
      if (services.settings.auditLogs) {
        trail.queue(loginRow(exchange, url.pathname, 403, flow, '', { reason }));
      }
      return errorPage('Sign-in not possible', `You could not be signed in: ${reason}.`, 403);
    }
  };

  return async (request, peer) => {
    const url = new URL(request.url);
    if (!/^\/v[12]\/auth\/callback\/?$/.test(url.pathname)) return null;
    const client = clientAddress(peer(), request.headers, proxies);
    const exchange = exchangeOf(request, url, client, Bun.randomUUIDv7(), services.settings.publicUrl);
    const wait = calls.count(exchange.clientIp);
    if (wait > 0) return errorPage('Too many calls', `Try again in ${wait} seconds.`, 429);
    if (request.method !== 'GET')
      return errorPage('Not offered', 'Identity providers lead browsers here with GET.', 405);
    try {
      return await finish(exchange, url);
    } catch (fault) {
      onFault(fault, exchange.requestId);
      return errorPage(
        'Sign-in not possible',
        `Something went wrong on our side (${exchange.requestId}). Try again.`,
        500,
      );
    }
  };
}

/** What may be told to the person; null for faults of ours. */
function reasonOf(fault: unknown): string | null {
  if (fault instanceof SsoRefused) return fault.message;
  return fault instanceof ApiError && fault.status < 500 ? fault.message : null;
}
