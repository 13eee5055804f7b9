/** A request as it goes over the wire. */
import type { Bytes } from './collected.ts';
import { WireFault } from './fault.ts';

export interface WireRequest {
  method: string;
  /** With its query. */
  path: string;
  host: string;
  /** By their names in lower case. */
  headers: Readonly<Record<string, string>>;
  body: Bytes | ReadableStream<Uint8Array> | null;
}

/** Not text that a header can carry. */
const unfit = /[^\t\x20-\x7e\x80-\xff]/;
const isToken = /^[!#$%&'*+\-.^_`|~\w]+$/;

/** Told by whoever frames the body and holds the connection. */
const ours: ReadonlySet<string> = new Set(['host', 'connection', 'transfer-encoding', 'content-length']);

export function headOf({ method, path, host, headers, body }: WireRequest): string {
  let head = `${method} ${path} HTTP/1.1\r\nhost: ${headers.host ?? host}\r\n`;
  if (unfit.test(path) || path.includes(' ') || unfit.test(host) || !isToken.test(method)) throw invalid(method);
  for (const name in headers) {
    const value = headers[name] ?? '';
    if (ours.has(name)) continue;
    if (unfit.test(value) || !isToken.test(name)) throw invalid(name);
    head += `${name}: ${value}\r\n`;
  }
  return `${head}${framing(method, headers['content-length'], body)}\r\n`;
}

/** The length that a stream's sender has told is the length of the stream. */
export const lengthOf = ({ headers }: WireRequest): number | null => {
  const told = headers['content-length'];
  return told === undefined ? null : Number(told);
};

function framing(method: string, told: string | undefined, body: WireRequest['body']): string {
  if (body instanceof Uint8Array) return `content-length: ${body.length}\r\n`;
  if (body) return told === undefined ? 'transfer-encoding: chunked\r\n' : `content-length: ${told}\r\n`;
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS' ? '' : 'content-length: 0\r\n';
}

const invalid = (name: string): WireFault => new WireFault('InvalidHeader', `${name} cannot be sent`);
