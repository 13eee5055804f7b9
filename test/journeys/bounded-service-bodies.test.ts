/** Bodies that MCP servers, agents and their clients send: they share the memory of all bodies, and give it back. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { countedFrom } from '../../src/gateway/request/body-budget.ts';
import { saveAgent } from '../agents/upstream.ts';
import { startGateway, type TestGateway } from '../harness.ts';
import { saveIntegration, trustLoopback } from '../mcp/upstream.ts';
import { openCall } from '../raw-client.ts';

/** An organisation may hold half of it: five steps. */
const budget = 10 * countedFrom;
const large = 'x'.repeat(4 * countedFrom);

let gateway: TestGateway;
/** What the upstream answers calls with; it waits for it. */
let answer: () => Promise<Response> = async () => Response.json({});
let asked: () => void = () => undefined;

const upstream = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    if (request.method !== 'POST') return new Response(null, { status: 405 });
    const { id, method } = (await request.json()) as { id?: number; method: string };
    const rpc = (result: object) => Response.json({ jsonrpc: '2.0', id, result });
    if (id === undefined) return new Response(null, { status: 202 });
    if (method === 'initialize') {
      return rpc({
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 'large', version: '1' },
      });
    }
    if (method === 'tools/list') return rpc({ tools: [{ name: 'fetch', inputSchema: { type: 'object' } }] });
    asked();
    return answer();
  },
});

beforeAll(async () => {
  gateway = await startGateway({ ...trustLoopback, MAX_BUFFERED_BYTES: String(budget) });
  const url = `http://127.0.0.1:${upstream.port}`;
  await saveIntegration(gateway, { slug: 'large', url: `${url}/mcp` });
  await saveAgent(gateway, { slug: 'large-agent', url: `${url}/agent` });
});
afterEach(() => {
  answer = async () => Response.json({});
  asked = () => undefined;
  expect(gateway.app.services.bodies.held).toBe(0);
});
afterAll(async () => {
  await gateway.stopWithoutFaults();
  await upstream.stop(true);
});

const headers = () => ({
  'x-gw-api-key': gateway.workspaceKey,
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
});

const callTool = async (argument = '', id = 7): Promise<Response> =>
  fetch(`${gateway.url}/large/mcp`, {
    method: 'POST',
    headers: { ...headers(), 'mcp-session-id': session, 'mcp-protocol-version': '2025-06-18' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name: 'fetch', arguments: { argument } },
    }),
  });

let session = '';
const openSession = async () => {
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'c', version: '1' } };
  const opened = await fetch(`${gateway.url}/large/mcp`, {
    method: 'POST',
    headers: headers(),
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
  });
  await opened.text();
  session = opened.headers.get('mcp-session-id') ?? '';
};

const askAgent = (text = 'hello'): Promise<Response> =>
  fetch(`${gateway.url}/v1/agent/large-agent`, {
    method: 'POST',
    headers: headers(),
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 7,
      method: 'message/send',
      params: { message: { kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'text', text }] } },
    }),
  });

const codeIn = async (response: Response): Promise<string | null> =>
  /"code":"(\w+)"/.exec(await response.text())?.[1] ?? null;

const result = { jsonrpc: '2.0', id: 7, result: { content: [{ type: 'text', text: 'ok' }], kind: 'message' } };

/** An answer of which so much has come that there is no room for another like it. */
function halfTold(type: string): { response: Response; finish: () => void } {
  let finish: () => void = () => undefined;
  const text = JSON.stringify({ ...result, padding: large });
  const body = new ReadableStream({
    start(controller) {
      const opening = type === 'text/event-stream' ? 'data: ' : '';
      controller.enqueue(new TextEncoder().encode(opening + text.slice(0, -1)));
      finish = () => {
        controller.enqueue(new TextEncoder().encode(`${text.slice(-1)}\n\n`));
        controller.close();
      };
    },
  });
  return { response: new Response(body, { headers: { 'content-type': type } }), finish: () => finish() };
}

/** Until the budget knows of so many bytes. */
async function held(bytes: number): Promise<void> {
  while (gateway.app.services.bodies.held < bytes) await new Promise((resolve) => setImmediate(resolve));
}

const callers: [string, (text?: string) => Promise<Response>][] = [
  ['an MCP server', (text = '') => callTool(text)],
  ['an agent', askAgent],
];

describe.each(callers)('%s', (_, ask) => {
  beforeAll(openSession);

  test.each(['application/json', 'text/event-stream'])(
    'whose answer as %s is only half there counts with it, and gives it back',
    async (type) => {
      const { response, finish } = halfTold(type);
      answer = async () => response;
      const first = ask();
      await held(4 * countedFrom);
      answer = async () => Response.json({ ...result, padding: large });
      const second = await ask();
      expect([second.status, await codeIn(second)]).toEqual([503, 'buffers_full']);
      answer = async () => Response.json(result);
      expect((await ask()).status).toBe(200);
      finish();
      expect((await first).status).toBe(200);
      await (await first).text();
    },
  );

  test('whose client sends large bodies finds no room for another until the first is answered', async () => {
    const waiting = Promise.withResolvers<Response>();
    const arrived = Promise.withResolvers<void>();
    asked = arrived.resolve;
    answer = () => waiting.promise;
    const first = ask(large);
    await arrived.promise;
    const second = await ask(large);
    expect([second.status, await codeIn(second)]).toEqual([503, 'buffers_full']);
    waiting.resolve(Response.json(result));
    expect((await first).status).toBe(200);
    await (await first).text();
    answer = async () => Response.json(result);
    expect((await ask(large)).status).toBe(200);
  });
});

test('nothing is read of a request with server-side tools before its caller is known', async () => {
  const call = openCall(`${gateway.url}/v1/chat/completions`, {
    'x-gw-api-key': 'gw-nobody-0123456789',
    'x-gw-beta': 'server-side-mcp-2026-06-01',
    'content-type': 'application/json',
    'content-length': String(8 * countedFrom),
  });
  call.flushHeaders();
  const status = await new Promise((resolve) => call.on('response', ({ statusCode }) => resolve(statusCode)));
  expect(status).toBe(401);
  call.destroy();
});

test('a form for our authorization server that never ends is refused at its bound', async () => {
  const call = openCall(`${gateway.url}/oauth/token`, { 'content-type': 'application/x-www-form-urlencoded' });
  const status = new Promise((resolve) => call.on('response', ({ statusCode }) => resolve(statusCode)));
  call.write(`grant_type=${'x'.repeat(64 * 1024)}`);
  expect(await status).toBe(413);
  call.destroy();
});
