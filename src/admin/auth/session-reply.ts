/** How a new session reaches its owner: in the reply for programs, in a cookie for the console. */
import { z } from 'zod';
import { unauthenticated } from '../../http/errors.ts';
import { sessionCookie } from '../../identity/authenticate.ts';
import type { Caller, SessionCaller } from '../../identity/caller.ts';
import type { NewSession, SessionOrigin } from '../../identity/sessions.ts';
import { lazy } from '../../lazy.ts';
import type { Call, Exchange } from '../kernel/endpoint.ts';
import { timestamp } from '../kernel/fields.ts';

type Answering = Pick<Call<unknown, unknown, unknown>, 'now' | 'exchange' | 'header'>;

export const sessionReply = lazy(() =>
  z.object({
    object: z.literal('session'),
    token: z.string().describe('Send it as `Authorization: Bearer`, or rely on the cookie that came with this reply'),
    csrf_token: z.string().describe('Send it in the header `x-gw-csrf` with every write that relies on the cookie'),
    expires_at: timestamp,
    organisation_id: z.string(),
  }),
);

export function handOver(call: Answering, session: NewSession, organisationId: string) {
  const seconds = Math.floor((Date.parse(session.expiresAt) - call.now.getTime()) / 1000);
  call.header('set-cookie', cookieOf(call.exchange, session.token, seconds));
  return {
    object: 'session' as const,
    token: session.token,
    csrf_token: session.csrfToken,
    expires_at: session.expiresAt,
    organisation_id: organisationId,
  };
}

export const clearCookie = (call: Answering): void => call.header('set-cookie', cookieOf(call.exchange, '', 0));

export function cookieOf(exchange: Exchange, value: string, seconds: number): string {
  // A browser drops a Secure cookie that came over plain HTTP, which is how a first start on a laptop is reached.
  const secure = exchange.origin.startsWith('https:') ? '; Secure' : '';
  return `${sessionCookie}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${seconds}${secure}`;
}

export const originOf = (exchange: Exchange): SessionOrigin => ({
  clientIp: exchange.clientIp,
  userAgent: exchange.headers.get('user-agent') ?? '',
});

/** The caller of a route that only sessions may call, as the session it is. */
export function signedIn(caller: Caller): SessionCaller {
  if (caller.kind !== 'session') throw unauthenticated('Sign in first');
  return caller;
}

export const sessionsOnly = { callers: ['session'], scope: null, level: 'organisation' } as const;
