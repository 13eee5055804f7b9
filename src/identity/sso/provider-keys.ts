/** The keys with which OpenID providers sign, kept for a few minutes, so that anybody who sends tokens cannot make us ask without end. */
import type { JWTVerifyGetKey } from 'jose';
import { SsoRefused } from './flows.ts';

export interface ProviderKeys {
  issuer: string;
  keys: JWTVerifyGetKey;
}

type WebFetch = (url: string, init: RequestInit) => Promise<Response>;

interface Entry {
  found: Promise<ProviderKeys>;
  until: number;
}

const keptMs = 300_000;
/** What failed is asked again soon, but not for every token. */
const failureKeptMs = 5_000;
const entriesKept = 1_000;

interface Discovered {
  issuer: string;
  jwks_uri?: string | undefined;
}

export function createProviderKeys(
  fetchFor: (tenant: string) => WebFetch,
  trustsPlainHttp: (url: string) => boolean,
  now: () => number,
) {
  const entries = new Map<string, Entry>();

  const find = async (discover: () => Promise<Discovered>, tenant: string): Promise<ProviderKeys> => {
    const { issuer, jwks_uri } = await discover();
    if (!jwks_uri) throw new SsoRefused('the issuer tells no address of its keys');
    const url = new URL(jwks_uri);
    if (url.protocol !== 'https:' && !trustsPlainHttp(jwks_uri)) {
      throw new SsoRefused('the address of the issuer’s keys is not https');
    }
    const { createRemoteJWKSet, customFetch } = await import('jose');
    const fetchKeys = fetchFor(tenant);
    // An unknown key id makes it ask again, at most twice a minute.
    const keys = createRemoteJWKSet(url, {
      [customFetch]: (address: string, init: RequestInit) => fetchKeys(address, init),
    });
    return { issuer, keys };
  };

  return {
    /** Asks `discover` for the document of the issuer at most once in a few minutes. */
    of(issuerUrl: string, tenant: string, discover: () => Promise<Discovered>): Promise<ProviderKeys> {
      const name = `${tenant} ${issuerUrl}`;
      const known = entries.get(name);
      if (known && known.until > now()) return known.found;
      if (entries.size >= entriesKept) entries.delete(entries.keys().next().value ?? '');
      const entry: Entry = { found: find(discover, tenant), until: now() + keptMs };
      entries.delete(name);
      entries.set(name, entry);
      entry.found.catch(() => {
        entry.until = now() + failureKeptMs;
      });
      return entry.found;
    },
  };
}
