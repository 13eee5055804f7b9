/** Guardrails around tool calls: on the arguments before, on the result after, also where the result comes later, as that of a task. */
import { guardsOfServer } from '../catalog/guards.ts';
import type { ServiceGuard } from '../gateway/guardrails/service-guard.ts';
import { hookResults } from '../gateway/guardrails/state.ts';
import type { JsonObject } from '../providers/provider.ts';
import type { CallContext } from './call-context.ts';
import type { Called } from './called.ts';
import type { McpDeps } from './deps.ts';
import { serviceContext } from './log.ts';
import { isFields, type JsonRpcFields, type RpcRequest } from './protocol/json-rpc.ts';
import type { LinkRequest } from './upstream/link.ts';

export async function guarded(
  guard: ServiceGuard,
  request: RpcRequest,
  bytes: LinkRequest['bytes'],
  ask: (request: RpcRequest, bytes: LinkRequest['bytes']) => Promise<Called>,
): Promise<Called> {
  const params: JsonObject = { ...request.params };
  const before = await guard.before(params);
  if (before.denial !== null) return denied(request, before.denial, guard);
  const isChanged = before.value !== params;
  const answer = await ask(isChanged ? { ...request, params: before.value } : request, isChanged ? undefined : bytes);
  const result = answer.response?.result;
  if (!answer.response || !result) return { ...answer, guard: guard.state };
  const json: JsonObject = { ...result };
  const after = await guard.after(json);
  if (after.denial !== null) return denied(request, after.denial, guard);
  const { told } = guard;
  if (after.value === json && !told) return { ...answer, guard: guard.state };
  const shown = told ? withMeta(after.value, { 'gw/hook_results': told }) : after.value;
  return { ...answer, response: { ...answer.response, result: shown }, text: null, guard: guard.state };
}

const withMeta = (result: JsonRpcFields, meta: JsonRpcFields): JsonRpcFields => ({
  ...result,
  _meta: { ...(isFields(result._meta) ? result._meta : {}), ...meta },
});

/** A denial is a result that the model reads, not an error of the protocol. */
export function denied({ id }: RpcRequest, message: string, guard: ServiceGuard | null): Called {
  return {
    response: { kind: 'response', id, result: denial(message, guard) },
    text: null,
    status: 200,
    tokenRefreshed: false,
    guard: guard?.state ?? null,
  };
}

function denial(message: string, guard: ServiceGuard | null): JsonRpcFields {
  const result = { isError: true, content: [{ type: 'text', text: message }] };
  return guard ? withMeta(result, { 'gw/hook_results': hookResults(guard.state) }) : result;
}

/** What the caller may see of a result that came after its call was answered; the very same object where nothing changed. */
export async function checkedResult(
  deps: McpDeps,
  context: CallContext,
  tool: string,
  result: JsonRpcFields,
): Promise<JsonRpcFields> {
  const guards = guardsOfServer(context.principal.workspace, context.server);
  if (!guards) return result;
  const request: RpcRequest = { kind: 'request', id: 'gw-task', method: 'tools/call', params: { name: tool } };
  const guard = deps.services.guard(serviceContext(deps, context, request), guards);
  if (guards.fault !== null) return denial(`The call cannot be checked: ${guards.fault}.`, guard);
  const json: JsonObject = { ...result };
  const after = await guard.after(json);
  if (after.denial !== null) return denial(after.denial, guard);
  const { told } = guard;
  if (after.value === json && !told) return result;
  return told ? withMeta(after.value, { 'gw/hook_results': told }) : after.value;
}
