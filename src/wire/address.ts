/** Where a URL leads: the server to dial, the name to tell it, and the path to ask for. */

/** What a connection is made to. */
export interface Endpoint {
  /** Connections with the same key serve the same calls. */
  key: string;
  /** A name, or the address that was checked. */
  hostname: string;
  port: number;
  /** The name that the certificate must be made out to; null without TLS. */
  tlsName: string | null;
}

export interface Address {
  endpoint: Endpoint;
  host: string;
  /** With its query. */
  path: string;
}

/** A name that somebody else chose, and the address that was checked for it. */
export interface Pinned {
  address: string;
  /** Of the server, for its certificate. */
  name: string;
  /** With the port, for the header. */
  host: string;
}

const mostKept = 1_000;
const kept = new Map<string, Address>();

/** Calls go to few addresses, again and again. */
export function addressOf(url: string, pinned: Pinned | null): Address {
  if (pinned) return pinnedAddress(url, pinned);
  const known = kept.get(url);
  if (known) return known;
  const parsed = new URL(url);
  const address = addressTo(parsed, bare(parsed.hostname), bare(parsed.hostname), parsed.host);
  if (kept.size >= mostKept) kept.clear();
  kept.set(url, address);
  return address;
}

const pinnedAddress = (url: string, { address, name, host }: Pinned): Address =>
  addressTo(new URL(url), address, name, host);

function addressTo({ protocol, port, pathname, search }: URL, hostname: string, name: string, host: string): Address {
  const secure = protocol === 'https:';
  const dialled = Number(port) || (secure ? 443 : 80);
  const tlsName = secure ? name : null;
  return {
    endpoint: { key: `${hostname} ${dialled} ${tlsName ?? ''}`, hostname, port: dialled, tlsName },
    host,
    path: pathname + search,
  };
}

/** Addresses of IPv6 stand in brackets in URLs only. */
const bare = (hostname: string): string => hostname.replace(/^\[|\]$/g, '');
