/** One request to an upstream, from the checks before it to the answer that the caller may see. */

import { guardsOfServer } from '../catalog/guards.ts';
import type { CapabilityDefinition } from '../catalog/mcp/types.ts';
import type { RequestContext } from '../gateway/context.ts';
import { GatewayError } from '../gateway/errors.ts';
import { authorise, isRepeatable, readsOnly, visible } from './access.ts';
import { approved } from './approval.ts';
import { allowedByWebhook } from './authorisation-webhook.ts';
import type { CallContext } from './call-context.ts';
import type { Called, Way } from './called.ts';
import type { McpDeps } from './deps.ts';
import { McpError, ofGateway, unknownTool } from './errors.ts';
import { denied, guarded } from './guarded.ts';
import { listAll } from './lists.ts';
import { meteredTokens, serviceContext } from './log.ts';
import { pageOf } from './paging.ts';
import { isFields, type JsonRpcFields, type RpcRequest } from './protocol/json-rpc.ts';
import { isListMethod, type ListMethod, listMethods, readMethods } from './protocol/versions.ts';
import { isTaskMethod, noteTask, relayedTask } from './tasks/relay.ts';
import { executedTool, searchResult, searchTools, toolSearchNames } from './tool-search.ts';
import { type LinkRequest, SessionLost } from './upstream/link.ts';

/** What fetches or does something counts against limits; lists and the rest of the protocol do not. */
const countedMethods: ReadonlySet<string> = new Set([
  'tools/call',
  'prompts/get',
  'resources/read',
  'completion/complete',
]);

const tries = 2;
const firstPauseMs = 250;

export async function call(deps: McpDeps, context: CallContext, request: RpcRequest, way: Way): Promise<Called> {
  const { server } = context;
  if (isListMethod(request.method)) return listed(deps, context, request, request.method, way);
  const search = server.settings.tool_search === true && request.method === 'tools/call';
  if (search && request.params.name === toolSearchNames.search) return searched(deps, context, request, way);
  const asked = search ? executedTool(request) : request;
  const definitionOf = (tool: string) => definition(deps, context, way, tool);
  if (isTaskMethod(asked.method)) {
    return relayedTask(deps, context, asked, {
      definitionOf,
      send: (one) => sent(deps, context, one, way, one === request ? way.bytes : undefined),
    });
  }
  await authorise(context, asked, definitionOf);
  if (!countedMethods.has(asked.method)) return sent(deps, context, asked, way, way.bytes);
  const called = await admitted(deps, context, asked, way, asked === request);
  if (asked.method === 'tools/call') noteTask(deps, context, String(asked.params.name), called.response?.result);
  return called;
}

/** The limits and guardrails that stand around what is asked of an upstream. */
async function admitted(deps: McpDeps, context: CallContext, request: RpcRequest, way: Way, unchanged: boolean) {
  const { server, identified, principal } = context;
  const isToolCall = request.method === 'tools/call';
  const guards = isToolCall ? guardsOfServer(principal.workspace, server) : null;
  const isLimited = server.settings.rate_limit !== undefined || deps.services.isLimited(identified);
  const bytes = unchanged ? way.bytes : undefined;
  if (!guards && !isLimited) {
    const refusal = isToolCall ? await refused(deps, context, request, way) : null;
    return refusal === null ? sent(deps, context, request, way, bytes) : denied(request, refusal, null);
  }
  const own = serviceContext(deps, context, request);
  const tokens = () => meteredTokens(JSON.stringify(request.params.arguments ?? {}));
  const name = String(request.params.name ?? request.params.uri ?? request.method);
  const admission = isLimited ? await counted(deps, own, () => tokens() + deps.resultSizes.of(server.id, name)) : null;
  let reached = false;
  try {
    const refusal = isToolCall ? await refused(deps, context, request, way) : null;
    if (refusal !== null) return denied(request, refusal, null);
    const ask = (asked: RpcRequest, written: LinkRequest['bytes']) => {
      reached = true;
      return sent(deps, context, asked, way, written);
    };
    const called = guards
      ? await guarded(deps.services.guard(own, guards), request, bytes, ask)
      : await ask(request, bytes);
    if (admission?.countsTokens) {
      const taken = meteredTokens(JSON.stringify(called.response?.result ?? {}));
      deps.resultSizes.learn(server.id, name, taken);
      admission.end(reached, tokens() + taken);
    }
    return called;
  } finally {
    admission?.end(reached, admission.countsTokens ? tokens() : 0);
  }
}

const counted = async (deps: McpDeps, own: RequestContext, tokens: () => number) => {
  try {
    return await deps.services.admit(own, tokens);
  } catch (fault) {
    throw fault instanceof GatewayError ? ofGateway(fault) : fault;
  }
};

/** Who must agree to a tool call before it is made; null where they do. */
async function refused(deps: McpDeps, context: CallContext, request: RpcRequest, way: Way): Promise<string | null> {
  await allowedByWebhook(deps, context, request.params);
  return approved(context.server.settings.require_approval ?? [], request.params, way.askClient);
}

/** Asks the upstream: again where a session was lost, or where a failed connection did no harm. */
async function sent(
  deps: McpDeps,
  context: CallContext,
  request: RpcRequest,
  way: Way,
  bytes: LinkRequest['bytes'],
): Promise<Called> {
  let lost = false;
  for (let attempt = 1; ; attempt++) {
    try {
      const link = await way.link(lost);
      const answer = await link.request({
        id: request.id,
        method: request.method,
        params: request.params,
        ...(bytes && { bytes }),
        ...(way.headers && { headers: way.headers }),
        ...(way.room && { room: way.room }),
        ...(way.signal && { signal: way.signal }),
        ...(way.onEvent && { onEvent: way.onEvent }),
        ...(way.resume !== undefined && { resume: way.resume }),
      });
      return { ...answer, guard: null };
    } catch (fault) {
      if (fault instanceof SessionLost && !lost) {
        lost = true;
        continue;
      }
      if (fault instanceof SessionLost)
        throw new McpError('upstream_error', 'the upstream forgets every session that is opened');
      if (attempt >= tries || !mayRepeat(deps, context, request, fault)) throw fault;
      await deps.upstream.pause(firstPauseMs * 2 ** (attempt - 1));
    }
  }
}

function mayRepeat(
  { definitions }: McpDeps,
  { server, identity }: CallContext,
  request: RpcRequest,
  fault: unknown,
): boolean {
  if (server.settings.retries === 0 || !(fault instanceof McpError)) return false;
  if (fault.kind !== 'upstream_error' && fault.kind !== 'rate_limited') return false;
  if (readMethods.has(request.method)) return true;
  const known = definitions.known(server, identity)?.get(String(request.params.name));
  return request.method === 'tools/call' && isRepeatable(known ?? null);
}

/** All that the caller may see of a list, in pages of our own. */
async function listed(
  deps: McpDeps,
  context: CallContext,
  request: RpcRequest,
  method: ListMethod,
  way: Way,
): Promise<Called> {
  const { field, type } = listMethods[method];
  const { items, rest, tokenRefreshed } = await whole(deps, context, request.params, method, way);
  const shown = items.filter((item) => visible(context, type, item));
  const offered = method === 'tools/list' && context.server.settings.tool_search === true ? [...searchTools] : shown;
  const { page, nextCursor } = pageOf(offered, request.params.cursor);
  const result = { ...rest, [field]: page, ...(nextCursor !== null && { nextCursor }) };
  return {
    response: { kind: 'response', id: request.id, result },
    text: null,
    status: 200,
    tokenRefreshed,
    guard: null,
  };
}

async function whole(deps: McpDeps, context: CallContext, params: JsonRpcFields, method: ListMethod, way: Way) {
  const { server, identity } = context;
  const ask = async (lost: boolean) => {
    const link = await way.link(lost);
    return listAll(link, method, { params, ...(way.signal && { signal: way.signal }) });
  };
  const list = await ask(false).catch((fault) => {
    if (fault instanceof SessionLost) return ask(true);
    throw fault;
  });
  if (method === 'tools/list') deps.definitions.learn(server, identity, list.items);
  deps.observe(server, { lists: { [listMethods[method].type]: list.items } });
  return list;
}

/** What a tool is, as the upstream lists it; null where it does not. */
async function definition(
  deps: McpDeps,
  context: CallContext,
  way: Way,
  tool: string,
): Promise<CapabilityDefinition | null> {
  const known = deps.definitions.known(context.server, context.identity);
  if (known) return known.get(tool) ?? null;
  const { items } = await whole(deps, context, {}, 'tools/list', way);
  return items.find(({ name }) => name === tool) ?? null;
}

/** The tools that the caller may use, as the upstream defines them. */
export async function usableTools(deps: McpDeps, context: CallContext, way: Way): Promise<CapabilityDefinition[]> {
  const known = deps.definitions.known(context.server, context.identity);
  const items = known ? [...known.values()] : (await whole(deps, context, {}, 'tools/list', way)).items;
  const onlyReads = readsOnly(context.principal);
  return items.filter(
    (item) =>
      visible(context, 'tool', item) &&
      (!onlyReads || (isFields(item.annotations) && item.annotations.readOnlyHint === true)),
  );
}

async function searched(deps: McpDeps, context: CallContext, request: RpcRequest, way: Way): Promise<Called> {
  const tools = await usableTools(deps, context, way);
  if (!isFields(request.params.arguments)) throw unknownTool(String(request.params.name));
  return {
    response: { kind: 'response', id: request.id, result: searchResult(tools, request.params.arguments) },
    text: null,
    status: 200,
    tokenRefreshed: false,
    guard: null,
  };
}
