/** Requests of the stateless era by plain HTTP, from a client that knows tasks. */
import type { Json } from '../harness.ts';

export const taskExtension = 'io.modelcontextprotocol/tasks';

export interface RpcAnswer {
  status: number;
  result?: Json;
  error?: Json;
}

export async function askStateless(
  url: string,
  key: string,
  method: string,
  params: Json,
  capabilities: object = { extensions: { [taskExtension]: {} } },
): Promise<RpcAnswer> {
  const name: string | undefined = params.taskId ?? params.name;
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  };
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'x-gw-api-key': key,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(name !== undefined && { 'mcp-name': name }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } }),
  });
  return { status: response.status, ...((await response.json()) as object) };
}
