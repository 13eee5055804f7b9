/** Changes that a client of the stateless era asks to be told of. */
import type { Abort } from '../../wire/abort.ts';
import type { CallContext } from '../call-context.ts';
import type { McpDeps } from '../deps.ts';
import { writeSse } from '../protocol/events.ts';
import {
  isFields,
  type JsonRpcFields,
  notificationMessage,
  type RpcNotification,
  type RpcRequest,
} from '../protocol/json-rpc.ts';
import { metaKeys } from '../protocol/versions.ts';
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

export function subscriptionOf(
  deps: McpDeps,
  { server, identity }: CallContext,
  link: Link,
  filter: JsonRpcFields,
): Subscription {
  const honoured = honouredFilter(filter, link.facts.capabilities);
  return {
    honoured,
    async follow(tell, signal) {
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
          if (message?.kind !== 'notification' || !isAsked(message, honoured)) return;
          deps.definitions.forget(server, identity);
          tell(message.method, message.params);
        },
      });
    },
  };
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
