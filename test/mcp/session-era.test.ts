/** Clients of the session era through the gateway, with the official SDK on both ends. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { ElicitRequestSchema, ProgressNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { startGateway, type TestGateway } from '../harness.ts';
import { sessionClient, textOf } from './clients.ts';
import { saveIntegration, startUpstream, trustLoopback, type UpstreamServer } from './upstream.ts';

let gateway: TestGateway;
let upstream: UpstreamServer;
let url: string;
let headers: Record<string, string>;

beforeAll(async () => {
  upstream = await startUpstream('session-server.ts');
  gateway = await startGateway({ ...trustLoopback, MCP_REQUEST_TIMEOUT_MS: '1500' });
  await saveIntegration(gateway, { slug: 'notes', url: upstream.url });
  url = `${gateway.url}/notes/mcp`;
  headers = { 'x-gw-api-key': gateway.workspaceKey };
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
};

const post = async (body: unknown, more: Record<string, string> = {}, key = gateway.workspaceKey) => {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      ...(key !== '' && { 'x-gw-api-key': key }),
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...more,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
};

const rawSession = async (): Promise<string> => {
  const { headers: answered } = await post(initialize);
  return answered.get('mcp-session-id') ?? '';
};

describe('a client', () => {
  test('sees who the upstream is, and lists and calls its tools', async () => {
    const client = await sessionClient(url, headers);
    expect(client.getServerVersion()).toMatchObject({
      name: 'session-server',
      title: 'Session server',
      version: '1.2.3',
    });
    expect(client.getInstructions()).toBe('Use the tools.');
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('echo');
    expect(textOf(await client.callTool({ name: 'echo', arguments: { text: 'hello' } }))).toBe('hello');
    expect(await client.callTool({ name: 'fail', arguments: {} })).toMatchObject({ isError: true });
    await client.close();
  });

  test('reads prompts, resources and templates, pings, and sets the level of logs', async () => {
    const client = await sessionClient(url, headers);
    expect((await client.getPrompt({ name: 'greet', arguments: { name: 'you' } })).messages).toHaveLength(1);
    expect((await client.readResource({ uri: 'note://one' })).contents).toMatchObject([{ text: 'one' }]);
    expect((await client.listResourceTemplates()).resourceTemplates).toHaveLength(1);
    expect((await client.readResource({ uri: 'note://numbered/7' })).contents).toHaveLength(1);
    await client.ping();
    await client.setLoggingLevel('debug');
    await client.close();
  });

  test('hears of progress before the answer', async () => {
    const client = await sessionClient(url, headers);
    const heard: number[] = [];
    const result = await client.callTool({ name: 'progress', arguments: { steps: 3 } }, undefined, {
      onprogress: ({ progress }) => heard.push(progress),
    });
    expect(textOf(result)).toBe('3 steps');
    expect(heard).toEqual([1, 2, 3]);
    await client.close();
  });

  test('is asked by the upstream, and its answer gets there', async () => {
    const client = await sessionClient(url, headers, {
      capabilities: { elicitation: {} },
      prepare: (one) =>
        one.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { name: 'Ada' } })),
    });
    expect(textOf(await client.callTool({ name: 'ask', arguments: {} }))).toBe('accept: {"name":"Ada"}');
    await client.close();
  });

  test('that cannot be asked is not, and the upstream hears why', async () => {
    const client = await sessionClient(url, headers);
    expect(textOf(await client.callTool({ name: 'ask', arguments: {} }))).toContain(
      'does not support elicitation/create',
    );
    await client.close();
  });

  test('goes on when the upstream has forgotten its session', async () => {
    const client = await sessionClient(url, headers);
    await client.callTool({ name: 'forget', arguments: {} });
    expect(textOf(await client.callTool({ name: 'echo', arguments: { text: 'again' } }))).toBe('again');
    expect(textOf(await client.callTool({ name: 'echo', arguments: { text: 'and again' } }))).toBe('and again');
    await client.close();
  });

  test('gets 504 from an upstream that hangs', async () => {
    const session = await rawSession();
    const call = { jsonrpc: '2.0', id: 'x', method: 'tools/call', params: { name: 'hang', arguments: {} } };
    const { text } = await post(call, { 'mcp-session-id': session });
    expect(text).toContain('"code":-32001');
    expect(text).toContain('upstream_timeout');
  });
});

describe('a session', () => {
  test('is needed after initialize, is bound to its credential, and ends', async () => {
    const session = await rawSession();
    const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' };
    expect((await post(list)).status).toBe(400);
    expect((await post(list, { 'mcp-session-id': 'nonsense' })).status).toBe(404);
    const minted = await gateway.post(
      '/v1/api-keys/workspace/service',
      { name: 'other', scopes: ['mcp.invoke'] },
      { key: gateway.workspaceKey },
    );
    expect((await post(list, { 'mcp-session-id': session }, minted.body.key)).status).toBe(404);
    expect((await post(list, { 'mcp-session-id': session })).status).toBe(200);
    const ended = await fetch(url, { method: 'DELETE', headers: { ...headers, 'mcp-session-id': session } });
    expect(ended.status).toBe(204);
    expect((await post(list, { 'mcp-session-id': session })).status).toBe(404);
  });

  test('id is small', async () => {
    expect((await rawSession()).length).toBeLessThan(700);
  });

  test('speaks a revision that we know, else 400; without the header it goes on', async () => {
    const session = await rawSession();
    const ping = { jsonrpc: '2.0', id: 3, method: 'ping' };
    const asked = (version: string) => post(ping, { 'mcp-session-id': session, 'mcp-protocol-version': version });
    expect((await asked('1999-01-01')).status).toBe(400);
    expect((await asked('2025-06-18')).status).toBe(200);
    expect((await post(ping, { 'mcp-session-id': session })).status).toBe(200);
  });
});

describe('bad input', () => {
  test.each([
    ['broken JSON', '{', 400, -32700],
    ['no message', '{"hello": 1}', 400, -32600],
    ['no JSON-RPC', '{"jsonrpc": "1.0", "id": 1, "method": "ping"}', 400, -32600],
    ['an empty batch', '[]', 400, -32600],
  ])('%s', async (_, body, status, code) => {
    const answer = await post(body);
    expect({ status: answer.status, code: JSON.parse(answer.text).error.code }).toEqual({ status, code });
  });

  test('without a credential: 401 that says where to sign in', async () => {
    const { status, headers: answered } = await post(initialize, {}, '');
    expect(status).toBe(401);
    expect(answered.get('www-authenticate')).toContain(
      `resource_metadata="${gateway.url}/.well-known/oauth-protected-resource/notes/mcp"`,
    );
  });

  test('an unknown key is 401, an unknown server 404, an admin key 403', async () => {
    expect((await post(initialize, {}, 'nobody')).status).toBe(401);
    expect((await post(initialize, {}, gateway.adminKey)).status).toBe(403);
    const response = await fetch(`${gateway.url}/nothing/mcp`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', accept: '*/*' },
      body: JSON.stringify(initialize),
    });
    expect(response.status).toBe(404);
  });

  test('what the client does not accept is 406, another media type 415', async () => {
    expect((await post(initialize, { accept: 'application/json' })).status).toBe(406);
    expect((await post(initialize, { 'content-type': 'text/plain' })).status).toBe(415);
  });

  test('an unknown method is -32601', async () => {
    const session = await rawSession();
    const { status, text } = await post(
      { jsonrpc: '2.0', id: 4, method: 'surprise/me' },
      { 'mcp-session-id': session },
    );
    expect({ status, code: JSON.parse(text).error.code }).toEqual({ status: 200, code: -32601 });
  });
});

test('every message leaves a log record that names the server, the method and the tool', async () => {
  const client = await sessionClient(url, headers);
  await client.callTool({ name: 'echo', arguments: { text: 'logged' } });
  await client.close();
  const rows = gateway.records.map(({ metrics }) => metrics);
  expect(rows.find(({ ai_model }) => ai_model === 'initialize')).toMatchObject({
    endpoint_type: 'mcp',
    is_success: true,
  });
  expect(rows.findLast(({ endpoint_type }) => endpoint_type === 'mcpToolCall')).toMatchObject({
    ai_model: 'echo',
    response_status_code: 200,
    mcp_server: 'notes',
    mcp_method: 'tools/call',
    mcp_tool: 'echo',
    mcp: { auth_type: 'api_key', client_name: 'test-client', client_version: '1.0.0' },
  });
  expect(JSON.stringify(gateway.records.map(({ bodies }) => bodies.request?.headers))).not.toContain(
    gateway.workspaceKey,
  );
});

describe('the old pair of HTTP and SSE', () => {
  const connected = async (prepare: (client: Client) => void = () => undefined, capabilities = {}) => {
    const client = new Client({ name: 'old-client', version: '0.1.0' }, { capabilities });
    prepare(client);
    const transport = new SSEClientTransport(new URL(`${gateway.url}/notes/sse`), {
      requestInit: { headers },
      eventSourceInit: { fetch: (input, init) => fetch(input, { ...init, headers: { ...init?.headers, ...headers } }) },
    });
    await client.connect(transport as Parameters<Client['connect']>[0]);
    return { client, transport };
  };

  test('serves the official old client: lists, calls, resources, progress and what a server asks', async () => {
    const steps: number[] = [];
    const { client } = await connected(
      (one) => {
        one.setRequestHandler(ElicitRequestSchema, async () => ({ action: 'accept', content: { name: 'Anna' } }));
        one.setNotificationHandler(ProgressNotificationSchema, ({ params }) => void steps.push(params.progress));
      },
      { elicitation: {} },
    );
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('echo');
    expect(textOf(await client.callTool({ name: 'echo', arguments: { text: 'old' } }))).toBe('old');
    expect((await client.readResource({ uri: 'note://one' })).contents).toMatchObject([{ text: 'one' }]);
    expect(textOf(await client.callTool({ name: 'ask', arguments: {} }))).toBe('accept: {"name":"Anna"}');
    await client.callTool({ name: 'progress', arguments: { steps: 2 }, _meta: { progressToken: 'p' } });
    expect(steps).toEqual([1, 2]);
    await client.close();
  });

  test('takes messages of the credential that opened the stream alone', async () => {
    const answer = await fetch(`${gateway.url}/notes/sse`, { headers: { ...headers, accept: 'text/event-stream' } });
    const reader = answer.body?.getReader();
    const first = new TextDecoder().decode((await reader?.read())?.value);
    const endpoint = /data: (\S+)/.exec(first)?.[1] ?? '';
    const { body } = await gateway.post(
      '/v1/api-keys/workspace/service',
      { name: 'stranger', scopes: ['mcp.invoke'] },
      { key: gateway.workspaceKey },
    );
    const sent = (key: string) =>
      fetch(gateway.url + endpoint, {
        method: 'POST',
        headers: { 'x-gw-api-key': key, 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }),
      });
    expect((await sent(body.key)).status).toBe(404);
    await reader?.cancel();
  });
});
