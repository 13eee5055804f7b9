/** The head of a request, read strictly: what two servers might read in two ways is refused. */
import { memoize } from '../../memoize.ts';
import { ReceivedHeaders } from '../client/answer.ts';
import type { BodyFraming } from '../client/answer-head.ts';
import { type HeaderLines, readFields, staysOpen } from '../http1/fields.ts';
import { isToken } from '../http1/token.ts';

export interface RequestHead {
  method: string;
  /** Path and query as they were asked for. */
  target: string;
  /** All but the length of the body, which `framing` tells. */
  headers: ReceivedHeaders;
  /** Null where there is no body. */
  framing: BodyFraming | null;
  /** The client speaks HTTP/1.0, which knows no chunks. */
  old: boolean;
  /** The client would send another request over this connection. */
  persists: boolean;
  /** It holds its body back until it is told to go on. */
  waits: boolean;
}

/** A head that is not served. */
export class RefusedHead extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Reads a head up to the blank line that ends it, but for the line that tells the length of the body: that is added by `withLength`. */
export function readRequestHead(text: string): RequestHead {
  const end = text.indexOf('\r\n');
  const first = text.indexOf(' ');
  const last = text.lastIndexOf(' ', end);
  const version = text.slice(last + 1, end);
  if (first <= 0 || last <= first || last > end) throw new RefusedHead(400, 'the request line cannot be read');
  if (version !== 'HTTP/1.1' && version !== 'HTTP/1.0') throw refusedVersion(version);
  const old = version === 'HTTP/1.0';
  const fields = control.test(text) ? null : readFields(text, end + 2);
  if (!fields) throw new RefusedHead(400, 'the headers cannot be read');
  const method = methodOf(text.slice(0, first));
  if (method === '') throw new RefusedHead(400, 'the method cannot be read');
  requireHost(fields.host, old);
  const target = targetOf(text.slice(first + 1, last), fields);
  return {
    method,
    target,
    headers: new ReceivedHeaders(Object.freeze(fields)),
    framing: framingOf(fields, old),
    old,
    persists: staysOpen(fields.connection, !old),
    waits: !old && fields.expect?.toLowerCase() === '100-continue',
  };
}

/** Whether what has come so far is the beginning of no head at all: whoever speaks another protocol is told so at once, since it takes what it said for whole. */
export function beginsNoHead(opening: Buffer, start: number): boolean {
  if (opening.length === start || (opening.length === 1 && opening[0] === cr)) return false;
  if (!isToken.test(opening.toString('latin1', start, start + 1))) return true;
  const end = opening.indexOf(lf, start);
  return end >= 0 && !/ HTTP\/\d\.\d\r$/.test(opening.toString('latin1', start, end));
}

const cr = 13;
const lf = 10;

/** Has no place in a head, and is read in more than one way. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const control = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/;

const refusedVersion = (version: string): RefusedHead =>
  version.startsWith('HTTP/')
    ? new RefusedHead(505, 'only HTTP/1.1 is spoken here')
    : new RefusedHead(400, 'the request line cannot be read');

/** Empty where it is none. */
const methodOf = memoize((written) => (isToken.test(written) ? written : ''));

function targetOf(asked: string, fields: HeaderLines): string {
  const path = asked.startsWith('/') || asked === '*' ? asked : pathOf(asked, fields);
  if (path === null || unprintable.test(path)) throw new RefusedHead(400, 'the path cannot be read');
  return beyondAscii.test(path) ? path.replace(everyBeyondAscii, escaped) : path;
}

/** An address in full is what clients send to a proxy; its path is what is asked for, and its host counts, whatever `host` says. */
function pathOf(address: string, fields: HeaderLines): string | null {
  const [origin, host] = /^https?:\/\/([^/?#]+)/i.exec(address) ?? [];
  if (origin === undefined || host === undefined || !isHost(host)) return null;
  fields.host = host;
  const path = address.slice(origin.length);
  return path.startsWith('/') ? path : `/${path}`;
}

/** No byte of an address: it would end the line, or split it. */
const unprintable = /[^\x21-\x7e\x80-\xff]/;
const beyondAscii = /[\x80-\xff]/;
const everyBeyondAscii = /[\x80-\xff]/g;
const escaped = (byte: string): string => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`;

/** Health checks in HTTP/1.0 send no Host, and need none. */
function requireHost(host: string | undefined, old: boolean): void {
  if (host === undefined ? !old : !isHost(host)) {
    throw new RefusedHead(400, 'the header host is no host name with an optional port');
  }
}

const isHost = memoize((written) => !/[/?#@\\\s,]/.test(written) && URL.canParse(`http://${written}/`));

/** Where the body ends is said once, and in a way that everybody understands alike. */
function framingOf(fields: HeaderLines, old: boolean): BodyFraming | null {
  const coding = fields['transfer-encoding'];
  if (fields['content-length'] !== undefined) throw new RefusedHead(400, 'the header content-length is no length');
  if (coding === undefined) return null;
  if (old) throw toldTwice();
  if (coding.toLowerCase() !== 'chunked') throw new RefusedHead(501, 'the transfer encoding is not known here');
  return { by: 'chunks' };
}

/** The same head with a body of so many bytes. */
export function withLength(head: RequestHead, length: number): RequestHead {
  if (head.framing) throw toldTwice();
  if (length === 0) return head;
  const { method, target, headers, old, persists, waits } = head;
  return { method, target, headers, framing: { by: 'length', length }, old, persists, waits };
}

const toldTwice = (): RefusedHead => new RefusedHead(400, 'the length of the body is told in two ways');
