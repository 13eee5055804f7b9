/** Clients of the session era: initialize, then messages, a stream of their own, and an end. */
import type { Reply } from '../../wire/server/reply.ts';
import type { CallContext } from '../call-context.ts';
import { type Called, textOfCalled, type Way } from '../called.ts';
import { call } from '../calls.ts';
import type { McpDeps } from '../deps.ts';
import { McpError, noSuchMethod, sessionLost } from '../errors.ts';
import { logAnswer } from '../log.ts';
import { metadataOf } from '../probe.ts';
import {
  type JsonRpcFields,
  type RpcMessage,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
  resultMessage,
} from '../protocol/json-rpc.ts';
import { isSessionVersion, newestSessionVersion, sessionMethods } from '../protocol/versions.ts';
import { withoutTasks } from '../tasks/capability.ts';
import { type Link, type LinkEvent, type ServerFacts, SessionLost } from '../upstream/link.ts';
import { clientOf, initializeResult, paramHeaders } from './capabilities.ts';
import { answerHere, failedAnswer, type ShownFailure } from './ended.ts';
import type { KeepAlive } from './event-stream.ts';
import { withInputs } from './inputs.ts';
import type { McpResponder } from './responder.ts';
import { asker, cannotBeAsked, passes, tellingInOrder } from './server-requests.ts';
import { listened } from './session-listen.ts';
import { openSession, type SessionState, sealSession } from './session-token.ts';
import { heldMark, holdsConnection, type InSession, linkOf } from './session-upstream.ts';
import type { Sessions } from './sessions.ts';

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
      const { body, status, headers } = this.#failure(context, { message: request, text }, fault, startedAt);
      return jsonReply(status, body, headers);
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
        sessionId: held ? heldMark : link.sessionId,
        version: link.facts.protocolVersion,
        capabilities: inSession(link).capabilities,
      },
      openedAt: this.#deps.clock.now().getTime(),
    };
    const token = sealSession(this.#deps.seal, state);
    const digest = digestOf(token);
    const local = this.#sessions.touch(digest);
    if (local && held) local.link = link;
    return { result: initializeResult(version, inSession(link)), token, digest };
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
      const { body, status, headers } = this.#failure(session.context, posted, fault, startedAt);
      responder.finish(body, status, headers);
    }
  }

  async #forward(session: InSession, message: RpcNotification | RpcResponse, { bytes }: Posted): Promise<void> {
    try {
      await (await linkOf(this.#deps, session, false)).send(message, bytes);
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
        answerHere(this.#deps, context, request, posted, responder, local);
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
      const { body, status, headers } = this.#failure(context, posted, fault, startedAt);
      responder.finish(body, status, headers);
    }
  }

  /** An upstream of the stateless era says what it needs in its result; the client is asked for it here. */
  #called(session: InSession, request: RpcRequest, way: Way): Promise<Called> {
    if (session.state.upstream.era === 'session') return call(this.#deps, session.context, request, way);
    const ask = way.askClient ?? cannotBeAsked;
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
    const tell = tellingInOrder<LinkEvent>(
      (event) => passes(this.#deps, session, event),
      ({ event }) => responder.event(event),
      (fault) => this.#deps.onFault(fault, context.requestId),
    );
    return {
      link: (lost) => linkOf(this.#deps, session, lost),
      askClient: canAsk || state.upstream.era === 'stateless' ? asker(session, (one) => responder.message(one)) : null,
      bytes: posted.bytes,
      room: this.#deps.services.room(context.identified),
      resume: state.upstream.era !== 'session',
      headers: paramHeaders(context.asked.headers),
      onEvent: (event) => {
        if (event.message?.kind === 'response') {
          sawAnswer(event.event.id);
          return;
        }
        tell(event);
      },
    };
  }

  /** The stream on which the upstream speaks by itself. */
  listen(session: InSession, lastEventId: string | undefined): Promise<Reply> {
    return listened(this.#deps, this.#keeper, session, lastEventId);
  }

  async end(session: InSession, header: string): Promise<Reply> {
    const digest = digestOf(header);
    const link = await linkOf(this.#deps, session, false).catch(() => null);
    this.#sessions.end(digest);
    this.#deps.announceEnd(digest);
    // The client has gone whatever the upstream says to it.
    await link?.close().catch(() => undefined);
    return { status: 204, headers: {}, body: null };
  }

  #failure(context: CallContext, posted: Omit<Posted, 'bytes'>, fault: unknown, startedAt: number): ShownFailure {
    return failedAnswer(this.#deps, context, posted, fault, { era: 'session', startedAt });
  }
}

/** What a client of this era is told of an upstream. */
const inSession = ({ era, facts }: Link): ServerFacts =>
  era === 'session' ? facts : { ...facts, capabilities: withoutTasks(facts.capabilities) };

export const digestOf = (text: string): string => Bun.CryptoHasher.hash('sha256', text, 'hex');

export const jsonReply = (status: number, body: string, headers: Readonly<Record<string, string>> = {}): Reply => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: new TextEncoder().encode(body),
});
