/** Where a URL leads: the server to dial, the name to tell it, and the path to ask for. */
import { isIP } from 'node:net';
import { memoize } from '../../memoize.ts';
import { WireFault } from '../fault.ts';

/** What a connection is made to. */
export interface ServerAddress {
  /** Connections with the same key serve the same calls. */
  key: string;
  /** A name, or the address that was checked. */
  hostname: string;
  port: number;
  /** The name that the certificate must be made out to, empty where that is the address itself; null without TLS. */
  tlsName: string | null;
}

export interface Address {
  endpoint: ServerAddress;
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

export const serverAddressOf = (url: string, pinned: Pinned | null): Address =>
  pinned ? addressTo(new URL(url), pinned.address, pinned.name, pinned.host) : ownAddress(url);

const ownAddress = memoize((url) => {
  const parsed = new URL(url);
  const hostname = bare(parsed.hostname);
  return addressTo(parsed, hostname, hostname, parsed.host);
});

function addressTo(url: URL, hostname: string, name: string, host: string): Address {
  const secure = url.protocol === 'https:';
  if (!secure && url.protocol !== 'http:') throw invalid('is neither http nor https');
  // They would be lost in silence otherwise.
  if (url.username || url.password) throw invalid('holds credentials');
  const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port);
  const tlsName = secure ? certifiedName(name) : null;
  const key = `${url.protocol}${hostname} ${port} ${tlsName ?? ''}`;
  return { endpoint: { key, hostname, port, tlsName }, host, path: pathOf(url) };
}

/** As it is written: a `?` without a query stays. */
function pathOf({ href, hash }: URL): string {
  const start = href.indexOf('/', href.indexOf('//') + 2);
  return href.slice(start, hash === '' && !href.endsWith('#') ? undefined : href.indexOf('#'));
}

/** Servers are told names only, and certificates are made out to names without the root's dot. */
const certifiedName = (name: string): string => (isIP(name) ? '' : name.replace(/\.$/, ''));

/** Addresses of IPv6 stand in brackets in URLs only. */
const bare = (hostname: string): string => hostname.replace(/^\[|\]$/g, '');

const invalid = (reason: string): WireFault => new WireFault('InvalidAddress', `the address ${reason}`);
