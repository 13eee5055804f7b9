/** Secrets in memory: fetched once for all who wait, used for a bounded age, refreshed ahead, and kept for a while when their manager is away. */
import type { Log } from '../log.ts';
import { throttled } from '../log.ts';
import type { MaybePromise } from '../maybe-promise.ts';
import { type Ages, SecretEntry } from './entry.ts';
import type { SecretSource } from './manager.ts';
import { SecretFault, type SecretPayload } from './manager.ts';
import { pick, type SecretUse } from './mapping.ts';

/** Fetches a secret from its manager; fails with a SecretFault. */
export type FetchSecret = (source: SecretSource) => Promise<SecretPayload>;

/** The same object as long as nothing of it changes, so that what is made from it can be kept beside it. */
export interface ResolvedSecrets {
  readonly values: ReadonlyMap<string, unknown>;
}

/** There is no value for a use; the message names the reference. */
export class SecretUnavailable extends Error {
  constructor(reference: string, reason: string) {
    super(`the secret reference ${reference} gives no value: ${reason}`);
  }
}

export interface Resolution {
  state: 'unused' | 'current' | 'stale' | 'failing';
  resolvedAt: Date | null;
  failedAt: Date | null;
  error: string | null;
  /** Until when the last known value is used, should the manager stay away. */
  usableUntil: Date | null;
}

export interface Secrets {
  /** At once where all values are known and young enough. Rejects or throws SecretUnavailable. */
  resolve(uses: readonly SecretUse[]): MaybePromise<ResolvedSecrets>;
  /** After a provider has refused what was used: other values where the manager has others now, else null. */
  renew(uses: readonly SecretUse[], used: ResolvedSecrets): Promise<ResolvedSecrets | null>;
  /** Fetches past everything that is kept, and says nothing but whether a value was there. */
  test(source: SecretSource, secretKey: string | null, format: 'string' | 'json'): Promise<SecretFault | null>;
  resolutionOf(referenceId: string): Resolution;
  /** For metrics. */
  readonly counts: { fetches: number; failures: number; stale(): number; failing(): number };
}

interface Options extends Ages {
  fetch: FetchSecret;
  now(): number;
  log: Log;
}

const mostKept = 10_000;
const sweepEveryMs = 60_000;

interface Made {
  payloads: readonly SecretPayload[];
  resolved: ResolvedSecrets;
}

export function createSecrets({ fetch, now, log, ...ages }: Options): Secrets {
  const entries = new Map<string, SecretEntry>();
  const made = new WeakMap<readonly SecretUse[], Made>();
  const warn = throttled((message, fields) => log.warn(message, fields));
  const counts = {
    fetches: 0,
    failures: 0,
    stale: () => count((entry) => entry.isStale(now(), ages) && entry.fault !== null),
    failing: () => count((entry) => entry.fault !== null),
  };
  let sweptAt = now();

  const count = (holds: (entry: SecretEntry) => boolean): number => {
    let found = 0;
    for (const entry of entries.values()) if (holds(entry)) found++;
    return found;
  };

  /** What nobody has used for as long as it could count is not kept in memory. */
  const sweep = (at: number): void => {
    if (at - sweptAt < sweepEveryMs && entries.size < mostKept) return;
    sweptAt = at;
    for (const [key, entry] of entries) {
      if (at - entry.usedAt > ages.maxAgeMs + ages.staleMs) entries.delete(key);
    }
    const [oldest] = entries.keys();
    if (entries.size >= mostKept && oldest !== undefined) entries.delete(oldest);
  };

  const entryOf = (source: SecretSource): SecretEntry => {
    const at = now();
    let entry = entries.get(source.fingerprint);
    if (!entry) {
      sweep(at);
      entry = new SecretEntry(source, at);
      entries.set(source.fingerprint, entry);
    }
    entry.usedAt = at;
    return entry;
  };

  /** One fetch at a time for each secret; never rejects, since the entry tells what came of it. */
  const refresh = (entry: SecretEntry): Promise<void> => {
    entry.pending ??= fetchInto(entry).finally(() => {
      entry.pending = null;
    });
    return entry.pending;
  };

  const fetchInto = async (entry: SecretEntry): Promise<void> => {
    const { slug, manager } = entry.source;
    counts.fetches++;
    try {
      const payload = await fetch(entry.source);
      if (entry.fault) log.info('A secret reference gives its value again.', { reference: slug, manager });
      entry.succeed(payload, now());
    } catch (cause) {
      const fault = cause instanceof SecretFault ? cause : new SecretFault('away', 'the manager cannot be used');
      counts.failures++;
      entry.fail(fault, now(), ages);
      const kept = entry.payload !== null;
      warn(
        kept
          ? `The secret reference ${slug} cannot be refreshed; its last known value is used.`
          : `The secret reference ${slug} gives no value; calls that need it fail.`,
        { reference: slug, manager, reason: fault.message, ...(kept && { until: usableUntil(entry).toISOString() }) },
      );
    }
  };

  const usableUntil = ({ fault, fetchedAt }: SecretEntry): Date =>
    new Date(fetchedAt + ages.maxAgeMs + (fault?.kind === 'refused' ? 0 : ages.staleMs));

  /** Null: it must be fetched first. */
  const payloadNow = (entry: SecretEntry, reference: string): SecretPayload | null => {
    const standing = entry.standing(now(), ages);
    if (standing === 'fetch') return null;
    if (standing instanceof SecretFault) throw new SecretUnavailable(reference, standing.message);
    if (standing.refresh) void refresh(entry);
    return standing.use;
  };

  const payloadAfterFetch = async (entry: SecretEntry, reference: string): Promise<SecretPayload> => {
    await refresh(entry);
    const at = now();
    const payload = entry.fault ? entry.lastKnown(at, ages) : entry.payload;
    if (payload !== null) return payload;
    throw new SecretUnavailable(reference, entry.fault?.message ?? 'the manager cannot be used');
  };

  const payloadOf = ({ source, reference }: SecretUse): MaybePromise<SecretPayload> => {
    if (!source) throw new SecretUnavailable(reference, 'it does not exist any more, or not for this workspace');
    const entry = entryOf(source);
    return payloadNow(entry, reference) ?? payloadAfterFetch(entry, reference);
  };

  const combined = (uses: readonly SecretUse[], payloads: readonly SecretPayload[]): ResolvedSecrets => {
    const before = made.get(uses);
    if (before && payloads.every((payload, index) => payload === before.payloads[index])) return before.resolved;
    const resolved = { values: new Map(uses.map((use, index) => [use.target, pickedFor(use, payloads[index] ?? '')])) };
    made.set(uses, { payloads, resolved });
    return resolved;
  };

  const resolve = (uses: readonly SecretUse[]): MaybePromise<ResolvedSecrets> => {
    const payloads: MaybePromise<SecretPayload>[] = [];
    let waits = false;
    for (const use of uses) {
      const payload = payloadOf(use);
      if (payload instanceof Promise) {
        waits = true;
        // Another use may throw before this one is waited for.
        payload.catch(() => undefined);
      }
      payloads.push(payload);
    }
    if (!waits) return combined(uses, payloads as SecretPayload[]);
    return Promise.all(payloads).then((known) => combined(uses, known));
  };

  return {
    resolve,
    async renew(uses, used) {
      const usedPayloads = made.get(uses)?.resolved === used ? made.get(uses)?.payloads : undefined;
      const asked = new Map<SecretEntry, SecretPayload | undefined>();
      for (const [index, { source }] of uses.entries()) if (source) asked.set(entryOf(source), usedPayloads?.[index]);
      await Promise.all([...asked].map(([entry, before]) => renewEntry(entry, before)));
      const renewed = await resolve(uses);
      return differ(renewed, used) ? renewed : null;
    },
    async test(source, secretKey, format) {
      try {
        pick(await fetch(source), secretKey, format);
        return null;
      } catch (fault) {
        return fault instanceof SecretFault ? fault : new SecretFault('away', 'the manager cannot be used');
      }
    },
    resolutionOf(referenceId) {
      let newest: SecretEntry | null = null;
      for (const entry of entries.values()) {
        if (entry.source.id === referenceId && entry.usedAt >= (newest?.usedAt ?? 0)) newest = entry;
      }
      return newest ? resolutionOf(newest) : unused;
    },
    counts,
  };

  async function renewEntry(entry: SecretEntry, before: SecretPayload | undefined): Promise<void> {
    // Another call has renewed it while this one was under way.
    if (before !== undefined && entry.payload !== before) return;
    if (!entry.mayRenew(now())) return;
    const known = JSON.stringify(entry.payload);
    await refresh(entry);
    if (!entry.fault && JSON.stringify(entry.payload) === known) entry.confirm(now());
  }

  function resolutionOf(entry: SecretEntry): Resolution {
    const { payload, fault, fetchedAt, failedAt } = entry;
    const stale = fault !== null && entry.isStale(now(), ages);
    return {
      state: payload === null ? 'failing' : stale ? 'stale' : 'current',
      resolvedAt: payload === null ? null : new Date(fetchedAt),
      failedAt: fault ? new Date(failedAt) : null,
      error: fault?.message ?? null,
      usableUntil: payload === null ? null : usableUntil(entry),
    };
  }
}

const unused: Resolution = { state: 'unused', resolvedAt: null, failedAt: null, error: null, usableUntil: null };

function pickedFor({ reference, secretKey, format }: SecretUse, payload: SecretPayload): unknown {
  try {
    return pick(payload, secretKey, format);
  } catch (fault) {
    if (fault instanceof SecretFault) throw new SecretUnavailable(reference, fault.message);
    throw fault;
  }
}

const differ = (one: ResolvedSecrets, other: ResolvedSecrets): boolean =>
  one !== other &&
  [...one.values].some(([target, value]) => JSON.stringify(value) !== JSON.stringify(other.values.get(target)));
