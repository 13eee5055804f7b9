/** Calls over HTTP/1.1 on connections of our own: opened when needed, kept while they may be of use, dialled at exactly the address that was asked for. */
import type { Abortable } from '../abort.ts';
import { WireFault } from '../fault.ts';
import { serverAddressOf } from './address.ts';
import type { WireAnswer } from './answer.ts';
import type { Connection, Keeper } from './connection.ts';
import { dial } from './dial.ts';
import { proxiedSchemes, throughProxy } from './proxy.ts';
import { requestOf, type WireCall, type WireRequest } from './request.ts';

/** Connections to one server that wait for a request; the others are closed when they are done. */
const mostWaiting = 256;
/** And to all servers: whoever names a new one with every call must not use up what the process may open. */
const mostWaitingInAll = 4_096;

export class HttpClient implements Keeper {
  readonly now: () => number;
  readonly #waiting = new Map<string, Connection[]>();
  readonly #proxied: readonly string[];
  readonly #onShortage: () => void;
  readonly #onReplay: (what: string) => void;
  readonly #shareOfTenant: number;
  /** Connections that are in use or being made, by tenant. */
  readonly #inUse = new Map<string, number>();
  #replays = 0;
  #waitingInAll = 0;
  #closed = false;

  /** `onShortage` hears of every call for which this process may open no connection any more. */
  constructor(
    env: Readonly<Record<string, string | undefined>>,
    {
      now = () => performance.now(),
      onShortage = () => undefined,
      onReplay = () => undefined,
      shareOfTenant = Number.POSITIVE_INFINITY,
    }: { now?: () => number; shareOfTenant?: number; onShortage?: () => void; onReplay?: (what: string) => void } = {},
  ) {
    this.#proxied = proxiedSchemes(env);
    this.#onShortage = onShortage;
    this.#onReplay = onReplay;
    this.#shareOfTenant = shareOfTenant;
    this.now = now;
  }

  /** Resolves with the head of the answer. Rejects with the signal's reason when that ends it. */
  call(call: WireCall, signal: Abortable): Promise<WireAnswer> {
    if (this.#proxied.some((scheme) => call.url.startsWith(scheme))) return throughProxy(call, signal);
    try {
      return this.#ask(call, signal);
    } catch (fault) {
      return Promise.reject(fault);
    }
  }

  /** Takes a connection out of a tenant's share; throws where none is left of it. */
  claim(tenant: string): void {
    const used = this.#inUse.get(tenant) ?? 0;
    if (used >= this.#shareOfTenant) throw new WireFault('ShareUsedUp', 'the share of the connections is used up');
    this.#inUse.set(tenant, used + 1);
  }

  release(tenant: string): void {
    const left = (this.#inUse.get(tenant) ?? 0) - 1;
    if (left > 0) this.#inUse.set(tenant, left);
    else this.#inUse.delete(tenant);
  }

  /** How many connections a tenant uses. */
  usedBy(tenant: string): number {
    return this.#inUse.get(tenant) ?? 0;
  }

  /** How many requests were sent a second time. */
  get replays(): number {
    return this.#replays;
  }

  /** How many connections wait for a request. */
  get waiting(): number {
    return this.#waitingInAll;
  }

  /** Lets go of every connection that waits, and keeps none from now on. */
  close(): void {
    this.#closed = true;
    for (const waiting of [...this.#waiting.values()]) for (const connection of [...waiting]) connection.close();
  }

  keep(connection: Connection, seconds: number): void {
    const waiting = this.#waiting.get(connection.key) ?? [];
    if (this.#closed || waiting.length >= mostWaiting || this.#waitingInAll >= mostWaitingInAll) {
      connection.close();
      return;
    }
    if (waiting.push(connection) === 1) this.#waiting.set(connection.key, waiting);
    this.#waitingInAll++;
    connection.rest(seconds);
  }

  drop(connection: Connection): void {
    const waiting = this.#waiting.get(connection.key);
    const index = waiting?.lastIndexOf(connection) ?? -1;
    if (!waiting || index < 0) return;
    waiting.splice(index, 1);
    this.#waitingInAll--;
    if (waiting.length === 0) this.#waiting.delete(connection.key);
  }

  #ask(call: WireCall, signal: Abortable): Promise<WireAnswer> {
    if (signal.aborted) throw signal.reason;
    const address = serverAddressOf(call.url, call.pinned);
    // Before there is a connection that a fault in it could leave behind.
    const request = requestOf(call, address);
    // A stream can be sent only once, and a connection that waited may turn out to be closed.
    if (request.tenant !== null) this.claim(request.tenant);
    const kept = request.body instanceof ReadableStream ? null : this.#take(address.endpoint.key);
    return kept ? kept.ask(request, signal) : this.#askAnew(request, signal);
  }

  async replay(request: WireRequest, signal: Abortable): Promise<WireAnswer> {
    if (request.tenant !== null) this.claim(request.tenant);
    this.#replays++;
    this.#onReplay(`${request.method} ${request.endpoint.hostname}`);
    return { ...(await this.#askAnew(request, signal)), replayed: true };
  }

  async #askAnew(request: WireRequest, signal: Abortable): Promise<WireAnswer> {
    const connection = await this.#dial(request, signal);
    return connection.ask(request, signal);
  }

  async #dial({ endpoint, tenant }: WireRequest, signal: Abortable): Promise<Connection> {
    try {
      return await dial(endpoint, this, signal);
    } catch (fault) {
      if (tenant !== null) this.release(tenant);
      if (fault instanceof WireFault && fault.code === 'TooManyOpenFiles') this.#onShortage();
      throw fault;
    }
  }

  /** The one that was used last is the most likely to be open still. */
  #take(key: string): Connection | null {
    const waiting = this.#waiting.get(key);
    for (let last = waiting?.pop(); last; last = waiting?.pop()) {
      this.#waitingInAll--;
      if (waiting?.length === 0) this.#waiting.delete(key);
      if (last.wake()) return last;
    }
    return null;
  }
}
