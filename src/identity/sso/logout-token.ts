/** Logout tokens of OpenID Connect Back-Channel Logout 1.0: a provider tells whose sessions have ended. */
import type { JWTVerifyGetKey } from 'jose';
import { z } from 'zod';
import { lazy } from '../../lazy.ts';
import { SsoRefused } from './flows.ts';

export interface LogoutToken {
  /** It counts once. */
  id: string;
  expiresAt: Date;
  issuer: string;
  /** The person, as the provider calls them; null: the session alone is named. */
  subject: string | null;
  /** The session at the provider; null: all of the person. */
  sessionId: string | null;
}

export interface Expected {
  issuer: string;
  clientId: string;
  keys: JWTVerifyGetKey;
  now: Date;
}

/** Signatures by a key pair: no secret that we share with the provider makes a token, and neither does none at all. */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];
const clockToleranceSeconds = 60;
/** An older one is not taken, so that ids of used ones are kept for a bounded time. */
const maxAgeSeconds = 600;
const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout';
const types = [undefined, 'jwt', 'logout+jwt', 'application/logout+jwt'];

const claimsSchema = lazy(() => {
  const name = z.string().min(1).max(1_024);
  return z.object({
    jti: name,
    exp: z.number(),
    iat: z.number(),
    sub: name.optional(),
    sid: name.optional(),
    events: z.object({ [logoutEvent]: z.record(z.string(), z.unknown()) }),
  });
});

/** Throws `SsoRefused` for a token that breaks a rule of section 2.6. */
export async function readLogoutToken(token: string, { issuer, clientId, keys, now }: Expected): Promise<LogoutToken> {
  const { jwtVerify } = await import('jose');
  const { payload, protectedHeader } = await jwtVerify(token, keys, {
    issuer,
    audience: clientId,
    algorithms,
    currentDate: now,
    clockTolerance: clockToleranceSeconds,
    maxTokenAge: maxAgeSeconds,
    requiredClaims: ['iat', 'exp', 'jti', 'events'],
  }).catch((fault: unknown) => {
    throw new SsoRefused(`the logout token is not accepted: ${fault instanceof Error ? fault.message : String(fault)}`);
  });
  if (!types.includes(protectedHeader.typ?.toLowerCase())) throw new SsoRefused('the token is no logout token');
  // With a nonce it could be an ID token that somebody sends here.
  if ('nonce' in payload) throw new SsoRefused('the logout token has a nonce');
  const claims = claimsSchema().safeParse(payload);
  if (!claims.success) {
    throw new SsoRefused(`the claim ${claims.error.issues[0]?.path.join('.')} of the logout token is missing or wrong`);
  }
  const { jti, exp, iat, sub = null, sid = null } = claims.data;
  if (sub === null && sid === null) throw new SsoRefused('the logout token names neither a person nor a session');
  const lastSecond = Math.min(exp, iat + maxAgeSeconds) + clockToleranceSeconds;
  return { id: jti, expiresAt: new Date(lastSecond * 1_000), issuer, subject: sub, sessionId: sid };
}
