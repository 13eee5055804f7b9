/** Clients of the session era: initialize, then messages, a stream of their own, and an end. */
import type { Reply } from '../../wire/server/reply.ts';
import type { CallContext } from '../call-context.ts';
import { type Called, call, failed, forClient, textOfCalled, type Way } from '../calls.ts';
import type { McpDeps } from '../deps.ts';
import { McpError, noSuchMethod, sessionLost } from '../errors.ts';
import { UpstreamRefusal } from '../lists.ts';
import { logAnswer } from '../log.ts';
import { metadataOf } from '../probe.ts';
import { writeSse } from '../protocol/events.ts';
import {
  errorMessage,
  isFields,
  type JsonRpcFields,
  methodNotFound,
  type RpcMessage,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
  requestMessage,
  resultMessage,
} from '../protocol/json-rpc.ts';
import {
  clientMethods,
  isSessionVersion,
  metaKeys,
  newestSessionVersion,
  sessionMethods,
} from '../protocol/versions.ts';
import { type ClientFacts, type Link, type LinkEvent, type ServerFacts, SessionLost } from '../upstream/link.ts';
import { SessionLink } from '../upstream/session-link.ts';
import { StatelessLink } from '../upstream/stateless-link.ts';
import { EventStream, type KeepAlive } from './event-stream.ts';
import { withInputs } from './inputs.ts';
import type { McpResponder } from './responder.ts';
import { openSession, type SessionState, sealSession } from './session-token.ts';
import type { LocalSession, Sessions } from './sessions.ts';

/** Where the upstream speaks only on a stream that this process holds. */
const pairMark = '@pair';

/** A message with the session that it belongs to. */
export interface InSession {
  context: CallContext;
  state: SessionState;
  local: LocalSession;
}

export interface Posted {
  message: RpcMessage;
  text: string;
  bytes: Uint8Array<ArrayBuffer>;
}

const asText = (value: object): string => JSON.stringify(value);

export class SessionEra {
  readonly #deps: McpDeps;
  readonly #sessions: Sessions;
  readonly #keeper: KeepAlive;

  constructor(deps: McpDeps, sessions: Sessions, keeper: KeepAlive) {
    this.#deps = deps;
    this.#sessions = sessions;
    this.#keeper = keeper;
  }

  /** The session that the header names; 400 without one, 404 for one that does not count. */
  find(context: CallContext, header: string | undefined): InSession {
    if (header === undefined) {
      throw new McpError('session_required', 'send the Mcp-Session-Id that initialize answered with');
    }
    const expected = { serverId: context.server.id, principalId: context.principal.id };
    const state = openSession(this.#deps.seal, header, expected, this.#deps.clock.now().getTime());
    const digest = digestOf(header);
    const local = state && this.#sessions.touch(digest);
    if (!state || !local) throw sessionLost();
    return {
      context: {
        ...context,
        client: state.client,
        sessionId: digest.slice(0, 16),
      },
      state,
      local,
    };
  }

  async initialize(stranger: CallContext, request: RpcRequest, text: string): Promise<Reply> {
    const startedAt = performance.now();
    const context = { ...stranger, client: clientOf(request.params) };
    try {
      const { result, token } = await this.open(context, request.params);
      const body = asText(resultMessage(request.id, result));
      const upstreamMs = performance.now() - startedAt;
      logAnswer(this.#deps, context, { message: request, text }, { text: body, status: 200, upstreamMs });
      return jsonReply(200, body, { 'mcp-session-id': token });
    } catch (fault) {
      return this.#refused(context, { message: request, text }, fault, startedAt);
    }
  }

  /** Opens a session upstream and seals it; for both transports of this era. */
  async open(
    context: CallContext,
    params: JsonRpcFields,
  ): Promise<{ result: JsonRpcFields; token: string; digest: string }> {
    const { server, principal, identity } = context;
    const wanted = typeof params.protocolVersion === 'string' ? params.protocolVersion : '';
    const version = isSessionVersion(wanted) ? wanted : newestSessionVersion;
    const client = clientOf(params);
    const link = await this.#deps.opener.open({ upstream: server, identity, client, era: 'session', version });
    this.#deps.observe(server, { metadata: metadataOf(link.facts), lists: {} });
    const held = holdsConnection(link);
    const state: SessionState = {
      serverId: server.id,
      principalId: principal.id,
      version,
      client,
      upstream: {
        era: link.era,
        sessionId: held ? pairMark : link.sessionId,
        version: link.facts.protocolVersion,
        capabilities: link.facts.capabilities,
      },
      openedAt: this.#deps.clock.now().getTime(),
    };
    const token = sealSession(this.#deps.seal, state);
    const digest = digestOf(token);
    const local = this.#sessions.touch(digest);
    if (local && held) local.link = link;
    return { result: initializeResult(version, link.facts), token, digest };
  }

  /** Whatever a client posts within a session; a request is answered through the responder. */
  async post(session: InSession, posted: Posted, responder: McpResponder): Promise<void> {
    const { message } = posted;
    if (message.kind === 'request') await this.#request(session, message, posted, responder);
    else await this.#told(session, message, posted, responder);
  }

  async #told(
    session: InSession,
    message: RpcNotification | RpcResponse,
    posted: Posted,
    responder: McpResponder,
  ): Promise<void> {
    const startedAt = performance.now();
    const waiting = message.kind === 'response' ? session.local.asked.get(String(message.id)) : undefined;
    try {
      if (waiting && message.kind === 'response') waiting(message);
      else await this.#forward(session, message, posted);
      logAnswer(this.#deps, session.context, posted, {
        text: null,
        status: 202,
        upstreamMs: performance.now() - startedAt,
      });
      responder.finish('', 202);
    } catch (fault) {
      const { body, status, headers } = this.#failure(session.context, posted, fault, null, startedAt);
      responder.finish(body, status, headers);
    }
  }

  async #forward(session: InSession, message: RpcNotification | RpcResponse, { bytes }: Posted): Promise<void> {
    try {
      await (await this.#link(session, false)).send(message, bytes);
    } catch (fault) {
      // The request that follows opens the session anew; an answer to a lost one has nobody to go to.
      if (!(fault instanceof SessionLost)) throw fault;
    }
  }

  async #request(session: InSession, request: RpcRequest, posted: Posted, responder: McpResponder): Promise<void> {
    const { context } = session;
    const startedAt = performance.now();
    try {
      const local = this.#answeredHere(session, request);
      if (local) {
        const body = asText(resultMessage(request.id, local));
        logAnswer(this.#deps, context, posted, { text: body, status: 200, upstreamMs: 0 });
        responder.finish(body, 200);
        return;
      }
      let eventId: string | null = null;
      const way = this.#way(session, posted, responder, (id) => {
        eventId = id;
      });
      const called = await this.#called(session, request, way);
      if (!called.response) {
        logAnswer(this.#deps, context, posted, { text: null, status: 200, upstreamMs: performance.now() - startedAt });
        responder.end();
        return;
      }
      const body = textOfCalled({ ...called, response: called.response });
      const upstreamMs = performance.now() - startedAt;
      logAnswer(this.#deps, context, posted, { text: body, status: 200, upstreamMs, called });
      responder.finish(body, 200, {}, eventId);
    } catch (fault) {
      const { body, status, headers } = this.#failure(context, posted, fault, request.id, startedAt);
      responder.finish(body, status, headers);
    }
  }

  /** An upstream of the stateless era says what it needs in its result; the client is asked for it here. */
  #called(session: InSession, request: RpcRequest, way: Way): Promise<Called> {
    if (session.state.upstream.era === 'session') return call(this.#deps, session.context, request, way);
    const ask = way.askClient ?? refusing;
    const { logLevel } = session.local;
    return withInputs(request, ask, logLevel, (one) =>
      call(this.#deps, session.context, one, { ...way, bytes: undefined }),
    );
  }

  /** What the gateway answers by itself. */
  #answeredHere({ state, local }: InSession, { method, params }: RpcRequest): JsonRpcFields | null {
    if (method === 'ping') return {};
    if (!Object.hasOwn(sessionMethods, method) || method === 'initialize') throw noSuchMethod(method);
    const capability = sessionMethods[method];
    if (capability && state.upstream.capabilities[capability] === undefined && capability !== 'completions') {
      throw noSuchMethod(method);
    }
    if (state.upstream.era === 'session') return null;
    if (method === 'logging/setLevel') {
      local.logLevel = typeof params.level === 'string' ? params.level : null;
      return {};
    }
    if (method === 'resources/subscribe' || method === 'resources/unsubscribe') {
      const uri = String(params.uri ?? '');
      if (method === 'resources/subscribe') local.subscriptions.add(uri);
      else local.subscriptions.delete(uri);
      return {};
    }
    return null;
  }

  #way(session: InSession, posted: Posted, responder: McpResponder, sawAnswer: (eventId: string | null) => void): Way {
    const { context, state } = session;
    const canAsk = state.client.capabilities.elicitation !== undefined;
    return {
      link: (lost) => this.#link(session, lost),
      askClient:
        canAsk || state.upstream.era === 'stateless' ? this.#asker(session, (one) => responder.message(one)) : null,
      bytes: posted.bytes,
      resume: state.upstream.era !== 'session',
      headers: paramHeaders(context.asked.headers),
      onEvent: (event) => {
        if (event.message?.kind === 'response') {
          sawAnswer(event.event.id);
          return;
        }
        if (this.#passes(session, event)) responder.event(event.event);
      },
    };
  }

  /** Whether something that the upstream said goes on to the client; what it cannot answer is answered here. */
  #passes(session: InSession, { message }: LinkEvent): boolean {
    if (message?.kind === 'notification' && message.method.endsWith('/list_changed')) {
      this.#deps.definitions.forget(session.context.server, session.context.identity);
    }
    if (message?.kind !== 'request') return true;
    const capability = clientMethods[message.method];
    const offered = session.state.client.capabilities;
    if (message.method === 'ping' || (capability && offered[capability] !== undefined)) return true;
    if (capability === undefined && offered.tasks !== undefined && message.method.startsWith('tasks/')) return true;
    const error = { code: methodNotFound, message: `The client does not support ${message.method}` };
    this.#link(session, false)
      .then((link) => link.send({ kind: 'response', id: message.id, error }))
      .catch((fault) => this.#deps.onFault(fault, session.context.requestId));
    return false;
  }

  /** Sends a request of ours on the client's stream and waits until the client posts the answer. */
  #asker({ local }: InSession, send: (message: object) => void) {
    return (method: string, params: JsonRpcFields): Promise<RpcResponse> => {
      const id = `gw-${Bun.randomUUIDv7()}`;
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          local.asked.delete(id);
          reject(new McpError('upstream_timeout', 'the client did not answer what it was asked'));
        }, patienceMs);
        local.asked.set(id, (answer) => {
          clearTimeout(timer);
          local.asked.delete(id);
          resolve(answer);
        });
        send(requestMessage(id, method, params));
      });
    };
  }

  async #link(session: InSession, lost: boolean): Promise<Link> {
    const { state, local, context } = session;
    const { server, identity } = context;
    const { upstream } = state;
    if (upstream.sessionId === pairMark || lost) {
      if (lost) local.link = null;
      if (local.link) return local.link;
      local.reopening ??= this.#reopened(session).finally(() => {
        local.reopening = null;
      });
      return local.reopening;
    }
    const facts: ServerFacts = {
      protocolVersion: upstream.version,
      capabilities: upstream.capabilities,
      serverInfo: {},
      instructions: null,
    };
    if (upstream.era === 'stateless')
      return new StatelessLink(this.#deps.upstream, server, identity, state.client, facts);
    const id = local.reopened ? local.reopened.sessionId : upstream.sessionId;
    return new SessionLink(this.#deps.upstream, server, identity, { id, facts });
  }

  /** The upstream forgot the session, or another node holds it: another is opened in its place, for the same client. */
  async #reopened({ state, local, context }: InSession): Promise<Link> {
    const { server, identity } = context;
    const link = await this.#deps.opener.open({
      upstream: server,
      identity,
      client: state.client,
      era: 'session',
      version: state.version,
    });
    if (link.era === 'session') {
      await link.send({ kind: 'notification', method: 'notifications/initialized', params: {} });
    }
    if (holdsConnection(link)) local.link = link;
    else local.reopened = { sessionId: link.sessionId };
    return link;
  }

  /** The stream on which the upstream speaks by itself. */
  async listen(session: InSession, lastEventId: string | undefined): Promise<Reply> {
    const { context, local, state } = session;
    const abort = new AbortController();
    const stream = new EventStream(this.#keeper, () => abort.abort(new SessionLost()));
    const opened = Promise.withResolvers<boolean>();
    const link = await this.#link(session, false);
    const listening = link.listen({
      signal: abort.signal,
      lastEventId: lastEventId ?? null,
      filter: {
        toolsListChanged: true,
        promptsListChanged: true,
        resourcesListChanged: true,
        ...(local.subscriptions.size > 0 && { resourceSubscriptions: [...local.subscriptions] }),
      },
      opened: () => opened.resolve(true),
      onEvent: (event) => {
        const shown = state.upstream.era === 'stateless' ? asSessionEvent(event) : event;
        if (shown && this.#passes(session, shown)) stream.write(writeEvent(shown));
      },
    });
    listening.then(
      (had) => {
        opened.resolve(had);
        stream.end();
      },
      (fault) => {
        opened.reject(fault);
        stream.end();
      },
    );
    const silent = setTimeout(() => opened.resolve(true), refusalMs);
    try {
      if (await opened.promise) return stream.reply();
    } catch (fault) {
      stream.end();
      if (fault instanceof SessionLost) throw sessionLost();
      throw failed(fault, (one) => this.#deps.onFault(one, context.requestId));
    } finally {
      clearTimeout(silent);
    }
    stream.end();
    throw new McpError('method_not_allowed', 'the upstream has no stream of its own', {
      headers: { allow: 'POST, DELETE' },
    });
  }

  async end(session: InSession, header: string): Promise<Reply> {
    const digest = digestOf(header);
    const link = await this.#link(session, false).catch(() => null);
    this.#sessions.end(digest);
    this.#deps.announceEnd(digest);
    // The client has gone whatever the upstream says to it.
    await link?.close().catch(() => undefined);
    return { status: 204, headers: {}, body: null };
  }

  #refused(context: CallContext, posted: Omit<Posted, 'bytes'>, fault: unknown, startedAt: number): Reply {
    const id = posted.message.kind === 'request' ? posted.message.id : null;
    const { body, status, headers } = this.#failure(context, posted, fault, id, startedAt);
    return jsonReply(status, body, headers);
  }

  #failure(
    context: CallContext,
    posted: Omit<Posted, 'bytes'>,
    fault: unknown,
    id: RpcRequest['id'] | null,
    startedAt: number,
  ): { body: string; status: number; headers: Readonly<Record<string, string>> } {
    const error = forClient(
      failed(fault, (one) => this.#deps.onFault(one, context.requestId)),
      context.client,
    );
    const shown = error instanceof UpstreamRefusal ? error.error : error.rpc;
    const status = error instanceof UpstreamRefusal ? 200 : error.status;
    const body = asText(errorMessage(id, shown));
    logAnswer(this.#deps, context, posted, { text: body, status, upstreamMs: performance.now() - startedAt, error });
    return { body, status, headers: error instanceof McpError ? error.headers : {} };
  }
}

const clientOf = (params: JsonRpcFields): ClientFacts => ({
  info: isFields(params.clientInfo) ? params.clientInfo : { name: 'unknown', version: '0' },
  capabilities: isFields(params.capabilities) ? params.capabilities : {},
});

const patienceMs = 300_000;
/** An upstream that has no stream says so within this time; one that says nothing has one. */
const refusalMs = 1_000;

export const digestOf = (text: string): string => Bun.CryptoHasher.hash('sha256', text, 'hex');

const holdsConnection = (link: Link): boolean => !(link instanceof SessionLink) && !(link instanceof StatelessLink);

const refusing = async (): Promise<RpcResponse> => ({
  kind: 'response',
  id: null,
  error: { code: methodNotFound, message: 'The client cannot be asked' },
});

export const jsonReply = (status: number, body: string, headers: Readonly<Record<string, string>> = {}): Reply => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: new TextEncoder().encode(body),
});

/** What the upstream can do and we hand on. */
const proxied = ['tools', 'prompts', 'resources', 'logging', 'completions', 'tasks', 'experimental', 'extensions'];

export const proxiedCapabilities = (capabilities: JsonRpcFields): JsonRpcFields =>
  Object.fromEntries(proxied.flatMap((name) => (capabilities[name] === undefined ? [] : [[name, capabilities[name]]])));

const initializeResult = (version: string, { capabilities, serverInfo, instructions }: ServerFacts): JsonRpcFields => ({
  protocolVersion: version,
  capabilities: proxiedCapabilities(capabilities),
  serverInfo: { name: 'unknown', version: '0', ...serverInfo },
  ...(instructions !== null && { instructions }),
});

export const paramHeaders = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('mcp-param-')));

const writeEvent = ({ event }: LinkEvent): string => writeSse(event);

/** A change that an upstream of the stateless era tells, in the words of the session era; null for what is its own. */
function asSessionEvent({ message, event }: LinkEvent): LinkEvent | null {
  if (message?.kind !== 'notification' || message.method === 'notifications/subscriptions/acknowledged') return null;
  const { _meta, ...params } = message.params;
  const meta = isFields(_meta)
    ? Object.fromEntries(Object.entries(_meta).filter(([name]) => name !== metaKeys.subscriptionId))
    : {};
  const shown = { ...message, params: Object.keys(meta).length > 0 ? { ...params, _meta: meta } : params };
  const data = asText({ jsonrpc: '2.0', method: shown.method, params: shown.params });
  return { message: shown, event: { ...event, id: null, data } };
}
