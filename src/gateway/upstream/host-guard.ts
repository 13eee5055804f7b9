/** Custom hosts at the moment of dialling: the address that was checked is the address that is dialled. */
import { faultOfAddress, faultOfCustomHost, isTrustedHost } from '../../http/custom-host.ts';
import type { Pinned } from '../../wire/client/address.ts';
import { GatewayError } from '../errors.ts';

export interface HostGuard {
  /** Throws when the host may not be called; null when it needs no pinning (a trusted host). */
  check(url: string): Promise<Pinned | null> | null;
}

/** Looks a name up; every address that it has. */
export type Lookup = (hostname: string) => Promise<string[]>;

const validationsAtOnce = 5;
const namesKept = 10_000;
/** Long enough to spare busy hosts a lookup for each call, short enough to follow a name that moves. */
const addressesKeptMs = 5_000;

export function createHostGuard(
  trusted: readonly string[],
  lookup: Lookup,
  { now = () => performance.now(), ownHosts = [] }: { now?: () => number; ownHosts?: readonly string[] } = {},
): HostGuard {
  let running = 0;
  const waiting: (() => void)[] = [];

  const limited = async <T>(work: () => Promise<T>): Promise<T> => {
    if (running < validationsAtOnce) running++;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      // The place goes straight to who waits for it, so that nobody slips in between.
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };

  /** What the address alone says of a host, kept so that it is told once. */
  const trustedOrigins = new Map<string, boolean>();

  let last = { url: '', trusted: false };

  const isTrusted = (url: string): boolean => {
    if (url !== last.url) last = { url, trusted: isTrustedOrigin(originOf(url), url) };
    return last.trusted;
  };

  const isTrustedOrigin = (origin: string, url: string): boolean => {
    const known = trustedOrigins.get(origin);
    if (known !== undefined) return known;
    if (ownHosts.includes(URL.parse(origin)?.host ?? '')) throw isOurselves();
    // Path and query are the caller's own and cannot lead elsewhere.
    refuseHost(origin, trusted);
    const answer = isTrustedHost(new URL(url).hostname, trusted);
    if (trustedOrigins.size >= namesKept) trustedOrigins.clear();
    trustedOrigins.set(origin, answer);
    return answer;
  };

  const looked = new Map<string, { addresses: string[]; until: number }>();

  const addressesOf = async (name: string): Promise<string[]> => {
    const known = looked.get(name);
    if (known && known.until > now()) return known.addresses;
    const addresses = await limited(() => lookup(name));
    if (looked.size >= namesKept) looked.clear();
    looked.set(name, { addresses, until: now() + addressesKeptMs });
    return addresses;
  };

  const pin = async (url: string): Promise<Pinned> => {
    const { hostname, host } = new URL(url);
    const name = hostname.replace(/^\[|\]$/g, '');
    const addresses = await addressesOf(name);
    const [address] = addresses;
    if (!address) throw new GatewayError('upstream_unreachable', `the custom host ${name} has no address`);
    for (const candidate of addresses) {
      const fault = faultOfAddress(candidate);
      if (fault) throw new GatewayError('invalid_custom_host', `the custom host cannot be used: ${name} ${fault}`);
    }
    return { address, name, host };
  };

  return { check: (url) => (isTrusted(url) ? null : pin(url)) };
}

/** Each call would make another one, without end. */
const isOurselves = (): GatewayError =>
  new GatewayError('invalid_custom_host', 'the custom host cannot be used: it is this gateway itself');

/** Scheme, host and port as they stand at the front of an address. */
function originOf(url: string): string {
  let end = url.indexOf('//') + 2;
  while (end < url.length && !isBehindHost(url.charCodeAt(end))) end++;
  return url.slice(0, end);
}

/** `/`, `?` or `#`. */
const isBehindHost = (code: number): boolean => code === 47 || code === 63 || code === 35;

/** Addresses found sound, for each list of trusted hosts: clients send the same one with every call. */
const soundFor = new WeakMap<readonly string[], Set<string>>();
const longestKept = 256;

export function refuseHost(url: string, trusted: readonly string[]): void {
  const sound = soundFor.get(trusted) ?? new Set();
  if (sound.has(url)) return;
  const fault = faultOfCustomHost(url, trusted);
  if (fault) throw new GatewayError('invalid_custom_host', `the custom host cannot be used: ${fault}`);
  if (sound.size >= namesKept) sound.clear();
  if (url.length <= longestKept) sound.add(url);
  soundFor.set(trusted, sound);
}
