/** An MCP server that repeats the credential in its errors: neither the client nor the log sees it. What is no error comes as it is. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startGateway, type TestGateway } from '../harness.ts';
import { sessionClient, textOf } from './clients.ts';
import { saveIntegration, trustLoopback } from './upstream.ts';

const credential = 'Bearer canary-0123456789';
const secret = 'canary-0123456789';
const other = 'custom-canary-42';

interface Asked {
  id?: number | string;
  method?: string;
  params?: { name?: string };
}

/** Every tool answers with the headers that came, in the way that its name says. */
function answerTo({ id, method, params }: Asked, headers: Headers): Response {
  const words = `you said ${headers.get('authorization')} and ${headers.get('x-tenant')}`;
  const rpc = (more: object) => ({ jsonrpc: '2.0', id, ...more });
  const sse = (message: object) =>
    new Response(`event: message\ndata: ${JSON.stringify(message)}\n\n`, {
      headers: { 'content-type': 'text/event-stream' },
    });
  const failure = { content: [{ type: 'text', text: words }], isError: true };
  if (id === undefined) return new Response(null, { status: 202 });
  if (method === 'initialize') {
    const serverInfo = { name: 'echo', version: '1' };
    return Response.json(rpc({ result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo } }));
  }
  if (method === 'tools/list') {
    const tools = Object.keys(ways).map((name) => ({ name, inputSchema: { type: 'object' } }));
    return Response.json(rpc({ result: { tools } }));
  }
  if (method !== 'tools/call') return Response.json(rpc({ error: { code: -32601, message: 'Method not found' } }));
  const way = params?.name as keyof typeof ways;
  if (way === 'error') return Response.json(rpc({ error: { code: -32000, message: words } }));
  if (way === 'error-event') return sse(rpc({ error: { code: -32000, message: words } }));
  if (way === 'failure') return Response.json(rpc({ result: failure }));
  if (way === 'failure-event') return sse(rpc({ result: failure }));
  if (way === 'status') return Response.json(rpc({ error: { code: -32000, message: words } }), { status: 500 });
  return Response.json(rpc({ result: { content: [{ type: 'text', text: words }] } }));
}

const ways = { error: true, 'error-event': true, failure: true, 'failure-event': true, status: true, result: false };

let gateway: TestGateway;
const upstream = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    if (request.method !== 'POST') return new Response(null, { status: 405 });
    return answerTo((await request.json()) as Asked, request.headers);
  },
});

beforeAll(async () => {
  gateway = await startGateway(trustLoopback);
  await saveIntegration(gateway, {
    slug: 'echo',
    url: `http://127.0.0.1:${upstream.port}/mcp`,
    auth_type: 'headers',
    configurations: { headers: { authorization: credential, 'x-tenant': other } },
  });
});

afterAll(async () => {
  await gateway.stop();
  await upstream.stop(true);
});

const words = async (tool: string): Promise<string> => {
  const client = await sessionClient(`${gateway.url}/echo/mcp`, { 'x-gw-api-key': gateway.workspaceKey });
  const told = await client.callTool({ name: tool, arguments: {} }).then(textOf, (fault: Error) => fault.message);
  await client.close();
  return told;
};

test.each(Object.entries(ways))('%s: concealed is %p', async (tool, concealed) => {
  const told = await words(tool);
  expect(told).toContain('you said ');
  for (const value of [secret, other]) expect(told.includes(value)).toBe(!concealed);
});
