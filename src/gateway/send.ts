/** The only place that opens an upstream connection: address check, pinned address, abort, and faults in our own words. */
import { GatewayError } from './errors.ts';
import type { PinnedHost } from './host-guard.ts';
import type { GatewayParts } from './parts.ts';
import type { Target } from './target.ts';
import type { Upstream } from './upstream.ts';

/** Why an attempt was given up by us; carried by the abort signal. */
export class GivenUp extends Error {
  readonly error: GatewayError;

  constructor(error: GatewayError) {
    super(error.message);
    this.error = error;
  }
}

export async function send(
  parts: GatewayParts,
  target: Target,
  upstream: Upstream,
  signal: AbortSignal,
): Promise<Response> {
  const { url, method, headers, body } = upstream;
  try {
    if (target.provider.local) {
      return await target.provider.local(new Request(url, { method, headers, signal, ...(body && { body }) }));
    }
    const init: PinnedInit & { timeout: false } = {
      method,
      headers,
      signal,
      redirect: 'manual',
      // Our own deadlines count; the runtime's would end long waits that a config allows.
      timeout: false,
    };
    if (body) init.body = body;
    // Passthrough hands on whatever encoding the two sides agreed on.
    if (upstream.passthrough) init.decompress = false;
    return await (upstream.customHost ? fetchPinned(parts, url, init) : fetch(url, init));
  } catch (fault) {
    throw unsendable(headers) ?? explain(fault, signal, target);
  }
}

/** Values of headers also come from bodies, configs and settings, which may hold anything. */
function unsendable(headers: Readonly<Record<string, string>>): GatewayError | null {
  for (const name in headers) {
    if (!/[^\t\x20-\xff]/.test(headers[name] ?? '')) continue;
    return new GatewayError('invalid_header', `the header ${name} would hold a character that no header can carry`, {
      field: name,
    });
  }
  return null;
}

type PinnedInit = BunFetchRequestInit & { signal: AbortSignal; headers?: Record<string, string> };

/** Calls an address that somebody outside chose: the address that was checked is the address that is dialled. */
export function fetchPinned(parts: GatewayParts, url: string, init: PinnedInit): Promise<Response> {
  const checked = parts.hostGuard.check(url);
  return checked ? fetchChecked(checked, url, init) : fetch(url, init);
}

async function fetchChecked(checked: Promise<PinnedHost | null>, url: string, init: PinnedInit): Promise<Response> {
  const pinned = await unlessGivenUp(checked, init.signal);
  if (!pinned) return fetch(url, init);
  const address = new URL(url);
  address.hostname = pinned.address.includes(':') ? `[${pinned.address}]` : pinned.address;
  return fetch(address, {
    ...init,
    headers: { ...init.headers, host: pinned.host },
    tls: { serverName: pinned.name },
  });
}

/** A name server or a token service that stays silent must not outlast the request's own deadline; others may go on waiting. */
export function unlessGivenUp<T>(checked: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    checked.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

/** The whole of an answer, up to a limit; a connection that breaks on the way is told like one that could not be made. */
export async function bytesOf(
  response: Response,
  signal: AbortSignal,
  target: Target,
  limit: number,
): Promise<Uint8Array<ArrayBuffer>> {
  try {
    const { headers } = response;
    const length = headers.has('content-encoding') ? null : headers.get('content-length');
    // Only a length that is told of plain bytes is one: a little that is packed may be very much.
    return length !== null && Number(length) <= limit
      ? new Uint8Array(await response.arrayBuffer())
      : await collected(response, limit);
  } catch (fault) {
    throw explain(fault, signal, target);
  }
}

async function collected({ body }: Response, limit: number): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop closes the connection.
  for await (const chunk of body ?? []) {
    size += chunk.length;
    if (size > limit) {
      throw new GatewayError('invalid_provider_response', `the answer of the provider is larger than ${limit} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** What a failed connection means to the client. Internals stay out of the message. */
export function explain(fault: unknown, signal: AbortSignal, target: Target): GatewayError {
  if (fault instanceof GatewayError) return fault;
  if (signal.aborted && signal.reason instanceof GivenUp) return signal.reason.error;
  const code = fault instanceof Error && 'code' in fault ? String(fault.code) : '';
  const name = target.saved ? `@${target.saved.slug}` : target.provider.id;
  if (code === 'ETIMEDOUT' || code === 'ConnectionTimeout') {
    return new GatewayError('upstream_connect_timeout', `the connection to ${name} timed out`);
  }
  return new GatewayError(
    'upstream_unreachable',
    `${name} could not be reached or closed the connection${code && ` (${code})`}`,
  );
}
