/** A call as it goes over the wire: its head as text, and what is to follow. */
import { memoize } from '../../memoize.ts';
import { WireFault } from '../fault.ts';
import { lengthIn } from '../http1/fields.ts';
import { isToken, ofConnection, unfit } from '../http1/token.ts';
import type { Address, Pinned, ServerAddress } from './address.ts';
import type { Bytes } from './collected.ts';

export interface WireCall {
  url: string;
  /** The address to dial in place of the URL's own. */
  pinned: Pinned | null;
  method: string;
  /** By their names in lower case. */
  headers: Readonly<Record<string, string>>;
  /** Told where the headers say nothing of it. */
  unlessSaid: Readonly<Record<string, string>>;
  body: Bytes | ReadableStream<Uint8Array> | null;
  /** May be sent a second time where the server closed a waiting connection in the moment of the first; reading always may. */
  replayable?: boolean;
  /** Asks for another protocol; a server that speaks it then is an error, as only a refusal can be read. */
  upgrade?: 'websocket';
  /** Whose share of the connections it takes; absent: nobody's. */
  tenant?: string;
}

export interface WireRequest {
  /** Where it goes. */
  endpoint: ServerAddress;
  method: string;
  head: string;
  body: WireCall['body'];
  /** How long its sender says that a stream is. */
  length: number | null;
  replayable: boolean;
  tenant: string | null;
}

/** Throws when there is something in it that no head can carry. */
export function requestOf(
  { method, headers, unlessSaid, body, pinned, replayable = false, tenant, upgrade }: WireCall,
  { endpoint, host, path }: Address,
): WireRequest {
  // The name that was checked is the one that is told.
  const named = pinned ? host : (headers.host ?? host);
  if (!isToken.test(method) || unfit.test(path) || path.includes(' ')) throw invalid(method);
  if (unfit.test(named)) throw invalid('host');
  let head = `${method} ${path} HTTP/1.1\r\nhost: ${named}\r\n`;
  for (const name in unlessSaid) if (headers[name] === undefined) head += line(name, unlessSaid[name] ?? '');
  for (const name in headers) head += line(name, headers[name] ?? '');
  if (upgrade) head += `connection: Upgrade\r\nupgrade: ${upgrade}\r\n`;
  const length = body instanceof ReadableStream ? announced(headers['content-length']) : null;
  return {
    endpoint,
    method,
    head: `${head}${framing(method, body, length)}\r\n`,
    body,
    length,
    replayable: replayable || reads.has(method),
    tenant: tenant ?? null,
  };
}

/** They change nothing, however often they are asked. */
const reads: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

function line(name: string, value: string): string {
  if (!isTold(name)) return '';
  if (unfit.test(value)) throw invalid(name);
  return `${name}: ${value}\r\n`;
}

/** The name of a header that cannot be sent for what it holds; null where all can. */
export function unfitHeader(headers: WireCall['headers']): string | null {
  for (const name in headers) if (unfit.test(headers[name] ?? '')) return name;
  return null;
}

/** Said by us. */
const ours: ReadonlySet<string> = new Set([...ofConnection, 'host', 'upgrade']);

/** Whether a header is handed on. */
const isTold = memoize((name) => {
  if (!isToken.test(name)) throw invalid(name);
  return !ours.has(name.toLowerCase());
});

function announced(told: string | undefined): number | null {
  if (told === undefined) return null;
  const length = lengthIn(told);
  if (length === null) throw invalid('content-length');
  return length;
}

function framing(method: string, body: WireCall['body'], length: number | null): string {
  if (body instanceof Uint8Array) return `content-length: ${body.length}\r\n`;
  if (body) return length === null ? 'transfer-encoding: chunked\r\n' : `content-length: ${length}\r\n`;
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS' ? '' : 'content-length: 0\r\n';
}

const invalid = (name: string): WireFault =>
  new WireFault('InvalidHeader', `${JSON.stringify(name.slice(0, 100))} cannot be sent`);
