/** Fetches secrets: the time and size that a manager is given, and what it may use. */
import { isTrustedHost } from '../http/custom-host.ts';
import type { Authentication } from '../providers/authentication.ts';
import { type ManagerAnswer, type ManagerCall, type ManagerMeans, SecretFault } from './manager.ts';
import { managers } from './managers/index.ts';
import type { FetchSecret } from './resolver.ts';
import type { SecretSettings } from './variables.ts';

/** What the wiring brings. */
export interface SecretNeeds {
  settings: SecretSettings;
  trustedHosts: readonly string[];
  /** Whether the gateway may show its own identity at a cloud for references that ask for it. */
  lendsIdentity: boolean;
  /** The whole of an answer, within the size and until the signal ends it. Rejects with a SecretFault for an address that may not be called. */
  call(call: ManagerCall, limits: { bytes: number; signal: AbortSignal; tenant: string }): Promise<ManagerAnswer>;
  authorise(
    authentication: Authentication,
    call: Pick<ManagerCall, 'url' | 'method' | 'headers' | 'body'>,
    signal: AbortSignal,
  ): Promise<Record<string, string>>;
  /** A token that the manager has refused is not offered again. */
  forget(authentication: Authentication): void;
  env: Readonly<Record<string, string | undefined>>;
  readFile(path: string): Promise<string>;
  now(): number;
}

const largestAnswer = 1024 * 1024;
const mostTokens = 1_000;
/** Renewed before their end, so that none ends on its way. */
const tokenMarginMs = 30_000;

interface KeptToken {
  pending: Promise<string>;
  until: number;
}

export function createFetch(needs: SecretNeeds): FetchSecret {
  const tokens = new Map<string, KeptToken>();

  const token: ManagerMeans['token'] = (key, ask) => {
    const kept = tokens.get(key);
    if (kept && needs.now() < kept.until) return kept.pending;
    if (tokens.size >= mostTokens) tokens.clear();
    const entry: KeptToken = {
      until: Number.POSITIVE_INFINITY,
      pending: ask().then(({ value, livesMs }) => {
        // A lease of nothing never ends at its giver; we ask again now and then all the same.
        const lives = livesMs === 0 ? needs.settings.maxAgeMs : livesMs;
        entry.until = needs.now() + Math.max(0, lives - tokenMarginMs);
        return value;
      }),
    };
    tokens.set(key, entry);
    entry.pending.catch(() => {
      if (tokens.get(key) === entry) tokens.delete(key);
    });
    return entry.pending;
  };

  const meansFor = (tenant: string, signal: AbortSignal): ManagerMeans => ({
    call: (call) => needs.call(call, { bytes: largestAnswer, signal, tenant }),
    async authorise(authentication, call) {
      if (!needs.lendsIdentity && isOwnIdentity(authentication)) {
        throw new SecretFault('refused', 'the gateway lends its own cloud identity to nobody here (GW_CLOUD_IDENTITY)');
      }
      return needs.authorise(authentication, call, signal);
    },
    forget: needs.forget,
    requireTrusted(url) {
      if (needs.lendsIdentity && isTrustedHost(URL.parse(url)?.hostname ?? '', needs.trustedHosts)) return;
      throw new SecretFault(
        'refused',
        'the gateway shows its own service account only to hosts in TRUSTED_CUSTOM_HOSTS, unless GW_CLOUD_IDENTITY is off',
      );
    },
    token,
    forgetToken: (key) => tokens.delete(key),
    env: needs.env,
    readFile: needs.readFile,
    local: needs.settings,
  });

  return (source) =>
    withinTime(needs.settings.timeoutMs, (signal) =>
      managers[source.manager].fetch(source, meansFor(source.organisationId, signal)),
    );
}

function isOwnIdentity(authentication: Authentication): boolean {
  if (!('credentials' in authentication)) return false;
  const { credentials } = authentication;
  return credentials.from !== 'keys' && credentials.from !== 'client' && credentials.from !== 'service-account';
}

async function withinTime<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const abort = new AbortController();
  const late = new SecretFault('away', `the manager did not answer within ${ms} ms`);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(late);
      abort.abort(late);
    }, ms);
  });
  try {
    return await Promise.race([work(abort.signal), tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
