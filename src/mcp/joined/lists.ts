/** One list from the lists of several servers: what one of them cannot tell does not keep the others from being listed. */
import { readJson } from '../../bounded-json.ts';
import type { McpServer } from '../../catalog/mcp/server.ts';
import { Gathered, type McpResponder } from '../client/responder.ts';
import { McpError } from '../errors.ts';
import { UpstreamRefusal } from '../lists.ts';
import { pageOf } from '../paging.ts';
import { isFields, type JsonRpcFields, methodNotFound, type RpcRequest } from '../protocol/json-rpc.ts';
import { type ListMethod, listMethods } from '../protocol/versions.ts';
import { joinedItem } from './names.ts';

/** Sends a request to one server; its answer goes to the responder. */
export type SendTo = (server: McpServer, request: RpcRequest, responder: McpResponder) => Promise<void>;

const mostPages = 20;

export async function joinedList(
  request: RpcRequest,
  method: ListMethod,
  servers: readonly McpServer[],
  send: SendTo,
): Promise<JsonRpcFields> {
  const { field } = listMethods[method];
  const unavailable: Record<string, string> = {};
  const lists = await Promise.all(
    servers.map(async (server) => {
      try {
        return (await wholeList(request, field, server, send)).map((item) => joinedItem(server.slug, item));
      } catch (fault) {
        unavailable[server.slug] = reasonOf(fault);
        return [];
      }
    }),
  );
  const { page, nextCursor } = pageOf(lists.flat(), request.params.cursor);
  return {
    [field]: page,
    ...(nextCursor !== null && { nextCursor }),
    ...(Object.keys(unavailable).length > 0 && { _meta: { 'gw/unavailable': unavailable } }),
  };
}

async function wholeList(
  request: RpcRequest,
  field: string,
  server: McpServer,
  send: SendTo,
): Promise<JsonRpcFields[]> {
  const { cursor: _, ...params } = request.params;
  const items: JsonRpcFields[] = [];
  let cursor: unknown;
  for (let page = 0; page < mostPages; page++) {
    const gathered = new Gathered();
    await send(server, { ...request, params: cursor === undefined ? params : { ...params, cursor } }, gathered);
    const { error, result } = answerIn(gathered);
    // A server without prompts has none to list.
    if (isFields(error) && error.code === methodNotFound) return items;
    if (isFields(error)) throw new McpError('upstream_error', String(error.message));
    const listed = isFields(result) ? result[field] : undefined;
    if (Array.isArray(listed)) items.push(...listed.filter(isFields));
    cursor = isFields(result) ? result.nextCursor : undefined;
    if (typeof cursor !== 'string') break;
  }
  return items;
}

const reasonOf = (fault: unknown): string =>
  fault instanceof McpError || fault instanceof UpstreamRefusal ? fault.message : 'the server could not be asked';

function answerIn({ last }: Gathered): JsonRpcFields {
  const parsed: unknown = last === '' ? {} : readJson(last);
  return isFields(parsed) ? parsed : {};
}
