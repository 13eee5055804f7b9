/** Clients of the stateless era: every request stands for itself. */
import { Abort } from '../../wire/abort.ts';
import type { Reply } from '../../wire/server/reply.ts';
import { type CallContext, leaseFor } from '../call-context.ts';
import { type Called, textOfCalled, type Way } from '../called.ts';
import { call } from '../calls.ts';
import type { McpDeps } from '../deps.ts';
import { McpError, noSuchMethod } from '../errors.ts';
import { logAnswer } from '../log.ts';
import {
  isFields,
  type JsonRpcFields,
  methodNotFound,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
} from '../protocol/json-rpc.ts';
import { clientMethods, isListMethod, metaKeys, statelessMethods, statelessVersion } from '../protocol/versions.ts';
import { hasTaskExtension, requireTaskExtension } from '../tasks/capability.ts';
import { isTaskMethod } from '../tasks/relay.ts';
import type { Link, LinkEvent, ServerFacts } from '../upstream/link.ts';
import type { Wanted } from '../upstream/open.ts';
import { paramHeaders, proxiedCapabilities } from './capabilities.ts';
import { failedAnswer } from './ended.ts';
import { EventStream, type KeepAlive } from './event-stream.ts';
import type { McpResponder } from './responder.ts';
import { mostAnswered } from './server-requests.ts';
import type { Posted } from './session-era.ts';
import { acknowledged, type Subscription, subscriptionOf, tellOn } from './stateless-listen.ts';
import { OpenCall, SuspendedCalls } from './suspended.ts';

/** What a client may keep of a list: it is filtered for one caller. */
const listTtlMs = 60_000;
const cacheable = new Set([
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'server/discover',
]);

/** A request on its way, and where its answer goes. */
export interface StatelessPost {
  context: CallContext;
  request: RpcRequest;
  posted: Posted;
  responder: McpResponder;
  /** Pulled when the client leaves. */
  abort: Abort;
}

export class StatelessEra {
  readonly #deps: McpDeps;
  readonly #keeper: KeepAlive;
  readonly #suspended: SuspendedCalls;

  constructor(deps: McpDeps, keeper: KeepAlive) {
    this.#deps = deps;
    this.#keeper = keeper;
    this.#suspended = new SuspendedCalls(deps.seal);
  }

  close(): void {
    this.#suspended.close();
  }

  /** Core notifications do not exist in this era; an extension's is taken and goes nowhere. */
  notified(context: CallContext, message: RpcNotification, text: string): Reply {
    logAnswer(this.#deps, context, { message, text }, { text: null, status: 202, upstreamMs: 0 });
    return { status: 202, headers: {}, body: null };
  }

  contextOf(context: CallContext, { params }: RpcRequest): CallContext {
    const meta = isFields(params._meta) ? params._meta : {};
    const info = meta[metaKeys.clientInfo];
    const capabilities = meta[metaKeys.clientCapabilities];
    return {
      ...context,
      client: {
        info: isFields(info) ? info : { name: 'unknown', version: '0' },
        capabilities: isFields(capabilities) ? capabilities : {},
      },
    };
  }

  async post(posting: StatelessPost): Promise<void> {
    const { context, request, posted, responder } = posting;
    const startedAt = performance.now();
    try {
      if (!statelessMethods.has(request.method)) throw noSuchMethod(request.method, 404);
      const called =
        request.method === 'server/discover'
          ? discovered(request, await this.#factsOf(context))
          : await this.#asked(posting);
      const { response } = called;
      if (!response) throw new McpError('upstream_error', 'the upstream ended its stream before it had answered');
      const status = response.error ? statusOfError(response, called.status) : 200;
      const body = textOfCalled({ ...called, response });
      logAnswer(this.#deps, context, posted, { text: body, status, upstreamMs: performance.now() - startedAt, called });
      responder.finish(body, status);
    } catch (fault) {
      const { body, status, headers } = failedAnswer(this.#deps, context, posted, fault, {
        era: 'stateless',
        startedAt,
      });
      responder.finish(body, status, headers);
    }
  }

  async #asked(posting: StatelessPost): Promise<Called> {
    const { context, request } = posting;
    const link = await this.#link(context, false);
    if (isTaskMethod(request.method)) {
      if (!offersTasks(link)) throw noSuchMethod(request.method, 404);
      requireTaskExtension(context.client.capabilities);
    }
    return this.#called(posting, link);
  }

  /** Clients give up a server whose discovery fails, so a caller who must sign in first learns it from their next request. */
  async #factsOf(context: CallContext): Promise<Omit<ServerFacts, 'protocolVersion'>> {
    try {
      return (await this.#link(context, false)).facts;
    } catch (fault) {
      if (!(fault instanceof McpError) || fault.kind !== 'authorization_required') throw fault;
      const { name, metadata } = context.server;
      return {
        capabilities: metadata.capability_flags ?? { tools: {}, prompts: {}, resources: {} },
        serverInfo: { name: metadata.name ?? name, version: metadata.version ?? '0' },
        instructions: metadata.instructions ?? null,
      };
    }
  }

  async #called({ context, request, posted, responder, abort }: StatelessPost, link: Link): Promise<Called> {
    const way: Way = {
      link: (lost) => (lost ? this.#link(context, true) : Promise.resolve(link)),
      askClient: null,
      headers: paramHeaders(context.asked.headers),
      signal: abort,
    };
    if (link.era === 'stateless') return this.#through(context, request, posted, responder, way);
    const state = request.params.requestState;
    const owner = `${context.principal.id} ${context.server.id} ${request.method} ${String(request.params.name ?? request.params.uri ?? '')}`;
    const open =
      typeof state === 'string'
        ? this.#suspended.take(state, owner)
        : this.#begun(context, request, responder, way, link);
    if (typeof state === 'string') {
      open.answer(isFields(request.params.inputResponses) ? request.params.inputResponses : {});
    }
    const called = await open.next();
    if (called) return stamped(request, called);
    const result = {
      resultType: 'input_required',
      inputRequests: open.inputRequests,
      requestState: this.#suspended.keep(open, owner, context.identified.caller.organisationId),
    };
    return {
      response: { kind: 'response', id: request.id, result },
      text: null,
      status: 200,
      tokenRefreshed: false,
      guard: null,
    };
  }

  /** Both sides speak the same revision: bytes pass as they came wherever nothing is filtered. */
  async #through(
    context: CallContext,
    request: RpcRequest,
    posted: Posted,
    responder: McpResponder,
    way: Way,
  ): Promise<Called> {
    const called = await call(this.#deps, context, request, {
      ...way,
      bytes: posted.bytes,
      room: this.#deps.services.room(context.identified),
      onEvent: ({ message, event }) => {
        if (message?.kind === 'notification') responder.event({ ...event, id: null });
      },
    });
    const result = called.response?.result;
    if (!result || (!isListMethod(request.method) && result.resultType !== undefined)) return called;
    return stamped(request, called);
  }

  /** A call to an upstream of the session era: what it asks meanwhile becomes an input request. */
  #begun(context: CallContext, request: RpcRequest, responder: McpResponder, way: Way, link: Link): OpenCall {
    const params = withoutEnvelope(request.params);
    const { capabilities } = context.client;
    const logLevel = isFields(request.params._meta) ? request.params._meta[metaKeys.logLevel] : undefined;
    return new OpenCall(async (ask) => {
      if (typeof logLevel === 'string' && link.facts.capabilities.logging !== undefined) {
        await link.request({ id: 'gw-level', method: 'logging/setLevel', params: { level: logLevel } });
      }
      const id = `gw-${Bun.randomUUIDv7()}`;
      let answering = 0;
      const onEvent = ({ message, event }: LinkEvent) => {
        if (message?.kind === 'notification') {
          if (isWanted(message.method, logLevel)) responder.event({ data: event.data });
          return;
        }
        if (message?.kind !== 'request') return;
        const capability = clientMethods[message.method];
        const answered =
          capability && capabilities[capability] !== undefined
            ? ask(message)
            : Promise.resolve<RpcResponse>({
                kind: 'response',
                id: message.id,
                error: { code: methodNotFound, message: `The client does not support ${message.method}` },
              });
        // An upstream that asks without end is not answered without end.
        if (answering >= mostAnswered) return;
        answering++;
        answered
          .then((answer) => link.send({ ...answer, id: message.id }))
          .catch((fault) => this.#deps.onFault(fault, context.requestId))
          .finally(() => {
            answering--;
          });
      };
      const asked = capabilities.elicitation === undefined ? null : asker(ask);
      const cancel = () => {
        const told = { requestId: id, reason: 'the client left' };
        link
          .send({ kind: 'notification', method: 'notifications/cancelled', params: told })
          .catch((fault) => this.#deps.onFault(fault, context.requestId));
      };
      way.signal?.addEventListener('abort', cancel);
      const called = await call(this.#deps, context, { ...request, id, params }, { ...way, askClient: asked, onEvent });
      way.signal?.removeEventListener('abort', cancel);
      return { ...called, text: null, response: called.response && { ...called.response, id: request.id } };
    });
  }

  #link(context: CallContext, lost: boolean): Promise<Link> {
    const { server, identity, client } = context;
    const wanted: Wanted = { upstream: server, identity, client, era: 'stateless' };
    if (lost) this.#deps.pool.lost(wanted);
    return this.#deps.pool.get(wanted);
  }

  /** A stream of changes, until the client leaves. */
  async listen(context: CallContext, request: RpcRequest, posted: Posted): Promise<Reply> {
    const subscription = await this.subscription(context, request);
    const abort = new Abort();
    const stream = new EventStream(this.#keeper, leaseFor(this.#deps, context), () =>
      abort.abort(new McpError('upstream_error', 'the client left')),
    );
    const tell = tellOn(stream, request);
    tell(acknowledged, { notifications: subscription.honoured });
    logAnswer(this.#deps, context, posted, { text: null, status: 200, upstreamMs: 0 });
    subscription.follow(tell, abort).then(
      // An upstream without such a stream never tells a change; the client's stream stays open all the same.
      (had) => had && stream.end(),
      () => stream.end(),
    );
    return stream.reply();
  }

  /** What the upstream of a server will tell of what is asked for. */
  async subscription(context: CallContext, request: RpcRequest): Promise<Subscription> {
    const filter = isFields(request.params.notifications) ? request.params.notifications : {};
    return subscriptionOf(this.#deps, context, await this.#link(context, false), filter);
  }
}

const asker =
  (ask: (request: RpcRequest) => Promise<RpcResponse>) =>
  (method: string, params: JsonRpcFields): Promise<RpcResponse> =>
    ask({ kind: 'request', id: `gw-${Bun.randomUUIDv7()}`, method, params });

/** Only what belongs to the request itself may travel on its stream. */
const isWanted = (method: string, logLevel: unknown): boolean =>
  method === 'notifications/progress' || (method === 'notifications/message' && typeof logLevel === 'string');

function withoutEnvelope(params: JsonRpcFields): JsonRpcFields {
  const { _meta, inputResponses: _responses, requestState: _state, ...rest } = params;
  if (!isFields(_meta)) return rest;
  const own = Object.entries(_meta).filter(([name]) => !name.startsWith('io.modelcontextprotocol/'));
  return own.length > 0 ? { ...rest, _meta: Object.fromEntries(own) } : rest;
}

/** The result in the form of this era. */
function stamped({ method }: RpcRequest, called: Called): Called {
  const result = called.response?.result;
  if (!called.response || !result) return called;
  const hints = cacheable.has(method)
    ? {
        ttlMs:
          typeof result.ttlMs === 'number' ? Math.min(result.ttlMs, listTtlMs) : isListMethod(method) ? listTtlMs : 0,
        cacheScope: 'private',
      }
    : {};
  return {
    ...called,
    text: null,
    response: { ...called.response, result: { resultType: 'complete', ...result, ...hints } },
  };
}

export const listHints = { ttlMs: listTtlMs, cacheScope: 'private' } as const;

export const discoverResult = ({
  capabilities,
  serverInfo,
  instructions,
}: Omit<ServerFacts, 'protocolVersion'>): JsonRpcFields => ({
  resultType: 'complete',
  supportedVersions: [statelessVersion],
  capabilities: statelessCapabilities(capabilities),
  ...(instructions !== null && { instructions }),
  ...listHints,
  _meta: { [metaKeys.serverInfo]: { name: 'unknown', version: '0', ...serverInfo } },
});

const discovered = (request: RpcRequest, facts: Omit<ServerFacts, 'protocolVersion'>): Called => ({
  response: { kind: 'response', id: request.id, result: discoverResult(facts) },
  text: null,
  status: 200,
  tokenRefreshed: false,
  guard: null,
});

/** The tasks of the session era are none of this one. */
function statelessCapabilities(capabilities: JsonRpcFields): JsonRpcFields {
  const { tasks: _tasks, ...rest } = proxiedCapabilities(capabilities);
  return rest;
}

const offersTasks = ({ era, facts }: Link): boolean => era === 'stateless' && hasTaskExtension(facts.capabilities);

/** Errors of the protocol keep the status that their revision gives them; all others are answers. */
const statusOfError = ({ error }: RpcResponse, status: number): number =>
  error && status >= 400 && status < 500 && [-32020, -32021, -32022, -32601].includes(error.code)
    ? status
    : error?.code === -32021
      ? 400
      : 200;
