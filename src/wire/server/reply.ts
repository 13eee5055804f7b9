/** What is answered to a request, and how its head is written. */
import { STATUS_CODES } from 'node:http';
import { memoize } from '../../memoize.ts';
import type { Bytes } from '../client/collected.ts';
import { lengthIn } from '../http1/fields.ts';
import { isToken, ofConnection, unfit } from '../http1/token.ts';

/** Where a body goes, piece by piece. */
export interface Sink {
  /** Undefined when more can be taken at once; else resolves when it can, or when the client is gone. */
  write(bytes: Uint8Array): Promise<void> | undefined;
  /** That was all of it. */
  end(): void;
  /** It breaks off, and so does the connection: nobody shall take what came for the whole. */
  cut(fault: unknown): void;
}

/** A body that is made while it is sent. */
export interface BodySource {
  /** Hands on all of it, and then says that it ended or broke off. */
  deliver(to: Sink): void;
  /** The client is gone: nothing more is taken. */
  left(): void;
}

/** A body that is written by an asynchronous function: it breaks off where the function fails. */
export const bodyBy = (write: (to: Sink) => Promise<void>, left: () => void): BodySource => ({
  deliver(to) {
    write(to).then(
      () => to.end(),
      (fault) => to.cut(fault),
    );
  },
  left,
});

export interface Reply {
  readonly status: number;
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Each is a header of its own. */
  readonly cookies?: readonly string[];
  readonly body: Bytes | BodySource | null;
}

export const isBodiless = ({ status }: Reply): boolean => status === 204 || status === 304;

/** The length that the reply's own headers tell. */
export function announced({ headers }: Reply): number | null {
  const told = headers['content-length'];
  return told === undefined ? null : lengthIn(told);
}

/** How the client learns where the body ends. */
type ReplyFraming = { length: number | null } | 'chunks' | 'close' | 'none';

/** Throws where a header cannot be sent. A client that speaks HTTP/1.0 is `old`. */
export function headOf(
  { status, headers, cookies }: Reply,
  framing: ReplyFraming,
  persists: boolean,
  old = false,
): string {
  let head = lineOf(status);
  for (const name in headers) {
    if (!isTold(name)) continue;
    head += `${name}: ${fit(name, headers[name] ?? '')}\r\n`;
  }
  if (cookies) for (const cookie of cookies) head += `set-cookie: ${fit('set-cookie', cookie)}\r\n`;
  if (headers.date === undefined) head += dateLine();
  return `${head}${framingLine(framing)}${persists ? (old ? stays : '') : leaves}\r\n`;
}

const leaves = 'connection: close\r\n';
/** Without it an old client waits for the end of the connection. */
const stays = 'connection: keep-alive\r\n';

const lines = new Map<number, string>();

function lineOf(status: number): string {
  let line = lines.get(status);
  if (line === undefined) {
    line = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`;
    lines.set(status, line);
  }
  return line;
}

function framingLine(framing: ReplyFraming): string {
  if (framing === 'chunks') return 'transfer-encoding: chunked\r\n';
  if (framing === 'close' || framing === 'none' || framing.length === null) return '';
  return `content-length: ${framing.length}\r\n`;
}

const isTold = memoize((name) => {
  if (!isToken.test(name)) throw new Error(`${JSON.stringify(name)} is no name of a header`);
  return !ofConnection.has(name.toLowerCase());
});

function fit(name: string, value: string): string {
  if (unfit.test(value)) throw new Error(`The header ${name} would hold a character that no header can carry`);
  return value;
}

let dateWritten = '';
let dateSecond = 0;

function dateLine(): string {
  const second = Math.floor(Date.now() / 1_000);
  if (second !== dateSecond) {
    dateSecond = second;
    dateWritten = `date: ${new Date(second * 1_000).toUTCString()}\r\n`;
  }
  return dateWritten;
}
