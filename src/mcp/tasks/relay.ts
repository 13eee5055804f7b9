/** Tasks that tool calls have begun. Only the caller who began a task may ask for it, as long as they may use the tool. */
import type { CapabilityDefinition } from '../../catalog/mcp/types.ts';
import type { MaybePromise } from '../../maybe-promise.ts';
import { authoriseTool } from '../access.ts';
import type { CallContext } from '../call-context.ts';
import type { Called } from '../called.ts';
import type { McpDeps } from '../deps.ts';
import { McpError, noSuchTask } from '../errors.ts';
import { isFields, type JsonRpcFields, type RpcRequest } from '../protocol/json-rpc.ts';
import type { TaskFacts } from './owners.ts';
import { shownResult } from './results.ts';

export const isTaskMethod = (method: string): boolean => method.startsWith('tasks/');

/** These change what a task does. */
const changing: ReadonlySet<string> = new Set(['tasks/cancel', 'tasks/update']);

export interface TaskRelay {
  send(request: RpcRequest): Promise<Called>;
  definitionOf(tool: string): Promise<CapabilityDefinition | null>;
}

export async function relayedTask(
  deps: McpDeps,
  context: CallContext,
  request: RpcRequest,
  relay: TaskRelay,
): Promise<Called> {
  if (request.method === 'tasks/list') return ownTasks(deps, context, request, relay);
  const { taskId } = request.params;
  if (typeof taskId !== 'string' || taskId === '') throw new McpError('invalid_params', 'params.taskId must be text');
  const facts = await ownTask(deps, context, taskId);
  if (!facts) throw noSuchTask();
  await authoriseTool(context, facts.tool, { changes: changing.has(request.method) }, relay.definitionOf).catch(
    (fault) => {
      throw fault instanceof McpError && fault.kind === 'tool_not_available' ? noSuchTask() : fault;
    },
  );
  const called = await relay.send(request);
  const result = called.response?.result;
  if (!called.response || !result) return called;
  const checked = (one: JsonRpcFields) => shownResult(deps, context, taskId, facts, one);
  const shown = request.method === 'tasks/result' ? await checked(result) : await checkedTask(result, checked);
  return shown === result ? called : { ...called, response: { ...called.response, result: shown }, text: null };
}

/** A task of the stateless era holds the result of its tool once it is there. */
export async function checkedTask(
  task: JsonRpcFields,
  checked: (result: JsonRpcFields) => Promise<JsonRpcFields>,
): Promise<JsonRpcFields> {
  if (!isFields(task.result)) return task;
  const result = await checked(task.result);
  return result === task.result ? task : { ...task, result };
}

/** Remembers the task that a call of a tool has begun. */
export function noteTask(deps: McpDeps, context: CallContext, tool: string, result: JsonRpcFields | undefined): void {
  const made = result && (result.resultType === 'task' ? result : result.task);
  if (!isFields(made) || typeof made.taskId !== 'string') return;
  deps.tasks.claim(context.server.id, made.taskId, { owner: ownerOf(context), tool });
}

/** The caller's own task; null where it is none, or of somebody else. */
export function ownTask(deps: McpDeps, context: CallContext, taskId: string): MaybePromise<TaskFacts | null> {
  const own = (facts: TaskFacts | null) => (facts?.owner === ownerOf(context) ? facts : null);
  const found = deps.tasks.of(context.server.id, taskId);
  return found instanceof Promise ? found.then(own) : own(found);
}

/** A person owns the tasks of all their keys and sign-ins. */
const ownerOf = ({ principal: { userId, id } }: CallContext): string =>
  userId === null ? `key:${id}` : `user:${userId}`;

/** More pages than this are somebody else's business. */
const mostPages = 20;

/** The caller's tasks. A page that holds only tasks of others is left out, so that nobody asks for pages without end. */
async function ownTasks(deps: McpDeps, context: CallContext, request: RpcRequest, relay: TaskRelay): Promise<Called> {
  let asked = request;
  for (let page = 1; ; page++) {
    const called = await relay.send(asked);
    const result = called.response?.result;
    if (!called.response || !result || !Array.isArray(result.tasks)) return called;
    const shown = await mayBeShown(deps, context, result.tasks, relay);
    const cursor = result.nextCursor;
    if (shown.length > 0 || typeof cursor !== 'string' || page >= mostPages) {
      return { ...called, response: { ...called.response, result: { ...result, tasks: shown } }, text: null };
    }
    asked = { ...request, params: { ...request.params, cursor } };
  }
}

async function mayBeShown(
  deps: McpDeps,
  context: CallContext,
  tasks: readonly unknown[],
  { definitionOf }: TaskRelay,
): Promise<JsonRpcFields[]> {
  const shown: JsonRpcFields[] = [];
  for (const task of tasks) {
    if (!isFields(task) || typeof task.taskId !== 'string') continue;
    const facts = await ownTask(deps, context, task.taskId);
    if (facts && (await mayAskFor(context, facts, definitionOf))) shown.push(task);
  }
  return shown;
}

/** Whether the tool that made a task may still be used. */
export const mayAskFor = (
  context: CallContext,
  { tool }: TaskFacts,
  definitionOf: TaskRelay['definitionOf'],
): Promise<boolean> =>
  authoriseTool(context, tool, { changes: false }, definitionOf).then(
    () => true,
    (fault) => {
      if (fault instanceof McpError && fault.kind === 'tool_not_available') return false;
      throw fault;
    },
  );
