/** Which addresses a customer may make the service call: everything that can be told from the URL alone, before any name is looked up. */
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

const longest = 2048;
const mostLabels = 10;

/** Where clouds and clusters hand out credentials and configuration; no trusted list opens these. */
const metadataRanges = [
  '169.254.169.0/24',
  '169.254.170.2/32',
  '169.254.170.23/32',
  '100.100.100.200/32',
  '168.63.129.16/32',
  '192.0.0.192/32',
  'fd00:ec2::/96',
].map((range) => ipaddr.parseCIDR(range));

const metadataNames = new Set(['metadata', 'instance-data', 'kubernetes']);
const metadataDomains = [
  'metadata.google.internal',
  'metadata.gce.internal',
  'metadata.goog',
  'metadata.azure.com',
  'internal.cloudapp.net',
  'metadata.internal',
  'metadata.do.internal',
  'metadata.packet.net',
  'ec2.internal',
  'compute.internal',
  'metadata.cloud.ibm.com',
  'cluster.local',
  'consul',
];
/** Public names that answer with whatever address they are asked for. */
const rebindingDomains = [
  'nip.io',
  'sslip.io',
  'xip.io',
  'localtest.me',
  'lvh.me',
  'vcap.me',
  'traefik.me',
  'localhost.run',
];
const internalDomains = [
  'local',
  'localdomain',
  'internal',
  'intranet',
  'lan',
  'home',
  'corp',
  'test',
  'invalid',
  'onion',
  'localhost',
];

/** Ports of services that are no HTTP servers, or that must never be reached through us. */
const deniedPorts = new Set([
  19, 21, 22, 23, 25, 53, 69, 110, 111, 119, 123, 135, 137, 138, 139, 143, 161, 389, 445, 465, 512, 513, 514, 587, 636,
  873, 993, 995, 1433, 1521, 2049, 2181, 2375, 2376, 2379, 2380, 3306, 3389, 5432, 5672, 5900, 5984, 6379, 6443, 9042,
  9092, 9200, 9300, 10250, 11211, 15672, 25672, 27017,
]);

/** Scheme, host and port as they were written; whatever a URL parser would tidy up first does not match. */
const writtenUrl = /^(https?):\/\/(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(\d{1,5}))?(?:[/?]|$)/i;

export interface TrustedHosts {
  /** Private hosts that the operator has named. */
  named: readonly string[];
  /** Hosts and ports under which this service itself answers: never to be called, whatever is named. */
  own: readonly string[];
}

/** Why the service must not call this URL, or null when it may. */
export function faultOfCustomHost(url: string, { named, own }: TrustedHosts): string | null {
  if (url === '') return 'must not be empty';
  if (url.length > longest) return `must be at most ${longest} characters long`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the purpose.
  if (/[\u0000-\u0020\u007f\\]/.test(url)) return 'must not hold spaces, control characters or backslashes';
  if (!/^https?:/i.test(url)) return 'must start with http:// or https://';
  if (url.includes('#')) return 'must not have a fragment (#)';
  if (url.includes('@')) return 'must not hold credentials or an @';
  const written = writtenUrl.exec(url);
  if (!written || !URL.canParse(url)) return 'must be a URL with a plain ASCII host name or an IP address';
  const host = (written[2] ?? '').toLowerCase();
  const parsed = new URL(url);
  return (
    faultOfName(host) ??
    faultOfHost(host, parsed.hostname, named) ??
    faultOfPort(written[3]) ??
    (namesOurselves(parsed, own)
      ? 'must not name this gateway itself, because a call that calls itself has no end'
      : null)
  );
}

/** One of our own hosts, or any other name or address of the machine itself with the port on which we listen. */
function namesOurselves({ host, hostname, port, protocol }: URL, ownHosts: readonly string[]): boolean {
  if (ownHosts.includes(host)) return true;
  const address = addressIn(hostname);
  const inner = address && (embeddedIn(address) ?? address);
  const isHere = inner ? isThisMachine.has(inner.range()) : liesIn(hostname, 'localhost');
  if (!isHere) return false;
  const dialled = port || (protocol === 'https:' ? '443' : '80');
  return ownHosts.some((own) => URL.parse(`http://${own}`)?.hostname === 'localhost' && portOf(own) === dialled);
}

const isThisMachine: ReadonlySet<string> = new Set(['loopback', 'unspecified']);

const portOf = (host: string): string => /:(\d+)$/.exec(host)?.[1] ?? '80';

/** Whether the operator has named this host: a name, or an address with or without brackets. */
export const isTrustedHost = (host: string, trusted: readonly string[]): boolean =>
  trusted.some((entry) => trusts(entry, host.toLowerCase()));

/** Why a name that leads to this address must not be called, or null when it may; for the moment of dialling. */
export function faultOfAddress(text: string): string | null {
  const address = addressIn(text);
  if (!address) return 'does not resolve to an IP address';
  if (servesMetadata(address)) return 'resolves to a metadata or cluster service';
  return isPublic(address) ? null : 'resolves to a private, loopback, link-local or reserved address';
}

function faultOfName(host: string): string | null {
  if (host.startsWith('[')) return null;
  const labels = host.split('.');
  if (labels.some((label) => label === '')) return 'must have a host name without empty labels or a trailing dot';
  if (labels.length > mostLabels) return `must have a host name of at most ${mostLabels} labels`;
  if (labels.some((label) => label.startsWith('xn--'))) return 'must have a host name without internationalised labels';
  return null;
}

/** `host` is what was written, `hostname` what every client will make of it. */
function faultOfHost(host: string, hostname: string, trusted: readonly string[]): string | null {
  const address = addressIn(hostname);
  if (address ? servesMetadata(address) : namesMetadata(host)) return 'must not name a metadata or cluster service';
  if (rebindingDomains.some((domain) => liesIn(host, domain))) return 'must not name a host of a rebinding domain';
  if (isTrustedHost(host, trusted)) return null;
  if (!address) {
    return internalDomains.some((domain) => liesIn(host, domain)) ? 'must not name an internal host' : null;
  }
  if (address.kind() === 'ipv4' && host !== hostname) return 'must write an IPv4 address as four decimal numbers';
  return isPublic(address) ? null : 'must not name a private, loopback, link-local or reserved address';
}

function faultOfPort(written: string | undefined): string | null {
  if (written === undefined) return null;
  const port = Number(written);
  if (port < 1 || port > 65_535) return 'must have a port from 1 to 65535';
  return deniedPorts.has(port) ? `must not use port ${port}` : null;
}

function addressIn(hostname: string): Address | null {
  const bare = hostname.replace(/^\[|\]$/g, '');
  return ipaddr.IPv4.isValidFourPartDecimal(bare) || ipaddr.IPv6.isValid(bare) ? ipaddr.parse(bare) : null;
}

const liesIn = (host: string, domain: string): boolean => host === domain || host.endsWith(`.${domain}`);

const namesMetadata = (host: string): boolean =>
  metadataNames.has(host) ||
  metadataDomains.some((domain) => liesIn(host, domain)) ||
  /(^|\.)kubernetes\.default/.test(host);

function servesMetadata(address: Address): boolean {
  const inner = embeddedIn(address);
  if (inner) return servesMetadata(inner);
  return metadataRanges.some((range) => address.kind() === range[0].kind() && address.match(range));
}

function isPublic(address: Address): boolean {
  const inner = embeddedIn(address);
  if (inner) return isPublic(inner);
  if (address.range() !== 'unicast') return false;
  // Of IPv6 only 2000::/3 is routed in public; the rest is reserved, whether or not it has a name.
  return address instanceof ipaddr.IPv4 || ((address.parts[0] ?? 0) & 0xe000) === 0x2000;
}

/** The IPv4 address that an IPv6 address leads to: mapped, compatible, translated, NAT64 or 6to4. */
function embeddedIn(address: Address): ipaddr.IPv4 | null {
  if (address instanceof ipaddr.IPv4) return null;
  const [first = 0, second = 0, third = 0, , , , seventh = 0, eighth = 0] = address.parts;
  const range = address.range();
  if (range === '6to4') return ipv4Of(second, third);
  const compatible = range === 'unicast' && address.parts.slice(0, 6).every((part) => part === 0);
  const wellKnownNat64 = range === 'rfc6052' && first === 0x64 && third === 0;
  return range === 'ipv4Mapped' || range === 'rfc6145' || wellKnownNat64 || compatible ? ipv4Of(seventh, eighth) : null;
}

const ipv4Of = (high: number, low: number): ipaddr.IPv4 =>
  new ipaddr.IPv4([high >> 8, high & 0xff, low >> 8, low & 0xff]);

/** An entry is a host, an address, or `*.domain` (the domain and all below it); its scheme, port and path do not count. */
function trusts(entry: string, host: string): boolean {
  const named = hostOf(entry);
  if (named.startsWith('*.')) return liesIn(host, named.slice(2));
  if (named === 'localhost') return liesIn(host, named);
  const address = ipaddr.IPv6.isValid(named) ? ipaddr.IPv6.parse(named).toNormalizedString() : null;
  const bare = host.replace(/^\[|\]$/g, '');
  return address
    ? ipaddr.IPv6.isValid(bare) && ipaddr.IPv6.parse(bare).toNormalizedString() === address
    : named === host;
}

function hostOf(entry: string): string {
  const authority = entry
    .trim()
    .toLowerCase()
    .replace(/^[a-z][a-z0-9+.-]*:\/\//, '')
    .replace(/[/?#].*$/, '');
  const bracketed = /^\[(.+)\]/.exec(authority);
  if (bracketed) return bracketed[1] ?? '';
  return ipaddr.IPv6.isValid(authority) ? authority : authority.replace(/:\d*$/, '');
}
