/** Several servers behind one address, for clients of the stateless era. */
import { Abort } from '../../wire/abort.ts';
import type { Reply } from '../../wire/server/reply.ts';
import { type CallContext, leaseFor } from '../call-context.ts';
import { failed } from '../called.ts';
import { answerHere, failedAnswer } from '../client/ended.ts';
import { EventStream, type KeepAlive } from '../client/event-stream.ts';
import type { Posted } from '../client/session-era.ts';
import { discoverResult, listHints, type StatelessEra, type StatelessPost } from '../client/stateless-era.ts';
import { acknowledged, tellOn } from '../client/stateless-listen.ts';
import type { McpDeps } from '../deps.ts';
import { McpError, noSuchMethod } from '../errors.ts';
import { logAnswer } from '../log.ts';
import { isFields, type JsonRpcFields, type RpcRequest } from '../protocol/json-rpc.ts';
import { isListMethod, statelessMethods } from '../protocol/versions.ts';
import { requireTaskExtension, taskExtension } from '../tasks/capability.ts';
import { isTaskMethod } from '../tasks/relay.ts';
import type { ServerFacts } from '../upstream/link.ts';
import { joinedList } from './lists.ts';
import { joinedName, joinedNotification, joinedUri, routedRequest } from './names.ts';
import { JoinedResponder } from './responder.ts';
import { postedOf, routedTo } from './routed.ts';
import { contextFor, joinedFacts, usableServers } from './servers.ts';

export class JoinedStateless {
  readonly #deps: McpDeps;
  readonly #era: StatelessEra;
  readonly #keeper: KeepAlive;

  constructor(deps: McpDeps, era: StatelessEra, keeper: KeepAlive) {
    this.#deps = deps;
    this.#era = era;
    this.#keeper = keeper;
  }

  async post(posting: StatelessPost): Promise<void> {
    const { context, posted, responder } = posting;
    const startedAt = performance.now();
    try {
      await this.#answered(posting);
    } catch (fault) {
      const { body, status, headers } = failedAnswer(this.#deps, context, posted, fault, {
        era: 'stateless',
        startedAt,
      });
      responder.finish(body, status, headers);
    }
  }

  async #answered({ context, request, posted, responder, abort }: StatelessPost): Promise<void> {
    if (!statelessMethods.has(request.method)) throw noSuchMethod(request.method, 404);
    const servers = usableServers(context.principal);
    const answer = (result: JsonRpcFields) => answerHere(this.#deps, context, request, posted, responder, result);
    if (request.method === 'server/discover') return answer(discoverResult(withTasks(joinedFacts(context.principal))));
    if (isTaskMethod(request.method)) requireTaskExtension(context.client.capabilities);
    if (isListMethod(request.method)) {
      const list = await joinedList(request, request.method, servers, async (server, asked, to) =>
        this.#era.post({
          context: await contextFor(this.#deps, context, server),
          request: asked,
          posted: postedOf(asked),
          responder: to,
          abort,
        }),
      );
      return answer({ resultType: 'complete', ...list, ...listHints });
    }
    const { server, request: asked } = routedTo(request, servers);
    const to = new JoinedResponder(responder, server.slug, request.method, (id) => id);
    const own = await contextFor(this.#deps, context, server);
    await this.#era.post({ context: own, request: asked, posted: postedOf(asked), responder: to, abort });
  }

  /** The changes of all servers on one stream. */
  async listen(context: CallContext, request: RpcRequest, posted: Posted): Promise<Reply> {
    const servers = usableServers(context.principal);
    const slugs = servers.map(({ slug }) => slug);
    const found = await Promise.all(
      servers.map(async (server) => {
        const own = filterFor(request, slugs, server.slug);
        const asked = { ...request, params: { ...request.params, notifications: own } };
        try {
          const child = await contextFor(this.#deps, context, server);
          return { slug: server.slug, subscription: await this.#era.subscription(child, asked) };
        } catch (fault) {
          // A server that cannot be reached tells no changes.
          failed(fault, (one) => this.#deps.onFault(one, context.requestId));
          return null;
        }
      }),
    );
    const reached = found.filter((one) => one !== null);
    const abort = new Abort();
    const stream = new EventStream(this.#keeper, leaseFor(this.#deps, context), () =>
      abort.abort(new McpError('upstream_error', 'the client left')),
    );
    const tell = tellOn(stream, request);
    tell(acknowledged, {
      notifications: honouredBy(reached.map(({ slug, subscription }) => [slug, subscription.honoured])),
    });
    logAnswer(this.#deps, context, posted, { text: null, status: 200, upstreamMs: 0 });
    for (const { slug, subscription } of reached) {
      subscription
        .follow((method, params) => tell(method, joinedNotification(slug, method, params)), abort)
        .catch((fault) => failed(fault, (one) => this.#deps.onFault(one, context.requestId)));
    }
    return stream.reply();
  }
}

/** Servers of this era may have tasks; which of them do shows when one is called. */
const withTasks = (facts: Omit<ServerFacts, 'protocolVersion'>): Omit<ServerFacts, 'protocolVersion'> => ({
  ...facts,
  capabilities: { ...facts.capabilities, extensions: { [taskExtension]: {} } },
});

/** What of the wanted changes concerns one server, in its own words. */
function filterFor(request: RpcRequest, slugs: readonly string[], slug: string): JsonRpcFields {
  const { notifications } = request.params;
  if (!isFields(notifications)) return {};
  const { resourceSubscriptions, taskIds, ...lists } = notifications;
  const ofServer = (list: unknown, method: string, field: string): unknown[] =>
    (Array.isArray(list) ? list : []).flatMap((name) => {
      const routed = routedRequest({ ...request, method, params: { [field]: name } }, slugs);
      return routed?.slug === slug ? [routed.request.params[field]] : [];
    });
  const uris = ofServer(resourceSubscriptions, 'resources/read', 'uri');
  const tasks = ofServer(taskIds, 'tasks/get', 'taskId');
  return {
    ...lists,
    ...(uris.length > 0 && { resourceSubscriptions: uris }),
    ...(tasks.length > 0 && { taskIds: tasks }),
  };
}

function honouredBy(parts: readonly (readonly [string, JsonRpcFields])[]): JsonRpcFields {
  const joined: Record<string, unknown> = {};
  const uris: string[] = [];
  const tasks: string[] = [];
  for (const [slug, { resourceSubscriptions, taskIds, ...lists }] of parts) {
    Object.assign(joined, lists);
    if (Array.isArray(resourceSubscriptions))
      uris.push(...resourceSubscriptions.map((uri) => joinedUri(slug, String(uri))));
    if (Array.isArray(taskIds)) tasks.push(...taskIds.map((id) => joinedName(slug, String(id))));
  }
  return {
    ...joined,
    ...(uris.length > 0 && { resourceSubscriptions: uris }),
    ...(tasks.length > 0 && { taskIds: tasks }),
  };
}
