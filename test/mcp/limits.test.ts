/** Limits and guardrails on tool calls: what counts, what is refused, and how the client and the log are told. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startGateway, type TestGateway } from '../harness.ts';
import { home } from '../people.ts';
import { sessionClient, textOf } from './clients.ts';
import { saveIntegration, startUpstream, trustLoopback, type UpstreamServer } from './upstream.ts';

let gateway: TestGateway;
let upstream: UpstreamServer;
let workspaceId: string;

beforeAll(async () => {
  upstream = await startUpstream('session-server.ts', ['--json']);
  gateway = await startGateway(trustLoopback);
  workspaceId = (await home(gateway)).workspaceId;
  // Windows of a minute must not end in the middle of a test.
  gateway.clock.moveTo('2030-01-01T00:00:05Z');
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

const open = (slug: string, key = gateway.workspaceKey) =>
  sessionClient(`${gateway.url}/${slug}/mcp`, { 'x-gw-api-key': key });

const fault = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'it worked',
    (error: Error) => error.message,
  );

const newKey = async (more: object): Promise<string> => {
  const { status, body } = await gateway.post('/v1/api-keys/workspace/service', {
    name: 'limited',
    workspace_id: workspaceId,
    scopes: ['mcp.invoke'],
    ...more,
  });
  expect(status).toBe(200);
  return body.key;
};

const newPolicy = async (policy: object): Promise<string> => {
  const { status, body } = await gateway.post('/v1/policies/rate-limits', {
    workspace_id: workspaceId,
    type: 'requests',
    unit: 'rpm',
    value: 1,
    target: 'mcp_tools',
    ...policy,
  });
  expect({ status, body }).toMatchObject({ status: 200 });
  return body.id;
};

const drop = (id: string) => gateway.delete(`/v1/policies/rate-limits/${id}?workspace_id=${workspaceId}`);

describe('a rate limit of a key', () => {
  test('counts what is fetched or done, and no lists, and refuses with 429', async () => {
    await saveIntegration(gateway, { slug: 'counted', url: upstream.url });
    const key = await newKey({ rate_limits: [{ type: 'requests', unit: 'rpm', value: 2 }] });
    const client = await open('counted', key);
    await client.listTools();
    await client.listResources();
    expect(textOf(await client.callTool({ name: 'echo', arguments: { text: 'one' } }))).toBe('one');
    expect((await client.readResource({ uri: 'note://one' })).contents).toHaveLength(1);
    expect(await fault(client.callTool({ name: 'echo', arguments: { text: 'three' } }))).toContain('rate_limited');
    await client.listTools();
    await client.close();
    const refused = gateway.records.findLast(({ metrics }) => metrics.mcp_tool === 'echo')?.metrics;
    expect(refused).toMatchObject({ response_status_code: 429, is_success: false, endpoint_type: 'mcpToolCall' });
    expect(refused?.error_message).toContain('2 requests per minute');
  });
});

describe('a policy on MCP tools', () => {
  test('counts calls of the tools that it names, whoever calls them', async () => {
    await saveIntegration(gateway, { slug: 'policed', url: upstream.url });
    const policy = await newPolicy({
      conditions: [
        { key: 'mcp_server', value: 'policed' },
        { key: 'mcp_tool', value: '*', excludes: 'write' },
      ],
      group_by: [{ key: 'mcp_tool' }],
    });
    const client = await open('policed');
    await client.callTool({ name: 'echo', arguments: { text: 'one' } });
    const other = await open('policed', await newKey({}));
    expect(await fault(other.callTool({ name: 'echo', arguments: { text: 'two' } }))).toContain('rate_limited');
    expect(await fault(client.callTool({ name: 'headers', arguments: {} }))).toBe('it worked');
    expect(await fault(client.callTool({ name: 'write', arguments: { text: 'x' } }))).toBe('it worked');
    expect(await fault(client.callTool({ name: 'write', arguments: { text: 'x' } }))).toBe('it worked');
    await Promise.all([client.close(), other.close(), drop(policy)]);
  });

  test('of tokens counts arguments and results, and refuses a call whose result would not fit', async () => {
    await saveIntegration(gateway, { slug: 'metered', url: upstream.url });
    const policy = await newPolicy({
      conditions: [{ key: 'mcp_server', value: 'metered' }],
      type: 'tokens',
      value: 60,
    });
    const client = await open('metered');
    const text = 'one two three four five six seven eight nine ten';
    await client.callTool({ name: 'echo', arguments: { text } });
    // It took 40; the arguments of another would fit, the same result would not.
    expect(await fault(client.callTool({ name: 'echo', arguments: { text } }))).toContain(
      'may take 40 and 20 are left',
    );
    await client.callTool({ name: 'write', arguments: { text: 'short' } });
    await Promise.all([client.close(), drop(policy)]);
  });

  test('leaves model calls alone', async () => {
    const policy = await newPolicy({ conditions: [{ key: 'workspace_id', value: workspaceId }] });
    const body = { model: '@sandbox/small', messages: [{ role: 'user', content: 'hi' }] };
    for (let call = 0; call < 2; call++) {
      const { status } = await gateway.post('/v1/chat/completions', body, { key: gateway.workspaceKey });
      expect(status).toBe(200);
    }
    await drop(policy);
  });
});

test('the rate that an integration allows is counted across clients', async () => {
  const configurations = { rate_limit: { value: 1, unit: 'rpm' } };
  await saveIntegration(gateway, { slug: 'slow', url: upstream.url, configurations });
  const client = await open('slow');
  await client.callTool({ name: 'echo', arguments: { text: 'one' } });
  expect(await fault(client.callTool({ name: 'echo', arguments: { text: 'two' } }))).toContain('rate_limited');
  await client.close();
});

describe('guardrails of an integration', () => {
  const newGuardrail = async (guardrail: object): Promise<string> => {
    const { status, body } = await gateway.post('/v1/guardrails', {
      name: 'on tools',
      workspace_id: workspaceId,
      actions: { deny: true },
      ...guardrail,
    });
    expect({ status, body }).toMatchObject({ status: 200 });
    return body.slug;
  };
  const contains = (words: string[]) => [{ id: 'default.contains', parameters: { operator: 'none', words } }];

  test('deny a call before the upstream hears of it, as a result that the model can read', async () => {
    const slug = await newGuardrail({ checks: contains(['forbidden']) });
    await saveIntegration(gateway, {
      slug: 'guarded',
      url: upstream.url,
      configurations: { input_guardrails: [slug] },
    });
    const client = await open('guarded');
    expect(textOf(await client.callTool({ name: 'echo', arguments: { text: 'fine' } }))).toBe('fine');
    const denied = await client.callTool({ name: 'echo', arguments: { text: 'forbidden' } });
    expect(denied).toMatchObject({
      isError: true,
      _meta: { 'gw/hook_results': { before_request_hooks: [{ verdict: false, deny: true }] } },
    });
    await client.close();
    const row = gateway.records.findLast(({ metrics }) => metrics.mcp_server === 'guarded' && metrics.mcp_tool !== '');
    expect(row?.metrics).toMatchObject({ is_success: false, response_status_code: 200 });
    expect(JSON.parse(Buffer.from(row?.bodies.hookResults?.body ?? []).toString())).toMatchObject({
      before_request_hooks: [{ verdict: false }],
    });
  });

  test('replace a denied result, and change texts of one that passes', async () => {
    const slug = await newGuardrail({ checks: contains(['secret']) });
    const mask = await newGuardrail({
      name: 'mask',
      checks: [{ id: 'default.regexReplace', parameters: { rule: '\\d{4}', redactText: '####' } }],
      actions: {},
    });
    const configurations = { output_guardrails: [mask, slug] };
    await saveIntegration(gateway, { slug: 'watched', url: upstream.url, configurations });
    const client = await open('watched');
    const denied = await client.callTool({ name: 'echo', arguments: { text: 'a secret' } });
    expect(denied.isError).toBe(true);
    expect(JSON.stringify(denied)).not.toContain('a secret');
    expect(textOf(await client.callTool({ name: 'echo', arguments: { text: 'pin 1234' } }))).toBe('pin ####');
    await client.close();
  });

  test('of a server stand in place of its integration, and names that lead nowhere are refused', async () => {
    const slug = await newGuardrail({ checks: contains(['forbidden']) });
    await saveIntegration(gateway, { slug: 'own', url: upstream.url, configurations: { input_guardrails: [slug] } });
    const change = (body: object) => gateway.put('/v1/mcp-servers/own', body, { key: gateway.workspaceKey });
    expect((await change({ input_guardrails: ['nobody'] })).status).toBe(400);
    expect((await change({ input_guardrails: [] })).status).toBe(200);
    const client = await open('own');
    expect(textOf(await client.callTool({ name: 'echo', arguments: { text: 'forbidden' } }))).toBe('forbidden');
    expect((await change({ input_guardrails: null })).status).toBe(200);
    expect(await client.callTool({ name: 'echo', arguments: { text: 'forbidden' } })).toMatchObject({ isError: true });
    await client.close();
  });

  test('defaults of the workspace count only where they apply to MCP', async () => {
    await saveIntegration(gateway, { slug: 'default', url: upstream.url });
    const plain = await newGuardrail({ checks: contains(['alpha']) });
    const wide = await newGuardrail({ checks: contains(['beta']), actions: { deny: true, apply_to_mcp: true } });
    const set = (list: string[]) =>
      gateway.put(`/v1/admin/workspaces/${workspaceId}`, { defaults: { input_guardrails: list } });
    expect((await set([plain, wide])).status).toBe(200);
    const client = await open('default');
    expect(textOf(await client.callTool({ name: 'echo', arguments: { text: 'alpha' } }))).toBe('alpha');
    expect(await client.callTool({ name: 'echo', arguments: { text: 'beta' } })).toMatchObject({ isError: true });
    await client.close();
    expect((await set([])).status).toBe(200);
  });
});

test('calls are grouped by server, method, tool and person, and found by them', async () => {
  await saveIntegration(gateway, { slug: 'grouped', url: upstream.url });
  const client = await open('grouped');
  await client.callTool({ name: 'echo', arguments: { text: 'one' } });
  await client.callTool({ name: 'fail', arguments: {} });
  await client.close();
  await gateway.app.services.logs.settled();
  const range = 'time_of_generation_min=2029-12-31T00:00:00Z&time_of_generation_max=2030-01-02T00:00:00Z';
  const groups = async (name: string) =>
    (await gateway.get(`/v1/analytics/groups/${name}?workspace_id=${workspaceId}&${range}&mcp_servers=grouped`)).body
      .data;
  expect(await groups('mcp_tool')).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ mcp_tool: 'echo', requests: 1 }),
      expect.objectContaining({ mcp_tool: 'fail', requests: 1 }),
    ]),
  );
  expect(await groups('mcp_server')).toMatchObject([{ mcp_server: 'grouped' }]);
  expect((await groups('mcp_method')).map(({ mcp_method }: { mcp_method: string }) => mcp_method)).toContain(
    'tools/call',
  );
});
