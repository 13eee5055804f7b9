/** The address of the client. Forwarding headers count only when the peer is a proxy that the operator has named. */
import ipaddr from 'ipaddr.js';

type Range = ReturnType<typeof ipaddr.parseCIDR>;

export interface ClientAddress {
  ip: string;
  /** True when the peer is a named proxy, so that what it says about the client may be believed. */
  viaTrustedProxy: boolean;
}

export function parseRanges(list: readonly string[]): Range[] {
  return list.map((entry) => {
    if (entry.includes('/')) return ipaddr.parseCIDR(entry);
    const address = ipaddr.process(entry);
    return [address, address.kind() === 'ipv6' ? 128 : 32] as Range;
  });
}

export function clientAddress(peer: string, headers: Headers, proxies: readonly Range[]): ClientAddress {
  const trusted = (ip: string) => {
    if (!ipaddr.isValid(ip)) return false;
    const address = ipaddr.process(ip);
    return proxies.some((range) => address.kind() === range[0].kind() && address.match(range));
  };
  const plain = ipaddr.isValid(peer) ? ipaddr.process(peer).toString() : peer;
  if (!trusted(plain)) return { ip: plain, viaTrustedProxy: false };
  const hops = (headers.get('x-forwarded-for') ?? '').split(',').map(withoutPort);
  // Each proxy appends the peer that it saw, so the last address that is not a proxy of ours is the client.
  const client = hops.reverse().find((hop) => ipaddr.isValid(hop) && !trusted(hop));
  return { ip: client ? ipaddr.process(client).toString() : plain, viaTrustedProxy: true };
}

/** Some proxies write the port too; passed over as no address, the hop would let the one before it count, which any client can write. */
const withoutPort = (hop: string): string =>
  hop.trim().replace(/^\[(.*)\](:\d+)?$|^([\d.]+):\d+$/, (_, ipv6 = '', __, ipv4 = '') => ipv6 + ipv4);

/** A client with IPv6 owns a whole /64, so that is what counts as one client. What is no address stays as it is. */
export function networkOf(clientIp: string): string {
  if (!ipaddr.isValid(clientIp)) return clientIp;
  const address = ipaddr.process(clientIp);
  return address.kind() === 'ipv4' ? address.toString() : address.toByteArray().slice(0, 8).join('.');
}
