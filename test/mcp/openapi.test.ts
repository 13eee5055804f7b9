/** An HTTP API as an MCP integration: its operations are tools, called with its own credentials. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startGateway, type TestGateway } from '../harness.ts';
import { sessionClient, textOf } from './clients.ts';
import { saveIntegration, trustLoopback } from './upstream.ts';

let gateway: TestGateway;
let api: ReturnType<typeof Bun.serve>;

const document = {
  openapi: '3.1.0',
  info: { title: 'Pets', version: '2.0', description: 'All about pets' },
  paths: {
    '/pets': {
      get: {
        operationId: 'listPets',
        parameters: [
          { name: 'tag', in: 'query', schema: { type: 'array', items: { type: 'string' } } },
          { name: 'X-Team', in: 'header', schema: { type: 'string' } },
        ],
      },
      post: {
        operationId: 'addPet',
        requestBody: { required: true, content: { 'application/json': { schema: { type: 'object' } } } },
      },
    },
    '/pets/{id}': {
      get: {
        operationId: 'readPet',
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
      },
    },
    '/fail': { get: { operationId: 'fail' } },
    '/picture': { get: { operationId: 'picture' } },
    '/away': { get: { operationId: 'away' } },
  },
};

beforeAll(async () => {
  api = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      if (pathname === '/v1/fail') return new Response('no such thing', { status: 404 });
      if (pathname === '/v1/picture')
        return new Response(new Uint8Array([1, 2]), { headers: { 'content-type': 'image/png' } });
      if (pathname === '/v1/away') return Response.redirect('http://169.254.169.254/latest', 307);
      return Response.json({
        path: pathname + search,
        method: request.method,
        key: request.headers.get('x-api-secret'),
        team: request.headers.get('x-team'),
        caller: request.headers.get('x-gw-api-key'),
        body: await request.text(),
      });
    },
  });
  gateway = await startGateway(trustLoopback);
  await saveIntegration(gateway, {
    slug: 'pets',
    url: `http://127.0.0.1:${api.port}/v1/`,
    transport: 'openapi',
    auth_type: 'headers',
    configurations: { openapi: { document }, headers: { 'x-api-secret': 'canary-api' } },
  });
});

afterAll(async () => {
  await gateway.stop();
  await api.stop(true);
});

const open = () => sessionClient(`${gateway.url}/pets/mcp`, { 'x-gw-api-key': gateway.workspaceKey });

const called = async (name: string, given: Record<string, unknown> = {}) => {
  const client = await open();
  const result = await client.callTool({ name, arguments: given });
  await client.close();
  return result;
};

test('its operations are listed, and it says who it is', async () => {
  const client = await open();
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual([
    'listPets',
    'addPet',
    'readPet',
    'fail',
    'picture',
    'away',
  ]);
  expect(client.getServerVersion()).toMatchObject({ name: 'Pets', version: '2.0' });
  expect(client.getInstructions()).toBe('All about pets');
  await client.close();
  const { body } = await gateway.post('/v1/mcp-servers/pets/test', undefined, { key: gateway.workspaceKey });
  expect(body).toMatchObject({ success: true, server_name: 'Pets' });
});

describe('a call', () => {
  test('carries query, headers and the credential of the integration, never that of the caller', async () => {
    const result = await called('listPets', { tag: ['a b', 'c&d'], 'X-Team': 'blue' });
    expect(result.structuredContent).toMatchObject({
      path: '/v1/pets?tag=a+b&tag=c%26d',
      method: 'GET',
      key: 'canary-api',
      team: 'blue',
      caller: null,
    });
  });

  test('writes its body as JSON', async () => {
    expect((await called('addPet', { body: { name: 'Rex' } })).structuredContent).toMatchObject({
      method: 'POST',
      body: '{"name":"Rex"}',
    });
  });

  test('keeps a path parameter within its segment', async () => {
    expect((await called('readPet', { id: '../admin?x=1#y' })).structuredContent).toMatchObject({
      path: '/v1/pets/..%2Fadmin%3Fx%3D1%23y',
    });
    expect(await called('readPet', { id: '..' })).toMatchObject({ isError: true });
    expect(textOf(await called('readPet', {}))).toContain('id is required');
  });

  test('that the API refuses is a result that says why; a picture is one too', async () => {
    const failed = await called('fail');
    expect(failed).toMatchObject({ isError: true });
    expect(textOf(failed)).toBe('HTTP 404: no such thing');
    expect(await called('picture')).toMatchObject({
      content: [{ type: 'image', data: 'AQI=', mimeType: 'image/png' }],
    });
  });

  test('never follows a redirect to an address that must not be called', async () => {
    await expect(called('away')).rejects.toThrow('upstream_error');
  });

  test('of something else than a tool is unknown', async () => {
    await expect(called('nobody')).rejects.toThrow('Unknown tool');
  });
});

test.each([
  ['without a document', {}, 'configurations.openapi'],
  ['with a document that is none', { openapi: { document: 'hello' } }, 'configurations.openapi.document'],
])('an integration %s is refused', async (_, configurations, path) => {
  const { status, body } = await gateway.post(
    '/v1/mcp-integrations',
    { name: 'x', url: 'https://example.com', transport: 'openapi', auth_type: 'none', configurations },
    { key: gateway.workspaceKey },
  );
  expect([status, body.data.errors[0].path]).toEqual([400, path]);
});

test('operations that cannot be tools are named in the answers of create, test and sync', async () => {
  const withUpload = {
    ...document,
    paths: {
      ...document.paths,
      '/upload': {
        post: {
          operationId: 'upload',
          requestBody: { required: true, content: { 'multipart/form-data': { schema: { type: 'object' } } } },
        },
      },
    },
  };
  const told = expect.arrayContaining([expect.stringMatching(/^POST \/upload: /)]);
  const made = await saveIntegration(gateway, {
    slug: 'uploads',
    url: `http://127.0.0.1:${api.port}/v1`,
    transport: 'openapi',
    configurations: { openapi: { document: withUpload } },
  });
  expect(made).toMatchObject({ left_out: told });
  const key = gateway.workspaceKey;
  for (const action of ['test', 'sync']) {
    expect((await gateway.post(`/v1/mcp-integrations/uploads/${action}`, {}, { key })).body).toMatchObject({
      left_out: told,
    });
  }
  expect((await gateway.post('/v1/mcp-servers/uploads/test', {}, { key })).body).toMatchObject({ left_out: told });
  const whole = await gateway.put(
    '/v1/mcp-integrations/uploads',
    { configurations: { openapi: { document } } },
    { key },
  );
  expect(whole.body.left_out).toBeUndefined();
});
