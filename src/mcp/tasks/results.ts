/** Results of tasks: guardrails check each as often as it is asked for, and policies on the tokens of tools count it once. */
import { GatewayError } from '../../gateway/errors.ts';
import type { CallContext } from '../call-context.ts';
import type { McpDeps } from '../deps.ts';
import { ofGateway } from '../errors.ts';
import { checkedResult } from '../guarded.ts';
import { meteredTokens, serviceContext } from '../log.ts';
import type { JsonRpcFields, RpcRequest } from '../protocol/json-rpc.ts';
import type { TaskFacts } from './owners.ts';

/** What the caller may see of a task's result; throws where a limit is used up. */
export async function shownResult(
  deps: McpDeps,
  context: CallContext,
  taskId: string,
  facts: TaskFacts,
  result: JsonRpcFields,
): Promise<JsonRpcFields> {
  const shown = await checkedResult(deps, context, facts.tool, result);
  if (!deps.services.isLimited(context.identified)) return shown;
  const request: RpcRequest = { kind: 'request', id: 'gw-task', method: 'tools/call', params: { name: facts.tool } };
  const count = deps.services.resultCounter(serviceContext(deps, context, request));
  if (!count) return shown;
  try {
    await deps.tasks.countOnce(context.server.id, taskId, facts, () => count(meteredTokens(JSON.stringify(shown))));
  } catch (fault) {
    throw fault instanceof GatewayError ? ofGateway(fault) : fault;
  }
  return shown;
}
