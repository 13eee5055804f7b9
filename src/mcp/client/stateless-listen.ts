/** Changes that a client of the stateless era asks to be told of. */
import type { Abort } from '../../wire/abort.ts';
import { mayUseTool } from '../access.ts';
import type { CallContext } from '../call-context.ts';
import type { McpDeps } from '../deps.ts';
import { McpError } from '../errors.ts';
import { writeSse } from '../protocol/events.ts';
import {
  isFields,
  type JsonRpcFields,
  notificationMessage,
  type RpcNotification,
  type RpcRequest,
} from '../protocol/json-rpc.ts';
import { metaKeys } from '../protocol/versions.ts';
import { hasTaskExtension, requireTaskExtension } from '../tasks/capability.ts';
import type { TaskFacts } from '../tasks/owners.ts';
import { checkedTask, ownTask } from '../tasks/relay.ts';
import { shownResult } from '../tasks/results.ts';
import type { Link } from '../upstream/link.ts';
import type { EventStream } from './event-stream.ts';

export const acknowledged = 'notifications/subscriptions/acknowledged';

/** Writes a notification to the client. */
export type Tell = (method: string, params: JsonRpcFields) => void;

export interface Subscription {
  /** What of the wanted changes the upstream can tell. */
  honoured: JsonRpcFields;
  /** Tells changes until the signal; resolves false where the upstream has no stream for them. */
  follow(tell: Tell, signal: Abort): Promise<boolean>;
}

/** Every notification on the stream names the request that asked for it. */
export const tellOn =
  (stream: EventStream, { id }: RpcRequest): Tell =>
  (method, params) => {
    const own = isFields(params._meta) ? params._meta : {};
    const marked = { ...params, _meta: { ...own, [metaKeys.subscriptionId]: id } };
    stream.write(writeSse({ data: JSON.stringify(notificationMessage(method, marked)) }));
  };

export async function subscriptionOf(
  deps: McpDeps,
  context: CallContext,
  link: Link,
  filter: JsonRpcFields,
): Promise<Subscription> {
  const { server, identity } = context;
  const tasks = await followedTasks(deps, context, link, filter.taskIds);
  const honoured: JsonRpcFields = {
    ...honouredFilter(filter, link.facts.capabilities),
    ...(tasks.size > 0 && { taskIds: [...tasks.keys()] }),
  };
  return {
    honoured,
    async follow(tell, signal) {
      // Results are checked before they are told, one after another.
      let told = Promise.resolve();
      const tellTask = (task: JsonRpcFields) => {
        const facts = tasks.get(String(task.taskId));
        if (!facts) return;
        const checked = (result: JsonRpcFields) => shownResult(deps, context, String(task.taskId), facts, result);
        told = told
          .then(async () => tell(taskStatus, await checkedTask(task, checked)))
          .catch((fault) => {
            // A limit has no room for the result: the client is told so when it asks for it.
            if (!(fault instanceof McpError)) deps.onFault(fault, context.requestId);
          });
      };
      const uris = Array.isArray(honoured.resourceSubscriptions) ? honoured.resourceSubscriptions : [];
      if (link.era === 'session') {
        for (const uri of uris)
          await link.request({ id: `gw-${Bun.randomUUIDv7()}`, method: 'resources/subscribe', params: { uri } });
      }
      return link.listen({
        signal,
        filter: honoured,
        opened: () => undefined,
        onEvent: ({ message }) => {
          if (message?.kind !== 'notification') return;
          if (message.method === taskStatus) tellTask(message.params);
          if (!isAsked(message, honoured)) return;
          deps.definitions.forget(server, identity);
          tell(message.method, message.params);
        },
      });
    },
  };
}

const taskStatus = 'notifications/tasks';
const mostTasks = 1_000;

/** The caller's own tasks among those that they want to follow. */
async function followedTasks(
  deps: McpDeps,
  context: CallContext,
  link: Link,
  wanted: unknown,
): Promise<Map<string, TaskFacts>> {
  const followed = new Map<string, TaskFacts>();
  if (!Array.isArray(wanted) || wanted.length === 0) return followed;
  requireTaskExtension(context.client.capabilities);
  if (link.era !== 'stateless' || !hasTaskExtension(link.facts.capabilities)) return followed;
  for (const id of wanted.slice(0, mostTasks)) {
    const facts = typeof id === 'string' ? await ownTask(deps, context, id) : null;
    if (facts && mayUseTool(context, facts.tool)) followed.set(String(id), facts);
  }
  return followed;
}

const changes: Readonly<Record<string, { field: string; capability: string; member: string }>> = {
  'notifications/tools/list_changed': { field: 'toolsListChanged', capability: 'tools', member: 'listChanged' },
  'notifications/prompts/list_changed': { field: 'promptsListChanged', capability: 'prompts', member: 'listChanged' },
  'notifications/resources/list_changed': {
    field: 'resourcesListChanged',
    capability: 'resources',
    member: 'listChanged',
  },
};

function honouredFilter(filter: JsonRpcFields, capabilities: JsonRpcFields): JsonRpcFields {
  const honoured: Record<string, unknown> = {};
  for (const { field, capability, member } of Object.values(changes)) {
    const offered = capabilities[capability];
    if (filter[field] === true && isFields(offered) && offered[member] === true) honoured[field] = true;
  }
  const { resources } = capabilities;
  const uris = filter.resourceSubscriptions;
  if (Array.isArray(uris) && isFields(resources) && resources.subscribe === true) {
    honoured.resourceSubscriptions = uris.filter((uri) => typeof uri === 'string').slice(0, 1_000);
  }
  return honoured;
}

function isAsked({ method, params }: RpcNotification, honoured: JsonRpcFields): boolean {
  const change = changes[method];
  if (change) return honoured[change.field] === true;
  const uris = honoured.resourceSubscriptions;
  return method === 'notifications/resources/updated' && Array.isArray(uris) && uris.includes(params.uri);
}
