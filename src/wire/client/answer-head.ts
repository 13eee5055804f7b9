/** The head of an HTTP/1.1 answer, read strictly: what is not plainly one is a fault, never a guess. */
import { memoize } from '../../memoize.ts';
import { WireFault } from '../fault.ts';
import { lengthIn, readFields, staysOpen } from '../http1/fields.ts';
import { ReceivedHeaders } from './answer.ts';

/** Where the body of an answer ends. */
export type BodyFraming = { by: 'length'; length: number } | { by: 'chunks' } | { by: 'close' };

export interface AnswerHead {
  status: number;
  headers: ReceivedHeaders;
  /** Null where there is no body. */
  framing: BodyFraming | null;
  /** The connection can serve another request afterwards. */
  persists: boolean;
  /** For how long, in seconds, where the server says so. */
  persistsSeconds: number | null;
}

/** Reads a head up to the blank line that ends it. `toHead`: it answers a HEAD request. */
export function readHead(text: string, toHead: boolean): AnswerHead {
  const end = text.indexOf('\r\n');
  const opening = openingOf(text.slice(0, end));
  if (text.includes('\0')) throw invalid('a status line');
  const fields = readFields(text, end + 2);
  if (!fields) throw invalid('a header');
  const { status, old } = opening;
  const coding = fields['transfer-encoding'];
  const length = fields['content-length'];
  const framing = hasNoBody(status, toHead) ? null : framingOf(coding, length);
  // An answer that tells its length in two ways, or in a way that its version does not know, may be read in two ways.
  const ambiguous = coding !== undefined && (length !== undefined || old);
  return {
    status,
    headers: new ReceivedHeaders(fields),
    framing,
    persists: staysOpen(fields.connection, !old) && !ambiguous && framing?.by !== 'close',
    persistsSeconds: secondsOf(fields['keep-alive']),
  };
}

const openingOf = memoize((line) => {
  const read = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [^\r\n]*)?$/.exec(line);
  if (!read) throw invalid('a status line');
  return { old: read[1] === '0', status: Number(read[2]) };
});

/** Throws as soon as these bytes cannot become a head, so that nobody waits for the rest of it. */
export function refuseOther(opening: Buffer): void {
  const start = opening.toString('latin1', 0, protocol.length);
  const feed = opening.indexOf(lf);
  if (!protocol.startsWith(start) || (feed >= 0 && opening[feed - 1] !== cr)) throw invalid('a status line');
}

const protocol = 'HTTP/1.';
const cr = 13;
const lf = 10;

const hasNoBody = (status: number, toHead: boolean): boolean =>
  toHead || status === 204 || status === 304 || status < 200;

function framingOf(coding: string | undefined, length: string | undefined): BodyFraming {
  if (coding !== undefined) {
    if (coding.toLowerCase() !== 'chunked') throw invalid('a transfer encoding');
    return { by: 'chunks' };
  }
  if (length === undefined) return { by: 'close' };
  const told = lengthIn(length) ?? repeatedLength(length);
  if (told === null) throw invalid('a length');
  return { by: 'length', length: told };
}

/** Some servers say the same length twice. */
function repeatedLength(told: string): number | null {
  const [first = '', ...others] = told.split(',').map((text) => text.trim());
  return others.every((other) => other === first) ? lengthIn(first) : null;
}

function secondsOf(keepAlive: string | undefined): number | null {
  const seconds = keepAlive && /timeout=(\d{1,6})/i.exec(keepAlive)?.[1];
  return seconds ? Number(seconds) : null;
}

const invalid = (what: string): WireFault => new WireFault('InvalidAnswer', `the server sent ${what} that is none`);
