/** The head of an HTTP/1.1 answer, read strictly: what is not plainly one is a fault, never a guess. */
import { ReceivedHeaders } from './answer.ts';
import { WireFault } from './fault.ts';

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
  const opening = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [^\0\r\n]*)?$/.exec(text.slice(0, end));
  if (!opening) throw invalid('a status line');
  const fields = readFields(text, end + 2);
  const status = Number(opening[2]);
  const coding = fields['transfer-encoding'];
  const length = fields['content-length'];
  const framing = hasNoBody(status, toHead) ? null : framingOf(coding, length);
  const connection = fields.connection?.toLowerCase();
  const keptAlive = opening[1] === '1' ? !connection?.includes('close') : (connection?.includes('keep-alive') ?? false);
  // An answer that tells its length in two ways may be read in two ways.
  const ambiguous = coding !== undefined && length !== undefined;
  return {
    status,
    headers: new ReceivedHeaders(fields),
    framing,
    persists: keptAlive && !ambiguous && framing?.by !== 'close',
    persistsSeconds: secondsOf(fields['keep-alive']),
  };
}

/** Every line ends in CR LF, the last one too. */
function readFields(text: string, from: number): Record<string, string> {
  const fields: Record<string, string> = Object.create(null);
  for (let at = from; at < text.length; ) {
    const end = text.indexOf('\n', at);
    const line = text.slice(at, end - 1);
    const colon = line.indexOf(':');
    if (colon < 1 || text.charCodeAt(end - 1) !== cr || line.includes('\r') || line.includes('\0')) {
      throw invalid('a header');
    }
    const name = nameOf(line.slice(0, colon));
    const value = line.slice(colon + 1).trim();
    const earlier = fields[name];
    fields[name] = earlier === undefined ? value : `${earlier}, ${value}`;
    at = end + 1;
  }
  return fields;
}

const cr = 13;
const mostNamesKept = 2_000;
const names = new Map<string, string>();

/** In lower case. Servers send the same names again and again. */
function nameOf(written: string): string {
  const known = names.get(written);
  if (known !== undefined) return known;
  if (!/^[!#$%&'*+\-.^_`|~\w]+$/.test(written)) throw invalid('a header');
  const name = written.toLowerCase();
  if (names.size >= mostNamesKept) names.clear();
  names.set(written, name);
  return name;
}

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

function secondsOf(keepAlive: string | undefined): number | null {
  const seconds = keepAlive && /timeout=(\d{1,6})/.exec(keepAlive)?.[1];
  return seconds ? Number(seconds) : null;
}

const invalid = (what: string): WireFault => new WireFault('InvalidAnswer', `the server sent ${what} that is none`);
