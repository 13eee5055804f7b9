/** The gateway cannot be made to call itself, by whatever name. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { startGateway, type TestGateway } from '../harness.ts';
import { sessionClient } from '../mcp/clients.ts';
import { saveIntegration, startUpstream } from '../mcp/upstream.ts';
import { home } from '../people.ts';
import { freePort } from '../servers/free-port.ts';

let gateway: TestGateway;
let port: number;
/** Stands for a public name that leads to us: whatever it is asked, it hands on to the gateway. */
let relay: ReturnType<typeof Bun.serve>;
let relayed: { path: string; via: string | null }[] = [];

beforeAll(async () => {
  port = await freePort();
  gateway = await startGateway({ PORT: String(port), TRUSTED_CUSTOM_HOSTS: 'localhost,127.0.0.1' });
  await gateway.put('/v1/admin/organisation/settings', {
    data_plane_security_settings: { block_inline_config: false },
  });
  relay = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname } = new URL(request.url);
      relayed.push({ path: pathname, via: request.headers.get('via') });
      if (relayed.length > 5) return new Response('too often', { status: 500 });
      const headers = new Headers(request.headers);
      headers.set('x-gw-api-key', gateway.workspaceKey);
      headers.set('x-gw-provider', 'openai');
      headers.set('x-gw-custom-host', `http://127.0.0.1:${relay.port}/v1`);
      return fetch(gateway.url + pathname, { method: request.method, headers, body: await request.arrayBuffer() });
    },
  });
});
afterAll(async () => {
  await relay.stop(true);
  await gateway.stopWithoutFaults();
});
beforeEach(() => {
  relayed = [];
});

const chat = (host: string, headers: Record<string, string> = {}) =>
  gateway.post(
    '/v1/chat/completions',
    { model: 'm', messages: [{ role: 'user', content: 'Hi' }] },
    {
      key: gateway.workspaceKey,
      headers: { 'x-gw-provider': 'openai', authorization: 'Bearer k', 'x-gw-custom-host': host, ...headers },
    },
  );

test('a call that comes back through somebody else is refused at its first return', async () => {
  const { status, body } = await chat(`http://127.0.0.1:${relay.port}/v1`);
  expect({ status, code: body.error.code }).toEqual({ status: 508, code: 'loop_detected' });
  expect(relayed).toHaveLength(1);
  expect(relayed[0]?.via).toMatch(/^1\.1 gw-[0-9a-f]{24}$/);
});

test('what passes through keeps the marks of others before ours', async () => {
  await gateway.post(
    '/v1/proxy/anything',
    {},
    {
      key: gateway.workspaceKey,
      headers: {
        'x-gw-provider': 'openai',
        authorization: 'Bearer k',
        'x-gw-custom-host': `http://127.0.0.1:${relay.port}/v1`,
        via: '1.0 squid',
      },
    },
  );
  expect(relayed[0]?.via).toMatch(/^1\.0 squid, 1\.1 gw-[0-9a-f]{24}$/);
});

for (const name of ['localhost', 'a.localhost', '127.0.0.1']) {
  test(`${name} with our port is refused when it is asked for`, async () => {
    const { status, body } = await chat(`http://${name}:${port}/v1`);
    expect({ status, code: body.error.code }).toEqual({ status: 400, code: 'invalid_custom_host' });
  });

  test(`${name} with our port is refused when it is saved`, async () => {
    const { status, body } = await gateway.post('/v1/integrations', {
      name: `Loop ${name}`,
      ai_provider_id: 'openai',
      key: 'k',
      configurations: { custom_host: `http://${name}:${port}/v1` },
    });
    expect(status).toBe(400);
    expect(JSON.stringify(body)).toContain('this gateway itself');
  });
}

test('a webhook of limits that leads back to us is refused at its first return, and no loop', async () => {
  const hooked = await gateway.post('/v1/webhooks', {
    url: `http://127.0.0.1:${relay.port}/v1/chat/completions`,
    events: ['usage.exhausted'],
  });
  expect(hooked.status).toBe(200);
  const { workspaceId } = await home(gateway);
  const policy = await gateway.post('/v1/policies/usage-limits', {
    workspace_id: workspaceId,
    conditions: [{ key: 'metadata.run', value: 'looped' }],
    type: 'requests',
    credit_limit: 1,
  });
  expect(policy.status).toBe(200);
  const counted = await gateway.post(
    '/v1/chat/completions',
    { model: '@sandbox/echo', messages: [{ role: 'user', content: 'Hi' }] },
    { key: gateway.workspaceKey, headers: { 'x-gw-metadata': JSON.stringify({ run: 'looped' }) } },
  );
  expect(counted.status).toBe(200);
  await gateway.app.services.limits.flush();
  await gateway.app.jobs.runOnce('usage-sync');
  await gateway.app.jobs.runOnce('webhooks');
  const { body } = await gateway.get(`/v1/webhooks/${hooked.body.id}/deliveries`);
  expect(body.data).toMatchObject([{ status: 'queued', attempts: 1, last_error: 'it answered with status 508' }]);
  expect(relayed).toHaveLength(1);
  expect(relayed[0]?.via).toMatch(/^1\.1 gw-[0-9a-f]{24}$/);
  await gateway.delete(`/v1/webhooks/${hooked.body.id}`);
});

test('an authorisation webhook of MCP that leads back to us refuses the call, and no loop', async () => {
  const upstream = await startUpstream('session-server.ts');
  await saveIntegration(gateway, {
    slug: 'looped',
    url: upstream.url,
    configurations: {
      authorization_webhook: { url: `http://127.0.0.1:${relay.port}/looped/mcp`, timeout_ms: 10_000, on_error: 'deny' },
    },
  });
  const client = await sessionClient(`${gateway.url}/looped/mcp`, { 'x-gw-api-key': gateway.workspaceKey });
  await expect(client.callTool({ name: 'write', arguments: { text: 'x' } })).rejects.toThrow(
    'the authorization service denies this call',
  );
  expect(relayed).toMatchObject([{ path: '/looped/mcp', via: expect.stringMatching(/^1\.1 gw-[0-9a-f]{24}$/) }]);
  await client.close();
  upstream.stop();
});
