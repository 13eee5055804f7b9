/** How tools, prompts and resources of several servers are told apart behind one address: names begin with the slug of their server, addresses with one of ours. */
import { isFields, type JsonRpcFields, type RpcRequest } from '../protocol/json-rpc.ts';
import { isListMethod, listMethods } from '../protocol/versions.ts';
import { isTaskMethod } from '../tasks/relay.ts';

const separator = '__';
const uriPrefix = 'gw-mcp://';

export const joinedName = (slug: string, name: string): string => `${slug}${separator}${name}`;
export const joinedUri = (slug: string, uri: string): string => `${uriPrefix}${slug}/${uri}`;

/** A server, and what is asked of it in its own words. */
export interface Routed {
  slug: string;
  request: RpcRequest;
}

/** Null for a request that names nothing of any of these servers. */
export function routedRequest(request: RpcRequest, slugs: readonly string[]): Routed | null {
  const { method, params } = request;
  if (method === 'tools/call' || method === 'prompts/get') {
    const place = placeOfName(slugs, params.name);
    return place && { slug: place.slug, request: { ...request, params: { ...params, name: place.own } } };
  }
  if (method.startsWith('resources/')) {
    const place = placeOfUri(slugs, params.uri);
    return place && { slug: place.slug, request: { ...request, params: { ...params, uri: place.own } } };
  }
  if (isTaskMethod(method)) {
    const place = placeOfName(slugs, params.taskId);
    return place && { slug: place.slug, request: { ...request, params: { ...params, taskId: place.own } } };
  }
  if (method !== 'completion/complete' || !isFields(params.ref)) return null;
  const { ref } = params;
  const byName = placeOfName(slugs, ref.name);
  const place = byName ?? placeOfUri(slugs, ref.uri);
  if (!place) return null;
  const own = byName ? { ...ref, name: place.own } : { ...ref, uri: place.own };
  return { slug: place.slug, request: { ...request, params: { ...params, ref: own } } };
}

interface Place {
  slug: string;
  own: string;
}

/** A slug may itself hold the separator, so that the longest one counts. */
function placeOfName(slugs: readonly string[], name: unknown): Place | null {
  if (typeof name !== 'string') return null;
  const slug = slugs
    .filter((one) => name.startsWith(one + separator))
    .reduce<string | null>((best, one) => (best === null || one.length > best.length ? one : best), null);
  return slug === null ? null : { slug, own: name.slice(slug.length + separator.length) };
}

function placeOfUri(slugs: readonly string[], uri: unknown): Place | null {
  if (typeof uri !== 'string' || !uri.startsWith(uriPrefix)) return null;
  const end = uri.indexOf('/', uriPrefix.length);
  const slug = uri.slice(uriPrefix.length, end);
  return end > 0 && slugs.includes(slug) ? { slug, own: uri.slice(end + 1) } : null;
}

/** A result in the names of the joined address. */
export function joinedResult(slug: string, method: string, result: JsonRpcFields): JsonRpcFields {
  if (isListMethod(method)) {
    const { field } = listMethods[method];
    const items = result[field];
    return Array.isArray(items)
      ? { ...result, [field]: items.filter(isFields).map((item) => joinedItem(slug, item)) }
      : result;
  }
  if (isTaskMethod(method)) return joinedTask(slug, result);
  if (method === 'tools/call') return joinedTask(slug, joinedToolResult(slug, result));
  if (method === 'resources/read') return withList(result, 'contents', (item) => withUri(slug, item));
  if (method !== 'prompts/get') return result;
  return withList(result, 'messages', (message) =>
    isFields(message.content) ? { ...message, content: joinedContent(slug, message.content) } : message,
  );
}

const joinedToolResult = (slug: string, result: JsonRpcFields): JsonRpcFields =>
  withList(result, 'content', (item) => joinedContent(slug, item));

/** A task, with the result of its tool where that is there already; the very same object where it is none. */
export function joinedTask(slug: string, task: JsonRpcFields): JsonRpcFields {
  if (typeof task.taskId !== 'string') return task;
  const result = isFields(task.result) ? { result: joinedToolResult(slug, task.result) } : {};
  return { ...task, taskId: joinedName(slug, task.taskId), ...result };
}

export function joinedItem(slug: string, item: JsonRpcFields): JsonRpcFields {
  if (typeof item.uriTemplate === 'string') return { ...item, uriTemplate: joinedUri(slug, item.uriTemplate) };
  if (typeof item.uri === 'string') return withUri(slug, item);
  return { ...item, name: joinedName(slug, String(item.name)) };
}

const withUri = (slug: string, item: JsonRpcFields): JsonRpcFields =>
  typeof item.uri === 'string' ? { ...item, uri: joinedUri(slug, item.uri) } : item;

function joinedContent(slug: string, item: JsonRpcFields): JsonRpcFields {
  if (item.type === 'resource_link') return withUri(slug, item);
  return item.type === 'resource' && isFields(item.resource)
    ? { ...item, resource: withUri(slug, item.resource) }
    : item;
}

function withList(result: JsonRpcFields, field: string, joined: (item: JsonRpcFields) => JsonRpcFields): JsonRpcFields {
  const list = result[field];
  return Array.isArray(list)
    ? { ...result, [field]: list.map((item) => (isFields(item) ? joined(item) : item)) }
    : result;
}

/** A notification of one server; only changed resources and tasks are named in it. */
export const joinedNotification = (slug: string, method: string, params: JsonRpcFields): JsonRpcFields =>
  method === 'notifications/resources/updated'
    ? withUri(slug, params)
    : method === 'notifications/tasks'
      ? joinedTask(slug, params)
      : params;
