/** The transport of 2024-11-05: one stream that the upstream speaks on, and an address that messages are posted to. */
import type { McpUpstream } from '../../catalog/mcp/server.ts';
import { Abort } from '../../wire/abort.ts';
import type { Bytes } from '../../wire/client/collected.ts';
import { McpError } from '../errors.ts';
import type { UpstreamIdentity } from '../principal.ts';
import type { SseEvent } from '../protocol/events.ts';
import { type JsonRpcId, type RpcMessage, type RpcResponse, written } from '../protocol/json-rpc.ts';
import { isEventStream, readStream } from './answers.ts';
import { CallTime, exchange, inTime, timeoutOf, type UpstreamDeps } from './exchange.ts';
import {
  type ClientFacts,
  type Link,
  type LinkAnswer,
  type LinkEvent,
  type LinkRequest,
  type ListenOptions,
  type ServerFacts,
  SessionLost,
  WrongEra,
} from './link.ts';
import { bytesOf, factsOf } from './session-link.ts';

interface Pending {
  request: LinkRequest;
  time: CallTime;
  resolve(answer: { response: RpcResponse; text: string }): void;
  reject(fault: unknown): void;
}

export class SsePairLink implements Link {
  readonly era = 'session';
  readonly sessionId = null;
  facts: ServerFacts = { protocolVersion: '2024-11-05', capabilities: {}, serverInfo: {}, instructions: null };
  readonly #deps: UpstreamDeps;
  readonly #upstream: McpUpstream;
  readonly #identity: UpstreamIdentity;
  readonly #abort = new Abort();
  readonly #pending = new Map<JsonRpcId, Pending>();
  readonly #listeners = new Set<(event: LinkEvent) => void>();
  #endpoint: string | null = null;
  #counter = 0;
  #over: unknown = null;

  constructor(deps: UpstreamDeps, upstream: McpUpstream, identity: UpstreamIdentity) {
    this.#deps = deps;
    this.#upstream = upstream;
    this.#identity = identity;
  }

  get closed(): boolean {
    return this.#over !== null;
  }

  /** Opens the stream and waits until the upstream has told where to post. */
  async open(client: ClientFacts, version: string): Promise<void> {
    const time = new CallTime(this.#deps.deadlines, timeoutOf(this.#upstream, this.#deps), this.#abort);
    try {
      const { answer } = await exchange(
        this.#deps,
        this.#upstream,
        this.#identity,
        { method: 'GET', headers: { accept: 'text/event-stream' }, body: null },
        time,
      );
      if (answer.status !== 200 || !isEventStream(answer)) {
        await answer.body?.cancel();
        throw new WrongEra(answer.status, false);
      }
      const told = Promise.withResolvers<void>();
      time.addEventListener('abort', () => told.reject(time.reason));
      readStream(answer, time, (event) => this.#heard(event, told)).then(
        () => this.#end(new SessionLost()),
        (fault) => this.#end(fault),
      );
      this.#end = this.#endWith(told);
      await told.promise;
      time.lift();
      const params = { protocolVersion: version, capabilities: client.capabilities, clientInfo: client.info };
      const { response } = await this.request({ id: 'initialize', method: 'initialize', params });
      if (!response?.result) throw new McpError('upstream_error', 'the upstream refused to open a session');
      this.facts = factsOf(response.result);
    } catch (fault) {
      this.#abort.abort(fault);
      time.done();
      throw fault;
    }
  }

  #end: (fault: unknown) => void = () => undefined;

  #endWith =
    (told: { reject(fault: unknown): void }) =>
    (fault: unknown): void => {
      this.#over ??= fault;
      told.reject(fault);
      for (const { reject } of this.#pending.values()) reject(fault);
      this.#pending.clear();
    };

  #heard({ message, event }: LinkEvent, told: { resolve(): void; reject(fault: unknown): void }): boolean {
    if (event.event === 'endpoint') {
      const endpoint = URL.parse(event.data, this.#upstream.url);
      // Messages carry our credentials, so that they go nowhere else.
      if (endpoint?.origin !== new URL(this.#upstream.url).origin) {
        told.reject(new McpError('upstream_forbidden', 'the upstream names another host to post messages to'));
        return true;
      }
      this.#endpoint = endpoint.href;
      told.resolve();
      return false;
    }
    if (message?.kind === 'response' && message.id !== null) {
      const pending = this.#pending.get(message.id);
      if (pending) {
        this.#pending.delete(message.id);
        const response = { ...message, id: pending.request.id };
        pending.resolve({ response, text: JSON.stringify(written(response)) });
      }
      return false;
    }
    if (message) this.#tell({ message, event: plain(event) });
    return false;
  }

  /** What belongs to no answer goes to who listens, else to the request that was made last. */
  #tell(event: LinkEvent): void {
    for (const { time } of this.#pending.values()) time.extend();
    if (this.#listeners.size > 0 && !isOfRequest(event.message)) {
      for (const listener of this.#listeners) listener(event);
      return;
    }
    const waiting = [...this.#pending.values()].reverse();
    const watching = waiting.find(({ request }) => request.onEvent);
    if (watching) watching.request.onEvent?.(event);
    else for (const listener of this.#listeners) listener(event);
  }

  async request(request: LinkRequest): Promise<LinkAnswer> {
    if (this.#over !== null) throw new SessionLost();
    const id = ++this.#counter;
    const time = new CallTime(
      this.#deps.deadlines,
      request.timeoutMs ?? timeoutOf(this.#upstream, this.#deps),
      request.signal,
    );
    const answered = Promise.withResolvers<{ response: RpcResponse; text: string }>();
    this.#pending.set(id, { request, time, resolve: answered.resolve, reject: answered.reject });
    time.addEventListener('abort', () => answered.reject(time.reason));
    try {
      await this.#post({ kind: 'request', id, method: request.method, params: request.params }, time);
      return { ...(await answered.promise), status: 200, streamed: false, tokenRefreshed: false };
    } catch (fault) {
      // It may have been rejected as well, when the post failed.
      answered.promise.catch(() => undefined);
      throw fault;
    } finally {
      this.#pending.delete(id);
      time.done();
    }
  }

  async #post(message: RpcMessage, time: CallTime, bytes?: Bytes): Promise<void> {
    if (this.#endpoint === null) throw new SessionLost();
    const { answer } = await exchange(
      this.#deps,
      this.#upstream,
      this.#identity,
      {
        url: this.#endpoint,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: bytes ?? bytesOf(written(message)),
      },
      time,
    );
    await answer.body?.cancel();
    if (answer.status === 404) throw new SessionLost();
    if (answer.status >= 400) {
      throw new McpError('upstream_error', `the upstream refused a message with status ${answer.status}`);
    }
  }

  async send(message: RpcMessage, bytes?: Bytes): Promise<void> {
    return inTime(this.#deps, this.#upstream, {}, async (time) => {
      await this.#post(this.#renamed(message), time, message.kind === 'response' ? bytes : undefined);
    });
  }

  /** Requests went out under ids of ours, and so does what cancels them. */
  #renamed(message: RpcMessage): RpcMessage {
    if (message.kind !== 'notification' || message.method !== 'notifications/cancelled') return message;
    const { requestId } = message.params;
    const found = [...this.#pending].find(([, { request }]) => request.id === requestId);
    return found ? { ...message, params: { ...message.params, requestId: found[0] } } : message;
  }

  async listen({ signal, opened, onEvent }: ListenOptions): Promise<boolean> {
    if (this.#over !== null) throw new SessionLost();
    this.#listeners.add(onEvent);
    opened();
    await new Promise<void>((resolve) => {
      signal.addEventListener('abort', resolve);
      this.#abort.addEventListener('abort', resolve);
      if (signal.aborted) resolve();
    });
    this.#listeners.delete(onEvent);
    return true;
  }

  async close(): Promise<void> {
    this.#abort.abort(new SessionLost());
    return Promise.resolve();
  }
}

/** Ids of this transport's stream mean nothing to a client of another. */
const plain = (event: SseEvent): SseEvent => ({ ...event, id: null, event: null, retry: null });

const isOfRequest = (message: RpcMessage | null): boolean =>
  message?.kind === 'notification' &&
  (message.method === 'notifications/progress' || message.method === 'notifications/message');
