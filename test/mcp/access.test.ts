/** Who may see and call what, and what upstreams are told of the caller. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { startGateway, type TestGateway } from '../harness.ts';
import { home } from '../people.ts';
import { sessionClient, textOf } from './clients.ts';
import { saveIntegration, startUpstream, trustLoopback, type UpstreamServer } from './upstream.ts';

let gateway: TestGateway;
let upstream: UpstreamServer;

beforeAll(async () => {
  upstream = await startUpstream('session-server.ts');
  gateway = await startGateway(trustLoopback);
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

const open = (slug: string, headers: Record<string, string> = {}) =>
  sessionClient(`${gateway.url}/${slug}/mcp`, { 'x-gw-api-key': gateway.workspaceKey, ...headers });

const toolsOf = async (slug: string, headers?: Record<string, string>): Promise<string[]> => {
  const client = await open(slug, headers);
  const { tools } = await client.listTools();
  await client.close();
  return tools.map(({ name }) => name);
};

const synced = async (slug: string, configurations: Record<string, unknown> = {}, more: object = {}) => {
  const { id } = await saveIntegration(gateway, { slug, url: upstream.url, configurations, ...more });
  await gateway.post(`/v1/mcp-integrations/${id}/sync`, undefined, { key: gateway.workspaceKey });
  return id;
};

const switchOff = (path: string, capability: object) =>
  gateway.put(path, { capabilities: [{ enabled: false, ...capability }] }, { key: gateway.workspaceKey });

describe('what is switched off', () => {
  test('is neither listed nor callable, in the words of something that never was', async () => {
    const id = await synced('switched');
    await switchOff(`/v1/mcp-integrations/${id}/capabilities`, { name: 'write', type: 'tool' });
    await switchOff('/v1/mcp-servers/switched/capabilities', { name: 'note://one', type: 'resource' });
    await switchOff('/v1/mcp-servers/switched/capabilities', {
      name: 'note://numbered/{n}',
      type: 'resource_template',
    });
    await switchOff('/v1/mcp-servers/switched/capabilities', { name: 'greet', type: 'prompt' });
    const client = await open('switched');
    expect((await client.listTools()).tools.map(({ name }) => name)).not.toContain('write');
    expect((await client.listResources()).resources).toEqual([]);
    expect((await client.listPrompts()).prompts).toEqual([]);
    const words = async (work: Promise<unknown>) =>
      work.then(
        () => 'it worked',
        (fault: Error) => fault.message,
      );
    expect(await words(client.callTool({ name: 'write', arguments: { text: 'x' } }))).toContain('Unknown tool: write');
    expect(
      await words(
        client.callTool({ name: 'never', arguments: {} }).then((result) => {
          throw new Error(textOf(result));
        }),
      ),
    ).toContain('never');
    expect(await words(client.readResource({ uri: 'note://one' }))).toContain('Resource not found');
    expect(await words(client.readResource({ uri: 'note://numbered/1' }))).toContain('Resource not found');
    expect(await words(client.getPrompt({ name: 'greet', arguments: { name: 'x' } }))).toContain('Unknown prompt');
    await client.close();
  });

  test('stays so for a gateway that has seen nothing of the server yet', async () => {
    const id = await synced('cold');
    await switchOff(`/v1/mcp-integrations/${id}/capabilities`, { name: 'write', type: 'tool' });
    const client = await open('cold');
    await expect(client.callTool({ name: 'write', arguments: { text: 'x' } })).rejects.toThrow('Unknown tool');
    await client.close();
  });
});

test('a person who is denied gets 403, by name or by default', async () => {
  await synced('closed');
  const { owner, workspaceId } = await home(gateway);
  const minted = await gateway.post(
    '/v1/api-keys/workspace/user',
    { name: 'own', workspace_id: workspaceId, user_id: owner.userId, scopes: ['mcp.invoke'] },
    { key: owner.session },
  );
  const key = { 'x-gw-api-key': minted.body.key };
  expect(await toolsOf('closed', key)).toContain('echo');
  await gateway.put('/v1/mcp-servers/closed/user-access', { default_user_access: 'deny' }, { key: owner.session });
  await expect(open('closed', key)).rejects.toThrow('forbidden');
  await gateway.put(
    '/v1/mcp-servers/closed/user-access',
    { user_access: [{ user_id: owner.userId, enabled: true }] },
    { key: owner.session },
  );
  expect(await toolsOf('closed', key)).toContain('echo');
});

test('a server that is taken from the workspace is 403, a deleted one 404, at once', async () => {
  const id = await synced('going');
  expect(await toolsOf('going')).toContain('echo');
  await gateway.delete(`/v1/mcp-integrations/${id}`, undefined, { key: gateway.workspaceKey });
  await expect(open('going')).rejects.toThrow('server_not_found');
});

describe('what the upstream is told', () => {
  const headersSeen = async (slug: string, sent: Record<string, string>) => {
    const client = await open(slug, sent);
    const seen = JSON.parse(textOf(await client.callTool({ name: 'headers', arguments: {} })));
    await client.close();
    return seen as Record<string, string>;
  };
  const sent = {
    'x-tenant': 'blue',
    'x-team': 'red',
    cookie: 'session=1',
    'x-user-claims': '{"sub":"forged"}',
    'x-access-token': 'canary-token',
  };

  test('only headers that are listed, renamed where that is said, and never credentials', async () => {
    await synced('listed', {
      headers: { authorization: 'Bearer upstream-secret' },
      forward_headers: [
        'x-tenant',
        { from: 'x-team', to: 'x-group' },
        'cookie',
        { from: 'x-tenant', to: 'authorization' },
      ],
    });
    const seen = await headersSeen('listed', sent);
    expect(seen).toMatchObject({ 'x-tenant': 'blue', 'x-group': 'red', authorization: 'Bearer upstream-secret' });
    for (const name of ['x-team', 'cookie', 'x-user-claims', 'x-access-token', 'x-gw-api-key'])
      expect(seen[name]).toBeUndefined();
  });

  test('all but those that are listed, and still never credentials', async () => {
    await synced('most', { forward_headers: { mode: 'all-except', headers: ['x-team'] } });
    const seen = await headersSeen('most', sent);
    expect(seen['x-tenant']).toBe('blue');
    for (const name of ['x-team', 'cookie', 'authorization', 'x-user-claims', 'x-access-token', 'x-gw-api-key']) {
      expect(seen[name]).toBeUndefined();
    }
  });

  test('who is calling, signed with the key of the key set', async () => {
    await synced('signed', { user_identity_forwarding: { method: 'jwt_header' } });
    const { owner, workspaceId } = await home(gateway);
    const minted = await gateway.post(
      '/v1/api-keys/workspace/user',
      { name: 'own', workspace_id: workspaceId, user_id: owner.userId, scopes: ['mcp.invoke'] },
      { key: owner.session },
    );
    const seen = await headersSeen('signed', { 'x-gw-api-key': minted.body.key, 'x-user-jwt': 'forged' });
    const keys = await gateway.get('/.well-known/jwks.json', { key: '' });
    const { payload } = await jwtVerify(seen['x-user-jwt'] ?? '', createLocalJWKSet(keys.body), {
      issuer: 'gw-mcp-gateway',
    });
    expect(payload).toMatchObject({ sub: owner.userId, email: owner.email, workspace_id: workspaceId });
  });
});

test('two tools in place of all: one searches, the other calls', async () => {
  await synced('searched', { tool_search: true });
  const client = await open('searched');
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['search_tools', 'execute_tool']);
  const found = await client.callTool({ name: 'search_tools', arguments: { query: 'told' } });
  expect(textOf(found)).toContain('"name":"echo"');
  const result = await client.callTool({
    name: 'execute_tool',
    arguments: { name: 'echo', arguments: { text: 'found' } },
  });
  expect(textOf(result)).toBe('found');
  await client.close();
});

test('a pinned tool that changes is hidden until it is approved again, with its difference shown', async () => {
  const server = await startUpstream('session-server.ts');
  const { id } = await saveIntegration(gateway, {
    slug: 'pinned',
    url: server.url,
    configurations: { pin_tools: true },
  });
  const key = gateway.workspaceKey;
  await gateway.post(`/v1/mcp-integrations/${id}/sync`, undefined, { key });
  const first = await open('pinned');
  expect((await first.listTools()).tools.map(({ name }) => name)).toContain('echo');
  await first.callTool({ name: 'rename', arguments: {} });
  await first.close();
  const second = await open('pinned');
  expect((await second.listTools()).tools.map(({ name }) => name)).not.toContain('echo');
  await expect(second.callTool({ name: 'echo', arguments: { text: 'x' } })).rejects.toThrow('Unknown tool');
  await second.close();
  await gateway.post(`/v1/mcp-integrations/${id}/sync`, undefined, { key });
  const { body } = await gateway.get(`/v1/mcp-integrations/${id}/capabilities?type=tool`, { key });
  const row = body.data.find(({ name }: { name: string }) => name === 'echo');
  expect(row.changed.description).toEqual({
    approved: 'Says what it was told',
    current: 'Sends everything to somebody else',
  });
  await gateway.put(
    `/v1/mcp-integrations/${id}/capabilities`,
    { capabilities: [{ name: 'echo', type: 'tool', enabled: true }] },
    { key },
  );
  expect(await toolsOf('pinned')).toContain('echo');
  server.stop();
});

test('an upstream that fails five times is left alone, and asked again later', async () => {
  const dead = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('broken', { status: 500 }) });
  await saveIntegration(gateway, { slug: 'broken', url: `http://127.0.0.1:${dead.port}/mcp` });
  const attempt = () =>
    open('broken').then(
      () => 'open',
      (fault: Error) => (/circuit_open/.test(fault.message) ? 'left alone' : 'failed'),
    );
  const outcomes = [];
  for (let call = 0; call < 6; call++) outcomes.push(await attempt());
  expect(outcomes).toEqual([...Array.from({ length: 5 }, () => 'failed'), 'left alone']);
  gateway.clock.advance({ seconds: 31 });
  expect(await attempt()).toBe('failed');
  expect(await attempt()).toBe('left alone');
  await dead.stop(true);
});

test('an upstream that answers with a redirect to a private host is not followed', async () => {
  const sly = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => new Response(null, { status: 307, headers: { location: 'http://169.254.169.254/latest/meta-data' } }),
  });
  await saveIntegration(gateway, { slug: 'sly', url: `http://127.0.0.1:${sly.port}/mcp` });
  await expect(open('sly')).rejects.toThrow('cannot be used');
  await sly.stop(true);
});

test('the registry lists what a key may see, with our own address', async () => {
  await synced('published');
  const { status, body } = await gateway.get('/v0.1/servers?limit=1&search=publ');
  expect(status).toBe(200);
  expect(body.servers[0].server).toMatchObject({
    version: '1.2.3',
    remotes: [{ type: 'streamable-http', url: `${gateway.url}/published/mcp` }],
  });
  expect(body.metadata).toEqual({ count: 1 });
  const all = await gateway.get('/v0.1/servers?limit=1');
  const next = await gateway.get(`/v0.1/servers?limit=1&cursor=${all.body.metadata.nextCursor}`);
  expect(next.body.servers[0].server.name).not.toBe(all.body.servers[0].server.name);
  const name = encodeURIComponent(body.servers[0].server.name);
  expect((await gateway.get(`/v0.1/servers/${name}/versions/latest`)).body.server.version).toBe('1.2.3');
  expect((await gateway.get('/v0.1/servers?cursor=nonsense')).status).toBe(400);
  expect((await gateway.get('/v0.1/servers', { key: '' })).status).toBe(401);
  const other = await gateway.post('/v1/workspaces', { name: 'Elsewhere' });
  const key = {
    key: (
      await gateway.post(
        '/v1/api-keys/workspace/service',
        { name: 'lists', scopes: ['mcp_servers.list'] },
        { key: gateway.workspaceKey },
      )
    ).body.key,
  };
  expect((await gateway.get(`/v0.1/servers?workspace_id=${other.body.id}`, key)).status).toBe(403);
  expect((await gateway.get('/v0.1/servers?workspace_id=nowhere')).status).toBe(404);
});
