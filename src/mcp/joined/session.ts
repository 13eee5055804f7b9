/** One session with several servers behind it: each has a session of its own, opened when it is first needed. */
import type { McpServer } from '../../catalog/mcp/server.ts';
import type { Reply } from '../../wire/server/reply.ts';
import { type CallContext, leaseFor } from '../call-context.ts';
import { failed } from '../called.ts';
import { clientOf, initializeResult } from '../client/capabilities.ts';
import { answerHere, failedAnswer } from '../client/ended.ts';
import { EventStream, type KeepAlive } from '../client/event-stream.ts';
import { type McpResponder, silent } from '../client/responder.ts';
import { digestOf, jsonReply, type Posted, type SessionEra } from '../client/session-era.ts';
import { listenTo } from '../client/session-listen.ts';
import { type SessionState, sealSession } from '../client/session-token.ts';
import type { InSession } from '../client/session-upstream.ts';
import type { Sessions } from '../client/sessions.ts';
import type { McpDeps } from '../deps.ts';
import { noSuchMethod } from '../errors.ts';
import { logAnswer } from '../log.ts';
import { writeSse } from '../protocol/events.ts';
import {
  type JsonRpcFields,
  type JsonRpcId,
  type RpcMessage,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
  resultMessage,
  written,
} from '../protocol/json-rpc.ts';
import { isListMethod, isSessionVersion, newestSessionVersion } from '../protocol/versions.ts';
import { isTaskMethod } from '../tasks/relay.ts';
import { SessionLost } from '../upstream/link.ts';
import { joinedList } from './lists.ts';
import { JoinedResponder, joinedMessage, type Relay } from './responder.ts';
import { postedOf, routedTo } from './routed.ts';
import { contextFor, joinedFacts, usableServers } from './servers.ts';

const mostAsked = 1_000;

export class JoinedSessions {
  readonly #deps: McpDeps;
  readonly #era: SessionEra;
  readonly #sessions: Sessions;
  readonly #keeper: KeepAlive;

  constructor(deps: McpDeps, era: SessionEra, sessions: Sessions, keeper: KeepAlive) {
    this.#deps = deps;
    this.#era = era;
    this.#sessions = sessions;
    this.#keeper = keeper;
  }

  async initialize(stranger: CallContext, request: RpcRequest, text: string): Promise<Reply> {
    const { params } = request;
    const client = clientOf(params);
    const context = { ...stranger, client };
    const wanted = typeof params.protocolVersion === 'string' ? params.protocolVersion : '';
    const version = isSessionVersion(wanted) ? wanted : newestSessionVersion;
    const facts = joinedFacts(context.principal);
    const state: SessionState = {
      serverId: context.server.id,
      principalId: context.principal.id,
      version,
      client,
      upstream: { era: 'session', sessionId: null, version, capabilities: facts.capabilities },
      openedAt: this.#deps.clock.now().getTime(),
    };
    const token = sealSession(this.#deps.seal, state);
    this.#sessions.touch(digestOf(token));
    const body = JSON.stringify(resultMessage(request.id, initializeResult(version, facts)));
    logAnswer(this.#deps, context, { message: request, text }, { text: body, status: 200, upstreamMs: 0 });
    return jsonReply(200, body, { 'mcp-session-id': token });
  }

  async post(session: InSession, posted: Posted, responder: McpResponder): Promise<void> {
    const { message } = posted;
    if (message.kind !== 'request') {
      await this.#told(session, message);
      logAnswer(this.#deps, session.context, posted, { text: null, status: 202, upstreamMs: 0 });
      responder.finish('', 202);
      return;
    }
    const startedAt = performance.now();
    try {
      await this.#request(session, message, posted, responder);
    } catch (fault) {
      const { body, status, headers } = failedAnswer(this.#deps, session.context, posted, fault, {
        era: 'session',
        startedAt,
      });
      responder.finish(body, status, headers);
    }
  }

  async #request(session: InSession, request: RpcRequest, posted: Posted, responder: McpResponder): Promise<void> {
    const { context, local } = session;
    const answer = (result: JsonRpcFields) => answerHere(this.#deps, context, request, posted, responder, result);
    if (request.method === 'ping') return answer({});
    if (request.method === 'logging/setLevel') {
      local.logLevel = typeof request.params.level === 'string' ? request.params.level : null;
      await this.#toOpen(session, request);
      return answer({});
    }
    // Tasks of this era are listed by those who have them, and no list of several servers can be paged.
    if (isTaskMethod(request.method)) throw noSuchMethod(request.method);
    const servers = usableServers(context.principal);
    if (isListMethod(request.method)) {
      return answer(
        await joinedList(request, request.method, servers, async (server, asked, to) =>
          this.#era.post(await this.#child(session, server), postedOf(asked), to),
        ),
      );
    }
    const { server, request: asked } = routedTo(request, servers);
    const child = await this.#child(session, server);
    local.inFlight.set(String(request.id), server.id);
    try {
      const to = new JoinedResponder(responder, server.slug, request.method, this.#relay(session, server));
      await this.#era.post(child, postedOf(asked), to);
    } finally {
      local.inFlight.delete(String(request.id));
    }
  }

  /** Requests of servers get ids of ours, because two servers may choose the same. */
  #relay({ local, context }: InSession, server: McpServer): Relay {
    return (id) => {
      const own = `gw-${Bun.randomUUIDv7()}`;
      if (local.asked.size >= mostAsked) {
        const [oldest] = local.asked.keys();
        if (oldest !== undefined) local.asked.delete(oldest);
      }
      local.asked.set(own, (response) => {
        local.asked.delete(own);
        this.#answer(context, local.children.get(server.id), server, { ...response, id }).catch((fault) =>
          this.#deps.onFault(fault, context.requestId),
        );
      });
      return own;
    };
  }

  async #answer(
    context: CallContext,
    token: Promise<string> | undefined,
    server: McpServer,
    response: RpcResponse,
  ): Promise<void> {
    if (!token) return;
    const child = this.#era.find(await contextFor(this.#deps, context, server), await token);
    await this.#era.post(child, postedOf(response), silent);
  }

  /** What the client tells; an answer goes to the server that asked. */
  async #told(session: InSession, message: RpcNotification | RpcResponse): Promise<void> {
    const { local } = session;
    if (message.kind === 'response') {
      local.asked.get(String(message.id))?.(message);
      return;
    }
    // Every server is told when its own session is opened.
    if (message.method === 'notifications/initialized') return;
    const requestId = message.params.requestId as JsonRpcId | undefined;
    const only = message.method === 'notifications/cancelled' ? local.inFlight.get(String(requestId)) : undefined;
    if (message.method === 'notifications/cancelled' && only === undefined) return;
    await this.#toOpen(session, message, only);
  }

  /** To every server that has a session already, or to one of them. */
  async #toOpen(session: InSession, message: RpcMessage, only?: string): Promise<void> {
    const open = usableServers(session.context.principal).filter(
      ({ id }) => session.local.children.has(id) && (only === undefined || only === id),
    );
    await Promise.all(
      open.map(async (server) => {
        const child = await this.#child(session, server).catch(() => null);
        if (child) await this.#era.post(child, postedOf(message), silent);
      }),
    );
  }

  /** The session with one server. */
  async #child(session: InSession, server: McpServer): Promise<InSession> {
    const { children } = session.local;
    const context = await contextFor(this.#deps, session.context, server);
    let token = children.get(server.id);
    if (!token) {
      token = this.#opened(session, context);
      children.set(server.id, token);
      // What could not be opened is tried anew by the next who needs it.
      token.catch(() => children.delete(server.id));
    }
    try {
      return this.#era.find(context, await token);
    } catch (fault) {
      children.delete(server.id);
      throw fault;
    }
  }

  async #opened({ state, local }: InSession, context: CallContext): Promise<string> {
    const { client, version } = state;
    const { token } = await this.#era.open(context, {
      protocolVersion: version,
      clientInfo: client.info,
      capabilities: client.capabilities,
    });
    const child = this.#era.find(context, token);
    await this.#era.post(child, postedOf(initialized), silent);
    if (local.logLevel !== null && child.state.upstream.capabilities.logging !== undefined) {
      const level: RpcRequest = {
        kind: 'request',
        id: `gw-${Bun.randomUUIDv7()}`,
        method: 'logging/setLevel',
        params: { level: local.logLevel },
      };
      await this.#era.post(child, postedOf(level), silent);
    }
    return token;
  }

  /** What all servers say by themselves, on one stream. */
  async listen(session: InSession): Promise<Reply> {
    const abort = new AbortController();
    const stream = new EventStream(this.#keeper, leaseFor(this.#deps, session.context), () =>
      abort.abort(new SessionLost()),
    );
    for (const server of usableServers(session.context.principal)) {
      this.#followed(session, server, stream, abort.signal).catch((fault) =>
        // A server that cannot be reached tells nothing; the others do.
        failed(fault, (one) => this.#deps.onFault(one, session.context.requestId)),
      );
    }
    return stream.reply();
  }

  async #followed(session: InSession, server: McpServer, stream: EventStream, signal: AbortSignal): Promise<void> {
    const child = await this.#child(session, server);
    const relay = this.#relay(session, server);
    await listenTo(this.#deps, child, {
      signal,
      lastEventId: null,
      opened: () => undefined,
      onEvent: ({ message }) => {
        if (!message || message.kind === 'response') return;
        const shown = joinedMessage(server.slug, { ...written(message) }, relay);
        stream.write(writeSse({ data: JSON.stringify(shown) }));
      },
    });
  }

  async end({ context, local }: InSession, header: string): Promise<Reply> {
    const digest = digestOf(header);
    for (const server of usableServers(context.principal)) {
      const token = await local.children.get(server.id)?.catch(() => null);
      if (token) await this.#ended(context, server, token);
    }
    this.#sessions.end(digest);
    this.#deps.announceEnd(digest);
    return { status: 204, headers: {}, body: null };
  }

  async #ended(context: CallContext, server: McpServer, token: string): Promise<void> {
    try {
      await this.#era.end(this.#era.find(await contextFor(this.#deps, context, server), token), token);
    } catch (fault) {
      // It has ended already, or its server can no longer be used.
      failed(fault, (one) => this.#deps.onFault(one, context.requestId));
    }
  }
}

const initialized: RpcNotification = { kind: 'notification', method: 'notifications/initialized', params: {} };
