/** Which server a request of the joined address goes to, and how it is written for it. */
import type { McpServer } from '../../catalog/mcp/server.ts';
import type { Posted } from '../client/session-era.ts';
import { McpError, noSuchMethod, noSuchTask, unknownPrompt, unknownResource, unknownTool } from '../errors.ts';
import { type RpcMessage, type RpcRequest, written } from '../protocol/json-rpc.ts';
import { isTaskMethod } from '../tasks/relay.ts';
import { routedRequest } from './names.ts';

const encoder = new TextEncoder();

export function postedOf(message: RpcMessage): Posted {
  const text = JSON.stringify(written(message));
  return { message, text, bytes: encoder.encode(text) };
}

/** The server that a request names, and the request in its own words; throws where it names none. */
export function routedTo(
  request: RpcRequest,
  servers: readonly McpServer[],
): { server: McpServer; request: RpcRequest } {
  const routed = routedRequest(
    request,
    servers.map(({ slug }) => slug),
  );
  const server = routed && servers.find(({ slug }) => slug === routed.slug);
  if (!routed || !server) throw unroutable(request);
  return { server, request: routed.request };
}

/** In the words of a single server that knows no such thing. */
function unroutable({ method, params }: RpcRequest): McpError {
  if (method === 'tools/call') return unknownTool(String(params.name));
  if (method === 'prompts/get') return unknownPrompt(String(params.name));
  if (method.startsWith('resources/')) return unknownResource(String(params.uri));
  if (isTaskMethod(method)) return noSuchTask();
  if (method === 'completion/complete') return new McpError('invalid_params', 'params.ref names nothing of any server');
  return noSuchMethod(method);
}
