/** Custom hosts at the moment of dialling: the address that was checked is the address that is dialled. */
import { networkInterfaces } from 'node:os';
import { faultOfAddress, faultOfCustomHost, isTrustedHost, type TrustedHosts } from '../../http/custom-host.ts';
import type { Pinned } from '../../wire/client/address.ts';
import { GatewayError } from '../errors.ts';
import { FairLookups, type Lookup } from './fair-lookups.ts';

export interface HostGuard {
  /** Throws when the host may not be called; null when it needs no pinning (a trusted host). Look-ups count for the tenant. */
  check(url: string, tenant: string): Promise<Pinned | null> | null;
  /** By which a call that comes back to us is known; empty where nobody looks for it. */
  readonly mark: string;
}

const namesKept = 10_000;

export function createHostGuard(
  trusted: TrustedHosts,
  lookup: Lookup,
  {
    now = () => performance.now(),
    mark = '',
    ownAddresses = localAddresses,
  }: { now?: () => number; mark?: string; ownAddresses?: () => readonly string[] } = {},
): HostGuard {
  const lookups = new FairLookups(lookup, now);

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
    // Path and query are the caller's own and cannot lead elsewhere.
    refuseHost(origin, trusted);
    const answer = isTrustedHost(new URL(url).hostname, trusted.named);
    if (trustedOrigins.size >= namesKept) trustedOrigins.clear();
    trustedOrigins.set(origin, answer);
    return answer;
  };

  const pin = async (url: string, tenant: string): Promise<Pinned> => {
    const parsed = new URL(url);
    const { hostname, host } = parsed;
    const name = hostname.replace(/^\[|\]$/g, '');
    const addresses = await lookups.addressesOf(name, tenant);
    const [address] = addresses;
    if (!address) throw new GatewayError('upstream_unreachable', `the custom host ${name} has no address`);
    for (const candidate of addresses) {
      const fault = faultOfAddress(candidate);
      if (fault) throw new GatewayError('invalid_custom_host', `the custom host cannot be used: ${name} ${fault}`);
    }
    if (leadsToOurselves(parsed, addresses, trusted.own, ownAddresses)) throw isOurselves();
    return { address, name, host };
  };

  return { mark, check: (url, tenant) => (isTrusted(url) ? null : pin(url, tenant)) };
}

/** Each call would make another one, without end. */
const isOurselves = (): GatewayError =>
  new GatewayError('invalid_custom_host', 'the custom host cannot be used: it is this gateway itself');

/** A public name of an address of this machine, with the port on which we listen. */
function leadsToOurselves(
  { protocol, port }: URL,
  addresses: readonly string[],
  ownHosts: readonly string[],
  ownAddresses: () => readonly string[],
): boolean {
  const dialled = port || (protocol === 'https:' ? '443' : '80');
  const listens = ownHosts.some(
    (host) =>
      /^localhost(?::(\d+))?$/
        .exec(host)
        ?.slice(1)
        .map((own) => own ?? '80')[0] === dialled,
  );
  if (!listens) return false;
  const own = ownAddresses();
  return addresses.some((address) => own.includes(address));
}

const localAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((found) => found?.map(({ address }) => address) ?? []);

/** Scheme, host and port as they stand at the front of an address. */
function originOf(url: string): string {
  let end = url.indexOf('//') + 2;
  while (end < url.length && !isBehindHost(url.charCodeAt(end))) end++;
  return url.slice(0, end);
}

/** `/`, `?` or `#`. */
const isBehindHost = (code: number): boolean => code === 47 || code === 63 || code === 35;

/** Addresses found sound, for each list of trusted hosts: clients send the same one with every call. */
const soundFor = new WeakMap<TrustedHosts, Set<string>>();
const longestKept = 256;

export function refuseHost(url: string, trusted: TrustedHosts): void {
  const sound = soundFor.get(trusted) ?? new Set();
  if (sound.has(url)) return;
  const fault = faultOfCustomHost(url, trusted);
  if (fault) throw new GatewayError('invalid_custom_host', `the custom host cannot be used: ${fault}`);
  if (sound.size >= namesKept) sound.clear();
  if (url.length <= longestKept) sound.add(url);
  soundFor.set(trusted, sound);
}

/** The headers of a call to a host that a customer chose: with our mark behind those of others who passed it on. */
export function marked(headers: Readonly<Record<string, string>>, mark: string): Record<string, string> {
  if (mark === '') return { ...headers };
  return { ...headers, via: headers.via ? `${headers.via}, ${mark}` : mark };
}
