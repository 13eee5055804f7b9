/** Servers and agents whose standing changes while they are used: names that move, integrations that are taken away, deleted or broken, and what is left of them. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { saveAgent, startAgent } from '../agents/upstream.ts';
import { startGateway, type TestGateway } from '../harness.ts';
import { type Home, home } from '../people.ts';
import { sessionClient, textOf } from './clients.ts';
import { saveIntegration, startUpstream, trustLoopback, type UpstreamServer } from './upstream.ts';

let gateway: TestGateway;
let upstream: UpstreamServer;
let agent: UpstreamServer;
let place: Home;

beforeAll(async () => {
  upstream = await startUpstream('session-server.ts');
  agent = await startAgent('sdk-agent.ts');
  gateway = await startGateway(trustLoopback);
  place = await home(gateway);
});

afterAll(async () => {
  await gateway.stopWithoutFaults();
  upstream.stop();
  agent.stop();
});

const open = (slug: string, key = gateway.workspaceKey) =>
  sessionClient(`${gateway.url}/${slug}/mcp`, { 'x-gw-api-key': key });

const words = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'it worked',
    (fault: Error) => fault.message,
  );

const toAgent = async (slug: string, key = gateway.workspaceKey) => {
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'hello' }] };
  const body = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } };
  return gateway.post(`/v1/agent/${slug}`, body, { key, headers: { 'a2a-version': '1.0' } });
};

/** An integration of the organisation, with a server in the first workspace. */
const lent = async (family: 'mcp' | 'agent', slug: string) => {
  const own = family === 'mcp' ? { url: upstream.url, auth_type: 'none', transport: 'http' } : { url: agent.url };
  const { body } = await gateway.post(`/v1/${family}-integrations`, { name: slug, slug, ...own });
  const at = `/v1/${family}-integrations/${body.id}/workspaces`;
  const handed = await gateway.put(at, { workspaces: [{ id: place.workspaceId, enabled: true }] });
  expect(handed.status).toBe(200);
  return { id: body.id as string, workspaces: at };
};

describe('a name that led to a public address when it was saved', () => {
  test('and leads to a private one when it is called, is not called', async () => {
    let address = '93.184.215.14';
    let now = 0;
    const names = { lookup: async () => [address], now: () => now };
    const strict = await startGateway({}, { names });
    try {
      // The harness leaves out this check where tests are about something else.
      strict.app.services.hostFault = strict.app.services.mcpUpstreams.http.faultOfSaved;
      const own = { key: strict.workspaceKey };
      const tools = {
        name: 'moves',
        slug: 'moves',
        url: `http://mcp.example.com:${upstream.port}/mcp`,
        auth_type: 'none',
        transport: 'http',
      };
      const skilled = { name: 'mover', slug: 'mover', url: `http://agent.example.com:${agent.port}` };
      expect((await strict.post('/v1/mcp-integrations', tools, own)).status).toBe(200);
      expect((await strict.post('/v1/agent-integrations', skilled, own)).status).toBe(200);
      address = '127.0.0.1';
      now = 60_000;
      const initialize = {
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
      };
      const headers = { accept: 'application/json, text/event-stream' };
      const asked = await strict.post('/moves/mcp', initialize, { ...own, headers });
      expect(asked).toMatchObject({ status: 502, body: { error: { code: -32000, data: { code: 'upstream_error' } } } });
      expect(asked.body.error.message).toContain('mcp.example.com');
      expect(JSON.stringify(asked.body)).not.toContain('127.0.0.1');
      const tested = await strict.post('/v1/mcp-servers/moves/test', undefined, own);
      expect(tested).toMatchObject({ status: 200, body: { success: false } });
      const card = await strict.get('/v1/agent/mover/.well-known/agent-card.json', own);
      expect(card).toMatchObject({ status: 502, body: { error: { code: 'upstream_error' } } });
      // The same again is refused already when it is saved.
      const saved = await strict.post('/v1/mcp-integrations', { ...tools, slug: 'moved' }, own);
      expect(saved).toMatchObject({ status: 400, body: { data: { errors: [{ path: 'url' }] } } });
    } finally {
      await strict.stop();
    }
  });
});

test('a tool that the integration switches off stays off although the server has it on', async () => {
  const { id } = await saveIntegration(gateway, { slug: 'off-above', url: upstream.url });
  const own = { key: gateway.workspaceKey };
  await gateway.post(`/v1/mcp-integrations/${id}/sync`, undefined, own);
  const capability = { name: 'write', type: 'tool' };
  const switched = (enabled: boolean) => ({ capabilities: [{ ...capability, enabled }] });
  await gateway.put(`/v1/mcp-integrations/${id}/capabilities`, switched(false), own);
  expect((await gateway.put('/v1/mcp-servers/off-above/capabilities', switched(true), own)).status).toBe(200);
  const client = await open('off-above');
  expect((await client.listTools()).tools.map(({ name }) => name)).not.toContain('write');
  expect(await words(client.callTool({ name: 'write', arguments: { text: 'x' } }))).toContain('Unknown tool: write');
  await client.close();
});

describe('an integration that is taken from every workspace', () => {
  test('refuses MCP clients, also those with an open session, and gives access again', async () => {
    const { workspaces } = await lent('mcp', 'lent-tools');
    const client = await open('lent-tools');
    expect(textOf(await client.callTool({ name: 'echo', arguments: { text: 'here' } }))).toBe('here');
    const taken = { workspaces: [], override_existing_workspace_access: true };
    expect((await gateway.put(workspaces, taken)).status).toBe(200);
    expect(await words(client.callTool({ name: 'echo', arguments: { text: 'gone' } }))).toContain('forbidden');
    expect(await words(open('lent-tools'))).toContain('not enabled for this workspace');
    const joined = await sessionClient(`${gateway.url}/mcp`, { 'x-gw-api-key': gateway.workspaceKey });
    expect((await joined.listTools()).tools.some(({ name }) => name.startsWith('lent-tools__'))).toBe(false);
    await joined.close();
    await gateway.put(workspaces, { workspaces: [{ id: place.workspaceId, enabled: true }] });
    expect(textOf(await client.callTool({ name: 'echo', arguments: { text: 'back' } }))).toBe('back');
    await client.close();
  });

  test('refuses callers of the agent, and gives access again', async () => {
    const { workspaces } = await lent('agent', 'lent-agent');
    expect((await toAgent('lent-agent')).status).toBe(200);
    await gateway.put(workspaces, { workspaces: [], override_existing_workspace_access: true });
    expect(await toAgent('lent-agent')).toMatchObject({
      status: 403,
      body: { error: { code: 'forbidden' } },
    });
    await gateway.put(workspaces, { workspaces: [{ id: place.workspaceId, enabled: true }] });
    expect((await toAgent('lent-agent')).status).toBe(200);
  });
});

test('a workspace that is made later can use at once what the organisation hands to all', async () => {
  const everywhere = { workspaces: [], global_workspace_access: { enabled: true } };
  const tools = await lent('mcp', 'tools-for-all');
  const agents = await lent('agent', 'agent-for-all');
  for (const { workspaces } of [tools, agents]) expect((await gateway.put(workspaces, everywhere)).status).toBe(200);
  const made = await gateway.post('/v1/workspaces', { name: 'Later' });
  const { body } = await gateway.post('/v1/api-keys/workspace/service', {
    name: 'later',
    workspace_id: made.body.id,
    scopes: ['mcp.invoke', 'agents.invoke'],
  });
  const client = await open('tools-for-all', body.key);
  expect(textOf(await client.callTool({ name: 'echo', arguments: { text: 'new' } }))).toBe('new');
  await client.close();
  expect((await toAgent('agent-for-all', body.key)).status).toBe(200);
});

describe('what is deleted', () => {
  const registered = async (slug: string): Promise<boolean> => {
    const { body } = await gateway.get(`/v0.1/servers?search=${slug}`);
    return body.servers.some(({ server }: { server: { name: string } }) => server.name.endsWith(`/${slug}`));
  };

  test.each(['server', 'integration'])('an MCP %s is unknown everywhere, also to an open session', async (what) => {
    const slug = `gone-with-${what}`;
    const { id } = await saveIntegration(gateway, { slug, url: upstream.url });
    const client = await open(slug);
    await client.listTools();
    expect(await registered(slug)).toBe(true);
    const path = what === 'server' ? `/v1/mcp-servers/${slug}` : `/v1/mcp-integrations/${id}`;
    expect((await gateway.delete(path, undefined, { key: gateway.workspaceKey })).status).toBe(200);
    expect(await words(client.callTool({ name: 'echo', arguments: { text: 'x' } }))).toContain('server_not_found');
    expect(await registered(slug)).toBe(false);
    const own = { key: gateway.workspaceKey };
    for (const at of [`/v1/mcp-servers/${slug}`, `/v1/mcp-servers/${slug}/capabilities`]) {
      expect({ at, status: (await gateway.get(at, own)).status }).toEqual({ at, status: 404 });
    }
    const body = {
      model: 'sandbox',
      messages: [{ role: 'user', content: 'hi' }],
      tools: [{ type: 'mcp', server_label: `@gw-mcp/${slug}` }],
    };
    const beta = { 'x-gw-provider': '@sandbox', 'x-gw-beta': 'server-side-mcp-2026-06-01' };
    expect((await gateway.post('/v1/chat/completions', body, { ...own, headers: beta })).status).toBe(404);
    await client.close().catch(() => undefined);
  });

  test.each(['server', 'integration'])('an agent %s is unknown everywhere', async (what) => {
    const slug = `agent-gone-with-${what}`;
    const { id } = await saveAgent(gateway, { slug, url: agent.url });
    expect((await toAgent(slug)).status).toBe(200);
    const path = what === 'server' ? `/v1/agent-servers/${slug}` : `/v1/agent-integrations/${id}`;
    const own = { key: gateway.workspaceKey };
    expect((await gateway.delete(path, undefined, own)).status).toBe(200);
    expect(await toAgent(slug)).toMatchObject({ status: 404, body: { error: { code: 'agent_not_found' } } });
    expect((await gateway.get(`/v1/agent/${slug}/.well-known/agent-card.json`, own)).status).toBe(404);
    expect((await gateway.get(`/v1/agent-servers/${slug}`, own)).status).toBe(404);
    expect((await gateway.get(`/v1/agent-servers/${slug}/agent-card`, own)).status).toBe(404);
  });
});

test('the registry leaves out what is disabled, and takes no parameter that it does not understand', async () => {
  const { workspaces } = await lent('mcp', 'registered');
  const listed = async () => (await gateway.get('/v0.1/servers?search=registered')).body.servers.length;
  expect(await listed()).toBe(1);
  await gateway.put(workspaces, { workspaces: [{ id: place.workspaceId, enabled: false }] });
  expect(await listed()).toBe(0);
  for (const query of ['limit=0', 'limit=101', 'limit=x', 'cursor=%00', 'updated_since=yesterday', 'search=']) {
    const { status } = await gateway.get(`/v0.1/servers?${query}`);
    expect({ query, status }).toEqual({ query, status: query === 'search=' ? 200 : 400 });
  }
  const bearer = await fetch(`${gateway.url}/v0.1/servers`, {
    headers: { authorization: `Bearer ${gateway.workspaceKey}` },
  });
  expect(bearer.status).toBe(401);
});

test('a breaker that has rested closes with the first call that works', async () => {
  let isIll = true;
  const front = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) =>
      isIll
        ? new Response('ill', { status: 500 })
        : fetch(upstream.url, { method: request.method, headers: request.headers, body: request.body }),
  });
  await saveIntegration(gateway, { slug: 'recovers', url: `http://127.0.0.1:${front.port}/mcp` });
  for (let call = 0; call < 5; call++) expect(await words(open('recovers'))).toContain('upstream_error');
  expect(await words(open('recovers'))).toContain('circuit_open');
  isIll = false;
  expect(await words(open('recovers'))).toContain('circuit_open');
  gateway.clock.advance({ seconds: 31 });
  for (let call = 0; call < 2; call++) {
    const client = await open('recovers');
    expect(textOf(await client.callTool({ name: 'echo', arguments: { text: 'well' } }))).toBe('well');
    await client.close();
  }
  await front.stop(true);
});

test('a message in which a field stands twice is refused: servers differ in which of them they take', async () => {
  await saveIntegration(gateway, { slug: 'twice', url: upstream.url });
  const text =
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","n\\u0061me":"other","arguments":{}}}';
  const response = await fetch(`${gateway.url}/twice/mcp`, {
    method: 'POST',
    headers: {
      'x-gw-api-key': gateway.workspaceKey,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: text,
  });
  expect([response.status, (await response.json()).error.code]).toEqual([400, -32600]);
});
