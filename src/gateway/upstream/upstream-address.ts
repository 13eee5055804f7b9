/** The address of an upstream call, built and normalised once: every check looks at exactly the address that is sent. */
import { memoize } from '../../memoize.ts';
import { GatewayError } from '../errors.ts';

export const isAddress = (path: string): boolean => path.startsWith('https://') || path.startsWith('http://');

/** Where a provider's API begins: without a slash at its end, and its query apart. */
export interface BaseAddress {
  address: string;
  /** With its question mark, or empty. */
  query: string;
}

export const baseAddress = memoize((text: string): BaseAddress => {
  const parsed = isAddress(text) ? URL.parse(text) : null;
  if (!parsed) throw new GatewayError('invalid_custom_host', 'the address must be a URL that begins with https://');
  if (text.includes('#')) throw new GatewayError('invalid_custom_host', 'the address must not have a fragment (#)');
  if (parsed.username || parsed.password) {
    throw new GatewayError('invalid_custom_host', 'the address must not hold credentials');
  }
  const path = parsed.pathname.endsWith('/') ? parsed.pathname.slice(0, -1) : parsed.pathname;
  return { address: parsed.origin + path, query: parsed.search };
});

/** A path below the base, which may bring a query of its own, and the query of the call. Nothing in it leads out of the base. */
export function addressBelow(base: BaseAddress, path: string, query: string): string {
  const question = path.indexOf('?');
  const bare = canonicalPath(question === -1 ? path : path.slice(0, question));
  const own = question === -1 ? '' : path.slice(question);
  const located = bare === '' && isOrigin(base.address) ? '/' : bare;
  return requireExact(base.address + located + canonicalQuery(joined(joined(base.query, own), query)));
}

/** An address that is complete by itself: a provider's other host, or one out of an answer. */
export function wholeAddress(url: string, query = ''): string {
  const parsed = URL.parse(url);
  if (!parsed) throw new GatewayError('upstream_unreachable', 'the provider named an address that is none');
  parsed.hash = '';
  const { href } = parsed;
  const question = href.indexOf('?');
  if (question === -1) return requireExact(href + canonicalQuery(query));
  return requireExact(href.slice(0, question) + canonicalQuery(joined(href.slice(question), query)));
}

const joined = (one: string, other: string): string =>
  one === '' || other === '' ? one + other : `${one}&${other.slice(1)}`;

const isOrigin = (address: string): boolean => !address.includes('/', address.indexOf('//') + 2);

/** Whatever a URL parser would still change was not seen by those who checked it. */
function requireExact(url: string): string {
  if (!isExact(url)) throw refused('it can be read in two ways');
  return url;
}

const isExact = memoize((url: string): boolean => {
  const parsed = URL.parse(url);
  return parsed?.href === url;
});

const percent = /%([0-9a-f]{2})?/gi;
const unreserved = /[\w.~-]/;
/** Segments that move up or stay, also with parameters behind them, as some servers read `/..;/`. */
const dots = /(?:^|\/|%2f)\.{1,2}(?:;[^/]*)?(?=\/|%2f|$)/i;
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the purpose.
const control = /[\0-\x1f\x7f]/;

/** The path in the one way in which it is sent and judged: what needs no encoding has none. */
export const canonicalPath = memoize((path: string): string => {
  if (path.includes('\\')) throw refused('it holds a backslash');
  if (path.includes('#')) throw refused('it holds a #; write %23');
  if (control.test(path)) throw refused('it holds a control character');
  if (path !== '' && !path.startsWith('/')) throw refused('it does not begin with a slash');
  const plain = path.replace(percent, (triplet, hex: string | undefined) => {
    if (hex === undefined) throw refused('it holds a % that begins no encoded character; write %25');
    const character = String.fromCharCode(Number.parseInt(hex, 16));
    if (character === '\\' || control.test(character)) throw refused(`it holds ${triplet}`);
    return unreserved.test(character) ? character : triplet;
  });
  if (dots.test(plain)) throw refused('a part of it is . or ..');
  return plain.replace(encodedByParsers, encoded);
});

/** A client's own path: whoever decodes twice would read a dot or a slash in it. */
export function requireEncodedOnce(path: string): void {
  if (/%25(?:2[ef]|5c)/i.test(path)) throw refused('it is encoded twice');
}

/** What URL parsers encode by themselves in a path. */
const encodedByParsers = /["<>^`{}]|[^\x21-\x7e]/gu;
const encoded = (character: string): string => encodeURIComponent(character.toWellFormed());

/** And in a query. */
const encodedInQuery = /["'<>]|[^\x21-\x7e]/gu;

function canonicalQuery(query: string): string {
  if (query === '') return '';
  if (query.includes('#')) throw refused('its query holds a #; write %23');
  return query.replace(encodedInQuery, (character) => (character === "'" ? '%27' : encoded(character)));
}

const refused = (reason: string): GatewayError =>
  new GatewayError('invalid_path', `the address cannot be sent on: ${reason}`, { field: 'path' });

/** The path of an address, as the loosest server might read it: one slash for several or for an encoded one, no parameters behind a semicolon. */
export function loosely(path: string): string {
  return path
    .replace(/%2f/gi, '/')
    .replace(/;[^/]*/g, '')
    .replace(/\/{2,}/g, '/')
    .replace(/\/$/, '');
}

/** Whether the path of an address ends so, however loosely it is read. */
export const endsIn = (url: string, ending: string): boolean =>
  loosely(partsOf(url).path).toLowerCase().endsWith(ending);

/** Path and query of an address, apart. */
export function partsOf(url: string): { path: string; query: string } {
  const start = url.indexOf('/', url.indexOf('//') + 2);
  const question = url.indexOf('?');
  const end = question === -1 ? url.length : question;
  return { path: start === -1 || start > end ? '/' : url.slice(start, end), query: url.slice(end) };
}
