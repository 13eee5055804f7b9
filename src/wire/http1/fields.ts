/** The lines of a head between its first one and the blank one: names and values, read strictly. */
import { memoize } from '../../memoize.ts';
import { isToken } from './token.ts';

export type HeaderLines = Record<string, string>;

/** By their names in lower case; those that came twice are joined. Every line ends in CR LF, the last one too. Null when a line is no header. */
export function readFields(text: string, from: number): HeaderLines | null {
  const fields: HeaderLines = Object.create(null);
  for (let at = from; at < text.length; ) {
    const end = text.indexOf('\r', at);
    const colon = text.indexOf(':', at);
    if (colon < 0 || colon > end || text.indexOf('\n', at) !== end + 1) return null;
    const name = nameOf(text.slice(at, colon));
    if (name === '') return null;
    const value = valueBetween(text, colon + 1, end);
    const earlier = fields[name];
    fields[name] = earlier === undefined ? value : `${earlier}${name === 'cookie' ? '; ' : ', '}${value}`;
    at = end + 2;
  }
  return fields;
}

/** In lower case; empty where it is none. */
const nameOf = memoize((written) => (isToken.test(written) ? written.toLowerCase() : ''));

/** Without the blanks around it; other white space may be a byte of some letter. */
function valueBetween(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (start < end && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

const isBlank = (code: number): boolean => code === 32 || code === 9;

const digits = /^\d{1,15}$/;

/** What `content-length` says; null where that is no length. */
export const lengthIn = (told: string): number | null => (digits.test(told) ? Number(told) : null);

/** What `connection` says of the time after this exchange. */
export function staysOpen(connection: string | undefined, byDefault: boolean): boolean {
  if (connection === undefined) return byDefault;
  const said = connection.toLowerCase();
  return !said.includes('close') && (byDefault || said.includes('keep-alive'));
}
