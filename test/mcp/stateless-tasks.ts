/** Requests of the stateless era by plain HTTP, from a client that knows tasks. */
import type { Json } from '../harness.ts';

export const taskExtension = 'io.modelcontextprotocol/tasks';

const knowsTasks = { extensions: { [taskExtension]: {} } };

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
  capabilities: object = knowsTasks,
): Promise<RpcAnswer> {
  const response = await posted(url, key, { id: 1, method, params }, capabilities);
  return { status: response.status, ...((await response.json()) as object) };
}

function posted(url: string, key: string, { id, method, params }: Json, capabilities: object): Promise<Response> {
  const name: string | undefined = params.taskId ?? params.name;
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  };
  return fetch(url, {
    method: 'POST',
    headers: {
      'x-gw-api-key': key,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(name !== undefined && { 'mcp-name': name }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: meta } }),
  });
}

/** A stream of changes, one at a time. */
export async function followStateless(url: string, key: string, notifications: object) {
  const request = { id: 7, method: 'subscriptions/listen', params: { notifications } };
  const response = await posted(url, key, request, knowsTasks);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  const next = async (): Promise<Json> => {
    for (;;) {
      const at = rest.indexOf('\n\n');
      if (at >= 0) {
        const data = /^data: (.*)$/m.exec(rest.slice(0, at))?.[1];
        rest = rest.slice(at + 2);
        if (data !== undefined) return JSON.parse(data);
        continue;
      }
      const { done, value } = (await reader?.read()) ?? { done: true };
      if (done) throw new Error('The stream has ended');
      rest += value;
    }
  };
  return { next, close: () => reader?.cancel() };
}
