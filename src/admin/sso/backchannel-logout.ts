/** Where OpenID providers end sessions by themselves: OpenID Connect Back-Channel Logout 1.0. */
import { readBytes } from '../../http/body.ts';
import { clientAddress, parseRanges } from '../../http/client-address.ts';
import { ApiError } from '../../http/errors.ts';
import type { WebHandler } from '../../http/web.ts';
import { findAuthSettings } from '../../identity/auth-settings.ts';
import { SsoRefused } from '../../identity/sso/flows.ts';
import type { AuditTrail } from '../kernel/audit/audit.ts';
import type { Exchange } from '../kernel/endpoint.ts';
import { exchangeOf } from '../kernel/exchange.ts';
import { createCallLimiter } from '../kernel/rate-limit.ts';
import type { Services } from '../kernel/services.ts';
import { ssoAuditRow } from './audit-row.ts';
import { endTokenSessions } from './named-sessions.ts';
import { spend } from './spend.ts';

interface Parts {
  services: Services;
  trail: AuditTrail;
  onFault(fault: unknown, requestId: string): void;
}

const place = /^\/v[12]\/auth\/oidc\/logout\/([\w-]{1,64})\/?$/;
const formLimit = 64 * 1024;
/** One provider speaks for many people from one address. */
const callsForOneSensitive = 20;

export function createBackchannelLogout({ services, trail, onFault }: Parts): WebHandler {
  const { store, sso, clock, settings } = services;
  const proxies = parseRanges(settings.trustedProxies);
  const calls = createCallLimiter(clock, settings.sensitiveRateLimit * callsForOneSensitive);

  const tell = (exchange: Exchange, path: string, organisationId: string, told: Told): void => {
    if (!settings.auditLogs) return;
    const row = ssoAuditRow(clock, exchange, { path, organisationId, method: 'oidc', ...told });
    trail.queue({ ...row, action: 'manage' });
  };

  /** Ends what the token names; the token and the sessions go together, so that one that fails may be sent again. */
  const end = async (organisationId: string, token: string): Promise<string[]> => {
    const read = await sso.oidcLoggedOut(await findAuthSettings(store.db, organisationId), token);
    return store.atomically(async (tx) => {
      await spend(tx, organisationId, {
        what: 'logout token',
        id: `${read.issuer} ${read.id}`,
        expiresAt: read.expiresAt,
      });
      return endTokenSessions(tx, organisationId, read);
    });
  };

  const refused = async (exchange: Exchange, path: string, organisationId: string, reason: string) => {
    const known = await store.db
      .selectFrom('organisations')
      .select('id')
      .where('id', '=', organisationId)
      .executeTakeFirst();
    if (known) tell(exchange, path, organisationId, { status: 400, userId: '', details: { event: 'logout', reason } });
    return failure(400, 'invalid_request', reason);
  };

  return async (request, peer) => {
    const url = new URL(request.url);
    const organisationId = place.exec(url.pathname)?.[1];
    if (organisationId === undefined) return null;
    const client = clientAddress(peer(), request.headers, proxies);
    const exchange = exchangeOf(request, url, client, Bun.randomUUIDv7(), settings.publicUrl);
    const wait = calls.count(exchange.clientIp);
    if (wait > 0) return failure(429, 'temporarily_unavailable', `Try again in ${wait} seconds.`);
    if (request.method !== 'POST') return failure(405, 'invalid_request', 'This address takes POST.');
    try {
      const form = new URLSearchParams((await readBytes(request, formLimit)).toString('utf8'));
      const sent = form.getAll('logout_token');
      const [token] = sent;
      if (!token || sent.length > 1) return failure(400, 'invalid_request', 'Send one logout_token in a form.');
      const users = await end(organisationId, token);
      for (const userId of new Set(users)) {
        const details = { event: 'logout', by: 'identity provider' };
        tell(exchange, url.pathname, organisationId, { status: 200, userId, details });
      }
      return new Response(null, { status: 200, headers: noStore });
    } catch (fault) {
      if (fault instanceof SsoRefused) return refused(exchange, url.pathname, organisationId, fault.message);
      if (fault instanceof ApiError && fault.status < 500)
        return failure(fault.status, 'invalid_request', fault.message);
      onFault(fault, exchange.requestId);
      return failure(500, 'server_error', `Something went wrong on our side (${exchange.requestId}). Try again.`);
    }
  };
}

interface Told {
  status: number;
  userId: string;
  details: object;
}

const noStore = { 'cache-control': 'no-store' };

const failure = (status: number, error: string, error_description: string): Response =>
  Response.json({ error, error_description }, { status, headers: noStore });
