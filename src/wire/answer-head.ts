/** The head of an HTTP/1.1 answer, read strictly: what is not plainly one is a fault, never a guess. */
import { kept } from '../kept.ts';
import { ReceivedHeaders } from './answer.ts';
import { WireFault } from './fault.ts';
import { isToken } from './token.ts';

/** Where the body of an answer ends. */
export type Framing = { by: 'length'; length: number } | { by: 'chunks' } | { by: 'close' };

export interface AnswerHead {
  status: number;
  headers: ReceivedHeaders;
  /** Null where there is no body. */
  framing: Framing | null;
  /** The connection can serve another request afterwards. */
  persists: boolean;
  /** For how long, in seconds, where the server says so. */
  persistsSeconds: number | null;
}

/** Reads a head up to the blank line that ends it. `toHead`: it answers a HEAD request. */
export function readHead(text: string, toHead: boolean): AnswerHead {
  const end = text.indexOf('\r\n');
  const opening = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [^\r\n]*)?$/.exec(text.slice(0, end));
  if (!opening || text.includes('\0')) throw invalid('a status line');
  const fields = readFields(text, end + 2);
  const status = Number(opening[2]);
  const coding = fields['transfer-encoding'];
  const length = fields['content-length'];
  const framing = hasNoBody(status, toHead) ? null : framingOf(coding, length);
  // An answer that tells its length in two ways, or in a way that its version does not know, may be read in two ways.
  const ambiguous = coding !== undefined && (length !== undefined || opening[1] === '0');
  return {
    status,
    headers: new ReceivedHeaders(fields),
    framing,
    persists: staysOpen(fields.connection, opening[1] === '1') && !ambiguous && framing?.by !== 'close',
    persistsSeconds: secondsOf(fields['keep-alive']),
  };
}

/** Throws as soon as these bytes cannot become a head, so that nobody waits for the rest of it. */
export function refuseOther(opening: Buffer): void {
  const start = opening.toString('latin1', 0, protocol.length);
  const feed = opening.indexOf(lf);
  if (!protocol.startsWith(start) || (feed >= 0 && opening[feed - 1] !== cr)) throw invalid('a status line');
}

const protocol = 'HTTP/1.';
const cr = 13;
const lf = 10;

/** Every line ends in CR LF, the last one too. */
function readFields(text: string, from: number): Record<string, string> {
  const fields: Record<string, string> = Object.create(null);
  for (let at = from; at < text.length; ) {
    const end = text.indexOf('\r', at);
    const colon = text.indexOf(':', at);
    if (colon < 0 || colon > end || text.indexOf('\n', at) !== end + 1) throw invalid('a header');
    const name = nameOf(text.slice(at, colon));
    const value = valueBetween(text, colon + 1, end);
    const earlier = fields[name];
    fields[name] = earlier === undefined ? value : `${earlier}, ${value}`;
    at = end + 2;
  }
  return fields;
}

/** In lower case. */
const nameOf = kept((written) => {
  if (!isToken.test(written)) throw invalid('a header');
  return written.toLowerCase();
});

/** Without the blanks around it; other white space may be a byte of some letter. */
function valueBetween(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (start < end && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

const isBlank = (code: number): boolean => code === 32 || code === 9;

const hasNoBody = (status: number, toHead: boolean): boolean =>
  toHead || status === 204 || status === 304 || status < 200;

function framingOf(coding: string | undefined, length: string | undefined): Framing {
  if (coding !== undefined) {
    if (coding.toLowerCase() !== 'chunked') throw invalid('a transfer encoding');
    return { by: 'chunks' };
  }
  if (length === undefined) return { by: 'close' };
  if (/^\d{1,15}$/.test(length)) return { by: 'length', length: Number(length) };
  // Some servers say the same length twice.
  const [first = '', ...others] = length.split(',').map((text) => text.trim());
  if (!/^\d{1,15}$/.test(first) || others.some((other) => other !== first)) throw invalid('a length');
  return { by: 'length', length: Number(first) };
}

function staysOpen(connection: string | undefined, byDefault: boolean): boolean {
  if (connection === undefined) return byDefault;
  const said = connection.toLowerCase();
  return !said.includes('close') && (byDefault || said.includes('keep-alive'));
}

function secondsOf(keepAlive: string | undefined): number | null {
  const seconds = keepAlive && /timeout=(\d{1,6})/i.exec(keepAlive)?.[1];
  return seconds ? Number(seconds) : null;
}

const invalid = (what: string): WireFault => new WireFault('InvalidAnswer', `the server sent ${what} that is none`);
