/** Work that a key has ordered is done later, as that key: it gets a secret of its own that never leaves the process and counts for one call. */
import { randomBytes } from 'node:crypto';
import type { KeyCaller } from './caller.ts';
import type { Keyring, OrderedBy } from './keyring.ts';

export interface Impersonation {
  /** Knows the secrets of stand-ins besides all others. */
  keyring: Pick<Keyring, 'find' | 'hasExpired' | 'whyRefused'>;
  /** Lets `work` act as whoever ordered it; null when their key or token no longer counts. */
  actAs<T>(by: OrderedBy, work: (secret: string) => Promise<T>): Promise<T | null>;
}

const mark = 'stand-in-';

export function createImpersonation(keyring: Keyring): Impersonation {
  const acting = new Map<string, KeyCaller>();
  return {
    keyring: {
      find: (secret, digest) => (secret.startsWith(mark) ? (acting.get(secret) ?? null) : keyring.find(secret, digest)),
      hasExpired: (digest) => keyring.hasExpired(digest),
      whyRefused: (digest) => keyring.whyRefused(digest),
    },
    async actAs(by, work) {
      const caller = await keyring.holder(by);
      if (!caller) return null;
      const secret = mark + randomBytes(32).toString('base64url');
      acting.set(secret, caller);
      try {
        return await work(secret);
      } finally {
        acting.delete(secret);
      }
    },
  };
}
