/** What servers ask of clients, and what the gateway asks of them itself, within a session. */
import type { MaybePromise } from '../../maybe-promise.ts';
import { mayUseTool } from '../access.ts';
import type { McpDeps } from '../deps.ts';
import { McpError } from '../errors.ts';
import { type JsonRpcFields, methodNotFound, type RpcResponse, requestMessage } from '../protocol/json-rpc.ts';
import { clientMethods } from '../protocol/versions.ts';
import type { TaskFacts } from '../tasks/owners.ts';
import { ownTask } from '../tasks/relay.ts';
import type { LinkEvent } from '../upstream/link.ts';
import { type InSession, linkOf } from './session-upstream.ts';

/** An upstream that knows us all by one credential may tell everybody of every task. */
function isOwnTask(deps: McpDeps, { context }: InSession, taskId: unknown): MaybePromise<boolean> {
  if (typeof taskId !== 'string') return false;
  const found = ownTask(deps, context, taskId);
  const may = (facts: TaskFacts | null) => facts !== null && mayUseTool(context, facts.tool);
  return found instanceof Promise ? found.then(may) : may(found);
}

/** Tells what passes, in the order in which it came, although some of it is looked up first. */
export function tellingInOrder<Event>(
  pass: (event: Event) => MaybePromise<boolean>,
  tell: (event: Event) => void,
  onFault: (fault: unknown) => void,
): (event: Event) => void {
  let last: Promise<void> | null = null;
  return (event) => {
    const passing = pass(event);
    if (last === null && typeof passing === 'boolean') {
      if (passing) tell(event);
      return;
    }
    const own = (last ?? Promise.resolve())
      .then(async () => {
        if (await passing) tell(event);
      })
      .catch(onFault)
      .finally(() => {
        if (last === own) last = null;
      });
    last = own;
  };
}

export type AskClient = (method: string, params: JsonRpcFields) => Promise<RpcResponse>;

const timeoutMs = 300_000;
/** Answers to an upstream's requests that are on their way at once. */
export const mostAnswered = 100;

/** Sends a request of ours on the client's stream and waits until the client posts the answer. */
export const asker =
  ({ local }: InSession, send: (message: object) => void): AskClient =>
  (method, params) => {
    const id = `gw-${Bun.randomUUIDv7()}`;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        local.asked.delete(id);
        reject(new McpError('upstream_timeout', 'the client did not answer what it was asked'));
      }, timeoutMs);
      local.asked.set(id, (answer) => {
        clearTimeout(timer);
        local.asked.delete(id);
        resolve(answer);
      });
      send(requestMessage(id, method, params));
    });
  };

export const cannotBeAsked: AskClient = async () => ({
  kind: 'response',
  id: null,
  error: { code: methodNotFound, message: 'The client cannot be asked' },
});

/** Whether something that the upstream said goes on to the client; what the client cannot answer is answered here. */
export function passes(deps: McpDeps, session: InSession, { message }: LinkEvent): MaybePromise<boolean> {
  if (message?.kind === 'notification' && message.method === 'notifications/tasks/status') {
    return isOwnTask(deps, session, message.params.taskId);
  }
  if (message?.kind === 'notification' && message.method.endsWith('/list_changed')) {
    deps.definitions.forget(session.context.server, session.context.identity);
  }
  if (message?.kind !== 'request') return true;
  const capability = clientMethods[message.method];
  const offered = session.state.client.capabilities;
  if (message.method === 'ping' || (capability && offered[capability] !== undefined)) return true;
  if (capability === undefined && offered.tasks !== undefined && message.method.startsWith('tasks/')) return true;
  const { local } = session;
  // An upstream that asks without end is not answered without end.
  if (local.answering >= mostAnswered) return false;
  local.answering++;
  const error = { code: methodNotFound, message: `The client does not support ${message.method}` };
  linkOf(deps, session, false)
    .then((link) => link.send({ kind: 'response', id: message.id, error }))
    .catch((fault) => deps.onFault(fault, session.context.requestId))
    .finally(() => {
      local.answering--;
    });
  return false;
}
