/** The keys that tokens are checked with: by value, or by address, fetched one at a time, kept for a day, and again when a key is missing. */
import { createPublicKey, type KeyObject } from 'node:crypto';
import { readJson } from '../../bounded-json.ts';
import { JwtRefused } from './refusal.ts';
import { isUsable, type JwtSettings, keySetSchema, mostKeys, type PublicJwk } from './settings.ts';

export interface KeySets {
  /** The key with this id; null where the organisation has none. */
  find(settings: JwtSettings, kid: string, organisationId: string): Promise<KeyObject | null>;
}

interface KeySet {
  keys: ReadonlyMap<string, PublicJwk>;
  imported: Map<string, KeyObject>;
}

interface Fetched {
  set: KeySet | null;
  fetchedAt: number;
  /** When the address was last asked, whether or not it answered. */
  askedAt: number;
  asking: Promise<void> | null;
  fault: string | null;
}

const maxAgeMs = 86_400_000;
/** An address is asked at most this often, however many unknown keys tokens name. */
const refetchMs = 60_000;
/** While no keys are known at all, nobody can be let in, so that it is asked sooner. */
const retryMs = 5_000;
const setsKept = 1_000;

export function createKeySets(
  fetchDocument: (url: string, tenant: string) => Promise<string>,
  now: () => number,
): KeySets {
  const fetched = new Map<string, Fetched>();
  const given = new WeakMap<object, KeySet>();

  const ask = (url: string, tenant: string, entry: Fetched): Promise<void> => {
    entry.askedAt = now();
    entry.asking ??= fetchDocument(url, tenant)
      .then((text) => {
        entry.set = readKeySet(readJson(text));
        entry.fetchedAt = now();
        entry.fault = null;
      })
      .catch((fault: unknown) => {
        // The keys of before go on counting; the address is asked again later.
        entry.fault = fault instanceof Error ? fault.message : String(fault);
      })
      .finally(() => {
        entry.asking = null;
      });
    return entry.asking;
  };

  const entryOf = (url: string): Fetched => {
    const known = fetched.get(url);
    if (known) return known;
    if (fetched.size >= setsKept) fetched.delete(fetched.keys().next().value ?? '');
    const entry: Fetched = { set: null, fetchedAt: 0, askedAt: 0, asking: null, fault: null };
    fetched.set(url, entry);
    return entry;
  };

  const byAddress = async (url: string, kid: string, tenant: string): Promise<KeyObject | null> => {
    const entry = entryOf(url);
    const mayAsk = () => entry.asking !== null || now() - entry.askedAt >= (entry.set === null ? retryMs : refetchMs);
    const isOld = now() - entry.fetchedAt >= maxAgeMs;
    if ((entry.set === null || isOld || !entry.set.keys.has(kid)) && mayAsk()) await ask(url, tenant, entry);
    if (entry.set === null) {
      throw new JwtRefused('jwt_keys_unavailable', `the key set of the organisation cannot be read: ${entry.fault}`);
    }
    return imported(entry.set, kid);
  };

  return {
    async find({ jwks_url, jwks_json }, kid, organisationId) {
      if (jwks_url !== null) return byAddress(jwks_url, kid, organisationId);
      if (jwks_json === null) return null;
      const known = given.get(jwks_json) ?? readKeySet(jwks_json);
      given.set(jwks_json, known);
      return imported(known, kid);
    },
  };
}

function imported(set: KeySet, kid: string): KeyObject | null {
  const before = set.imported.get(kid);
  if (before) return before;
  const key = set.keys.get(kid);
  if (!key) return null;
  const made = createPublicKey({ key: { kty: 'RSA', n: key.n ?? '', e: key.e ?? '' }, format: 'jwk' });
  set.imported.set(kid, made);
  return made;
}

/** Keys that no token may be signed with are left out; the first of two with one id counts. */
function readKeySet(document: unknown): KeySet {
  const parsed = keySetSchema().safeParse(document);
  if (!parsed.success) throw new Error(`what was found there is no key set of at most ${mostKeys} keys`);
  const keys = new Map<string, PublicJwk>();
  for (const key of parsed.data.keys) {
    if (isUsable(key) && key.kid !== undefined && !keys.has(key.kid)) keys.set(key.kid, key);
  }
  return { keys, imported: new Map() };
}
