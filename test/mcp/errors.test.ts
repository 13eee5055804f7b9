/** Every refusal of a message at the MCP gateway, by its exact status, code and word; and upstreams that misbehave. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { TestGateway } from '../harness.ts';
import { addKey, type Home } from '../people.ts';
import { type ErrorsWorld, initialize, startErrorsWorld, toolCall } from './errors-world.ts';
import { saveIntegration, type UpstreamServer } from './upstream.ts';

let world: ErrorsWorld;
let gateway: TestGateway;
let place: Home;
let upstream: UpstreamServer;
let hostile: UpstreamServer;
let ask: ErrorsWorld['ask'];
let session: ErrorsWorld['session'];

beforeAll(async () => {
  world = await startErrorsWorld();
  ({ gateway, place, upstream, hostile, ask, session } = world);
});

afterAll(() => world.stop());

describe('a message of the session era', () => {
  test.each([
    ['that is no JSON', '{"jsonrpc":', 400, -32700],
    ['that is empty', '', 400, -32700],
    ['that is nested without end', `${'['.repeat(50_000)}${']'.repeat(50_000)}`, 400, -32700],
    ['of another version of JSON-RPC', '{"jsonrpc":"1.0","id":1,"method":"ping"}', 400, -32600],
    ['without a method', '{"jsonrpc":"2.0","id":1}', 400, -32600],
    ['whose id is null', '{"jsonrpc":"2.0","id":null,"method":"ping"}', 400, -32600],
    ['whose params are a list', '{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', 400, -32600],
    ['that is a text', '"ping"', 400, -32600],
    ['that is an empty batch', '[]', 400, -32600],
  ])('%s', async (_, sent, status, code) => {
    const { status: got, body } = await ask(sent, { headers: await session() });
    expect([got, body.error.code, body.id]).toEqual([status, code, null]);
  });

  test('that is a batch, in a revision that knows none: 400', async () => {
    const headers = { ...(await session()), 'mcp-protocol-version': '2025-11-25' };
    const { status, body } = await ask([{ jsonrpc: '2.0', id: 1, method: 'ping' }], { headers });
    expect([status, body.error.code]).toEqual([400, -32600]);
  });

  test('of an unknown method: 200 with -32601', async () => {
    const { status, body } = await ask({ jsonrpc: '2.0', id: 5, method: 'surprise/me' }, { headers: await session() });
    expect([status, body.id, body.error.code]).toEqual([200, 5, -32601]);
  });

  test('for a tool that is unknown or switched off: the same words', async () => {
    const { id } = await saveIntegration(gateway, { slug: 'halved', url: upstream.url });
    const own = { key: gateway.workspaceKey };
    await gateway.post(`/v1/mcp-integrations/${id}/sync`, undefined, own);
    const off = { capabilities: [{ name: 'write', type: 'tool', enabled: false }] };
    await gateway.put('/v1/mcp-servers/halved/capabilities', off, own);
    const asked = { slug: 'halved', headers: await session({ slug: 'halved' }) };
    const { status, body } = await ask(toolCall('write'), asked);
    expect([status, body.error]).toEqual([
      200,
      { code: -32602, message: 'Unknown tool: write', data: { code: 'tool_not_available' } },
    ]);
  });

  test('in a revision that nobody knows: 400', async () => {
    const headers = { ...(await session()), 'mcp-protocol-version': '1999-01-01' };
    const { status, body } = await ask({ jsonrpc: '2.0', id: 1, method: 'ping' }, { headers });
    expect([status, body.error.code, body.error.message]).toEqual([
      400,
      -32600,
      'Bad Request: Unsupported protocol version: 1999-01-01',
    ]);
  });

  test('without its session: 400; of one that is unknown, ended or of another credential: 404', async () => {
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    expect(await ask(ping)).toMatchObject({ status: 400, body: { error: { data: { code: 'session_required' } } } });
    const own = await session();
    const { organisationId, workspaceId } = place;
    const scopes = ['mcp.invoke'] as const;
    const other = { organisationId, workspaceId, userId: null, type: 'workspace-service', scopes } as const;
    const refused = [
      { headers: { 'mcp-session-id': 'nonsense' } },
      { headers: own, key: (await addKey(gateway, other)).secret },
      { headers: own, slug: 'hostile' },
    ];
    for (const asked of refused) {
      expect(await ask(ping, asked)).toMatchObject({
        status: 404,
        body: { error: { code: -32000, data: { code: 'session_not_found' } } },
      });
    }
    expect((await ask(null, { headers: own, method: 'DELETE' })).status).toBe(204);
    expect((await ask(ping, { headers: own })).status).toBe(404);
  });

  test('that the client cannot take an answer to: 406; in another form than JSON: 415; by another method: 405', async () => {
    expect((await ask(initialize(), { headers: { accept: 'application/json' } })).status).toBe(406);
    expect((await ask(initialize(), { headers: { 'content-type': 'text/plain' } })).status).toBe(415);
    const patched = await ask(null, { method: 'PATCH' });
    expect([patched.status, patched.headers.get('allow')]).toEqual([405, 'GET, POST, DELETE']);
  });

  test('a notification, and an answer that nobody waits for, are 202', async () => {
    const headers = await session();
    const told = { jsonrpc: '2.0', method: 'notifications/initialized' };
    expect(await ask(told, { headers })).toMatchObject({ status: 202, body: null });
  });

  test('a stream of an upstream that has none: 405', async () => {
    const headers = await session({ slug: 'hostile' });
    const { status, headers: answered } = await ask(null, { slug: 'hostile', headers, method: 'GET' });
    expect([status, answered.get('allow')]).toEqual([405, 'POST, DELETE']);
  });
});

describe('a message of the stateless era', () => {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' };
  const list = (own: object = meta) => ({ jsonrpc: '2.0', id: 2, method: 'tools/list', params: { _meta: own } });

  test('by GET or DELETE: 405', async () => {
    for (const method of ['GET', 'DELETE']) {
      const { status, headers: answered, body } = await ask(null, { headers, method });
      expect([status, answered.get('allow'), body.error.data.code]).toEqual([405, 'POST', 'method_not_allowed']);
    }
  });

  test('in a later revision: 400 with -32022 and those that are known', async () => {
    const own = { ...meta, 'io.modelcontextprotocol/protocolVersion': '2099-01-01' };
    const { status, body } = await ask(list(own), { headers: { ...headers, 'mcp-protocol-version': '2099-01-01' } });
    expect([status, body.error.code, body.error.data]).toEqual([
      400,
      -32022,
      { supported: ['2026-07-28'], requested: '2099-01-01' },
    ]);
  });

  test.each([
    ['without its method in a header', { 'mcp-protocol-version': '2026-07-28' }],
    ['with another method in a header', { ...headers, 'mcp-method': 'prompts/list' }],
    ['with another revision in a header', { ...headers, 'mcp-protocol-version': '2025-11-25' }],
  ])('%s: 400 with -32020', async (_, sent) => {
    const { status, body } = await ask(list(), { headers: sent });
    expect([status, body.error.code]).toEqual([400, -32020]);
  });

  test('without its envelope: 400 with -32602', async () => {
    const lacking = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
    const { status, body } = await ask(list(lacking), { headers });
    expect([status, body.error.code]).toEqual([400, -32602]);
  });

  test('of an unknown method: 404 with -32601', async () => {
    const asked = { ...list(), method: 'surprise/me' };
    const { status, body } = await ask(asked, { headers: { ...headers, 'mcp-method': 'surprise/me' } });
    expect([status, body.error.code]).toEqual([404, -32601]);
  });
});

describe('an upstream', () => {
  test.each([
    ['hangs', 504, -32001, 'upstream_timeout'],
    ['drips', 504, -32001, 'upstream_timeout'],
    ['floods', 502, -32000, 'upstream_error'],
    ['floods-events', 502, -32000, 'upstream_error'],
    ['html', 502, -32000, 'upstream_error'],
    ['resets', 502, -32000, 'upstream_error'],
    ['fails', 502, -32000, 'upstream_error'],
    ['busy', 429, -32000, 'rate_limited'],
    ['redirects', 502, -32000, 'upstream_error'],
    ['answers-another', 502, -32000, 'upstream_error'],
    ['deep', 502, -32000, 'upstream_error'],
    ['stops-early', 502, -32000, 'upstream_error'],
  ])('that %s is %d with %d %s, and its other sessions go on', async (tool, status, code, word) => {
    const headers = await session({ slug: 'hostile' });
    const others = await session({ slug: 'hostile' });
    const asked = ask(toolCall(tool), { slug: 'hostile', headers });
    const fine = await ask(toolCall('works'), { slug: 'hostile', headers: others });
    expect(fine.body.result.content[0].text).toBe('works');
    const { status: got, body, headers: answered } = await asked;
    expect([got, body.id, body.error.code, body.error.data.code]).toEqual([status, 9, code, word]);
    expect(JSON.stringify(body)).not.toMatch(/127\.0\.0\.1|169\.254|broken|<html>/);
    if (status === 429) expect(answered.get('retry-after')).toBe('7');
    expect((await ask(toolCall('works'), { slug: 'hostile', headers })).status).toBe(200);
  });

  test('that refuses in words of its own is handed on unchanged', async () => {
    const headers = await session({ slug: 'hostile' });
    const { status, body } = await ask(toolCall('refuses'), { slug: 'hostile', headers });
    expect([status, body]).toEqual([
      200,
      { jsonrpc: '2.0', id: 9, error: { code: -31999, message: 'not today', data: { because: 'rain' } } },
    ]);
  });

  test('that is left alone after failures: 503 with circuit_open and how long', async () => {
    await saveIntegration(gateway, { slug: 'failing', url: hostile.url });
    const headers = await session({ slug: 'failing' });
    for (let call = 0; call < 5; call++) await ask(toolCall('fails'), { slug: 'failing', headers });
    const { status, body, headers: answered } = await ask(toolCall('works'), { slug: 'failing', headers });
    expect([status, body.error.code, body.error.data.code]).toEqual([503, -32000, 'circuit_open']);
    expect(Number(answered.get('retry-after'))).toBeGreaterThan(0);
  });

  test('that may be called once a minute: 429 with rate_limited and how long', async () => {
    const configurations = { rate_limit: { unit: 'rpm', value: 1 } };
    await saveIntegration(gateway, { slug: 'rare', url: upstream.url, configurations });
    const headers = await session({ slug: 'rare' });
    await ask({ ...toolCall('echo'), params: { name: 'echo', arguments: { text: 'x' } } }, { slug: 'rare', headers });
    const { status, body, headers: answered } = await ask(toolCall('echo'), { slug: 'rare', headers });
    expect([status, body.error.code, body.error.data.code]).toEqual([429, -32000, 'rate_limited']);
    expect(Number(answered.get('retry-after'))).toBeGreaterThan(0);
  });
});
