/** Calls over HTTP/1.1 on connections of our own: opened when needed, kept while they may be of use, dialled at exactly the address that was asked for. */
import { type Address, addressOf, type Endpoint, type Pinned } from './address.ts';
import { answerOf, type WireAnswer } from './answer.ts';
import { Connection, type Keeper, StaleConnection } from './connection.ts';
import type { WireRequest } from './request.ts';

interface WireCall {
  url: string;
  /** The address to dial in place of the URL's own. */
  pinned: Pinned | null;
  method: string;
  headers: Readonly<Record<string, string>>;
  body: WireRequest['body'];
}

/** Connections to one server that wait for a request; the others are closed when they are done. */
const mostWaiting = 256;

export class Wire implements Keeper {
  readonly #waiting = new Map<string, Connection[]>();
  readonly #proxied: readonly string[];

  constructor(env: Readonly<Record<string, string | undefined>>) {
    this.#proxied = ['http', 'https'].filter((scheme) => proxyVariables(scheme).some((name) => env[name]));
  }

  /** Resolves with the head of the answer. Rejects with the signal's reason when that ends it. */
  call(call: WireCall, signal: AbortSignal): Promise<WireAnswer> {
    if (this.#proxied.some((scheme) => call.url.startsWith(`${scheme}:`))) return throughProxy(call, signal);
    const address = addressOf(call.url, call.pinned);
    return this.#ask(address, { ...call, host: address.host, path: address.path }, signal);
  }

  /** Lets go of every connection that waits. */
  close(): void {
    for (const waiting of [...this.#waiting.values()]) for (const connection of [...waiting]) connection.close();
  }

  keep(connection: Connection, seconds: number): void {
    const waiting = this.#waiting.get(connection.key) ?? [];
    if (waiting.length >= mostWaiting) {
      connection.close();
      return;
    }
    if (waiting.push(connection) === 1) this.#waiting.set(connection.key, waiting);
    connection.rest(seconds);
  }

  drop(connection: Connection): void {
    const waiting = this.#waiting.get(connection.key);
    const index = waiting?.indexOf(connection) ?? -1;
    if (index >= 0) waiting?.splice(index, 1);
    if (waiting?.length === 0) this.#waiting.delete(connection.key);
  }

  async #ask({ endpoint }: Address, request: WireRequest, signal: AbortSignal): Promise<WireAnswer> {
    signal.throwIfAborted();
    // A stream can be sent only once, and a connection that waited may turn out to be closed.
    const kept = request.body instanceof ReadableStream ? null : this.#take(endpoint.key);
    if (kept) {
      try {
        return await kept.ask(request, signal);
      } catch (fault) {
        if (!(fault instanceof StaleConnection)) throw fault;
      }
    }
    const connection = await this.#dial(endpoint, signal);
    return connection.ask(request, signal);
  }

  #take(key: string): Connection | null {
    // The one that was used last is the most likely to be open still.
    const waiting = this.#waiting.get(key);
    const last = waiting?.pop() ?? null;
    if (waiting?.length === 0) this.#waiting.delete(key);
    last?.reuse();
    return last;
  }

  #dial(endpoint: Endpoint, signal: AbortSignal): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const stop = () => reject(signal.reason);
      signal.addEventListener('abort', stop, { once: true });
      Connection.open(endpoint, this).then((connection) => {
        signal.removeEventListener('abort', stop);
        if (signal.aborted) connection.close();
        else resolve(connection);
      }, reject);
    });
  }
}

const proxyVariables = (scheme: string): string[] => [`${scheme}_proxy`, `${scheme}_proxy`.toUpperCase()];

/** The runtime's own client knows how to ask a proxy, and which hosts need none. */
async function throughProxy(
  { url, pinned, method, headers, body }: WireCall,
  signal: AbortSignal,
): Promise<WireAnswer> {
  const address = new URL(url);
  if (pinned) address.hostname = pinned.address.includes(':') ? `[${pinned.address}]` : pinned.address;
  const response = await fetch(address, {
    method,
    headers: pinned ? { ...headers, host: pinned.host } : headers,
    signal,
    redirect: 'manual',
    // Our own deadlines count; the runtime's would end long waits that a config allows.
    timeout: false,
    decompress: false,
    ...(body && { body }),
    ...(pinned && { tls: { serverName: pinned.name } }),
  });
  return answerOf(response);
}
