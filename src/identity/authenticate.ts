/** From a request's headers to its caller. A credential that is present and wrong is refused; the next one is never tried. */
import type { Clock } from '../clock.ts';
import type { Db } from '../store/database.ts';
import type { Caller } from './caller.ts';
import type { JwtRefused } from './jwt/refusal.ts';
import type { Keyring } from './keyring.ts';
import { digestOf, sessionTokenPrefix } from './secrets.ts';
import { findSession } from './sessions.ts';

type Authentication =
  | { outcome: 'caller'; caller: Caller; carrier: 'header' | 'cookie' }
  | { outcome: 'missing' }
  /** With the reason where the credential is a JWT. */
  | { outcome: 'refused'; reason: JwtRefused | null };

export interface Authenticator {
  authenticate(headers: Headers): Promise<Authentication>;
}

export const sessionCookie = 'gw_session';

export function createAuthenticator(db: Db, keyring: Keyring, clock: Clock): Authenticator {
  // An operator may have chosen an API key that begins like a session token, so the prefix only saves a look-up.
  const find = async (credential: string): Promise<Caller | null> =>
    (credential.startsWith(sessionTokenPrefix) ? await findSession(db, clock, credential) : null) ??
    keyring.find(credential);

  return {
    async authenticate(headers) {
      const found = credentialIn(headers);
      if (!found) return { outcome: 'missing' };
      const caller = await find(found.credential);
      return caller
        ? { outcome: 'caller', caller, carrier: found.carrier }
        : { outcome: 'refused', reason: keyring.whyRefused(digestOf(found.credential)) };
    },
  };
}

/** The one credential of a request; of several, the first in this order counts. */
export function credentialIn(headers: Headers): { credential: string; carrier: 'header' | 'cookie' } | null {
  const apiKey = headers.get('x-gw-api-key');
  if (apiKey) return { credential: apiKey, carrier: 'header' };
  const authorization = headers.get('authorization');
  if (authorization) return { credential: authorization.replace(/^bearer\s+/i, ''), carrier: 'header' };
  const cookie = readCookie(headers.get('cookie') ?? '', sessionCookie);
  return cookie ? { credential: cookie, carrier: 'cookie' } : null;
}

export function readCookie(cookies: string, name: string): string | null {
  for (const pair of cookies.split(';')) {
    const [key, value] = pair.trim().split('=', 2);
    if (key === name && value) return value;
  }
  return null;
}
