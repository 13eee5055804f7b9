/** Canaries: secrets planted in every resource that takes one are found in no export, span, metric, line of the program's log or file, although every server that gets one sends it back. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { exportPKCS8, generateKeyPair } from 'jose';
import { queueDeliveries } from '../../src/admin/webhooks/queue.ts';
import { Canaries, type CanaryWorld, echo, filesUnder, origin, question, startCanaryWorld } from '../canary-world.ts';
import { browse, signInAddressIn } from '../mcp/browser.ts';
import { sessionClient, textOf } from '../mcp/clients.ts';
import { saveIntegration, startUpstream } from '../mcp/upstream.ts';
import { addKey, home } from '../people.ts';
import * as openai from '../providers/openai.ts';
import type { SimulatedProvider } from '../providers/simulated.ts';
import { freePort } from '../servers/free-port.ts';
import type { Collector } from '../servers/otlp-collector.ts';
import { startIdentityProvider, verifyDomain, Walker } from '../sso/walk.ts';
import type { World } from '../world.ts';

const canaries = new Canaries();
const { planted } = canaries;
const canary = (name: string) => canaries.plant(name);
const foundIn = (text: string | Buffer) => canaries.foundIn(text);

let plantedWorld: CanaryWorld;
let saved: CanaryWorld['saved'];
let call: CanaryWorld['call'];
let collector: Collector;
let provider: SimulatedProvider;
let partner: SimulatedProvider;
let service: SimulatedProvider;
let vault: SimulatedProvider;
let world: World;
let workspaceId: string;

const vaultToken = canary('vault-token');
const managed = canary('managed-secret');

beforeAll(async () => {
  plantedWorld = await startCanaryWorld(canaries, { vaultToken, managed });
  ({ collector, provider, partner, service, vault, world, workspaceId, saved, call } = plantedWorld);
});
afterAll(() => plantedWorld.stop());

test('providers get theirs, and are made to echo them', async () => {
  await world.saveProvider('a', 'openai', provider, {
    key: canary('integration'),
    configurations: { custom_host: provider.url, custom_headers: { 'x-vendor-pass': canary('custom-header') } },
  });
  await saved('/v1/secret-references', {
    name: 'managed',
    slug: 'managed',
    manager_type: 'hashicorp_vault',
    auth_config: { vault_auth_type: 'token', vault_addr: origin(vault), vault_token: vaultToken },
    secret_path: 'secret/data/managed',
    secret_key: 'key',
  });
  await world.saveProvider('managed', 'openai', provider, {
    key: null,
    secret_mappings: [{ target_field: 'key', secret_reference_id: 'managed' }],
    configurations: { custom_host: provider.url },
  });
  const inline = { provider: 'openai', api_key: canary('inline-key'), custom_host: provider.url };
  const headers = {
    cookie: `session=${canary('cookie')}`,
    'x-installation-pass': canary('masked-by-operator'),
    'x-my-pass': canary('masked-by-request'),
    'x-gw-sensitive-headers': 'x-my-pass',
    'proxy-authorization': `Basic ${canary('proxy-authorization')}`,
    'api-key': canary('api-key-header'),
  };
  for (const answer of [openai.says('Hello'), echo(400), echo(500)]) {
    for (const target of [
      { 'x-gw-provider': '@a' },
      { 'x-gw-provider': '@managed' },
      { 'x-gw-config': JSON.stringify(inline) },
    ]) {
      provider.script(answer);
      await call({ ...headers, ...target });
      await call({ ...headers, ...target }, `/v1/proxy/chat/completions?key=${canary('query')}`);
    }
  }
  expect(provider.calls.some(({ headers: sent }) => sent.authorization === `Bearer ${managed}`)).toBe(true);
  provider.script(openai.says('Hello'));
});

test('partners, webhooks and logs of guardrails get theirs, and are made to echo them', async () => {
  const put = await world.gateway.put('/v1/plugins/lakera', {
    credentials: { apiKey: canary('plugin'), apiBase: origin(partner) },
  });
  expect(put.status).toBe(200);
  const ownCredentials = { credentials: { apiKey: canary('check-credentials'), apiBase: origin(partner) } };
  const token = ['eyJhbGciOiJSUzI1NiIsImtpZCI6ImsifQ', 'eyJzdWIiOiJhIn0', canary('jwt')].join('.');
  const checks = [
    { id: 'lakera.guard', parameters: {} },
    { id: 'lakera.guard', parameters: ownCredentials },
    {
      id: 'default.webhook',
      parameters: {
        webhookURL: `${origin(partner)}/hook?key=${canary('webhook-query')}`,
        headers: { authorization: `Bearer ${canary('webhook-header')}` },
      },
    },
    { id: 'default.jwt', parameters: { jwksUri: `${origin(partner)}/jwks`, headerKey: 'x-user-token' } },
    {
      id: 'default.jwt',
      parameters: { introspectEndpoint: `${origin(partner)}/introspect`, headerKey: 'x-user-token' },
    },
  ];
  const guardrail = await saved('/v1/guardrails', { name: 'All', workspace_id: workspaceId, checks, actions: {} });
  const config = await world.saveConfig({ provider: '@a', input_guardrails: [guardrail.slug] });
  const deniesConfig = await world.saveConfig({
    provider: '@a',
    input_guardrails: [{ deny: true, 'lakera.guard': { ...ownCredentials, failOnError: true } }],
  });
  const before = partner.calls.length;
  const tokens = { 'x-user-token': `Bearer ${token}` };
  expect(await call({ 'x-gw-config': config, ...tokens })).toBe(200);
  expect(await call({ 'x-gw-config': deniesConfig, ...tokens })).toBe(446);
  await call({ 'x-gw-config': config, ...tokens }, '/v1/chat/completions', { ...question, stream: true });
  expect(partner.calls.length - before).toBeGreaterThan(8);
});

test('MCP servers and agents get theirs, and are made to echo them', async () => {
  const key = world.gateway.workspaceKey;
  await saved(
    '/v1/mcp-integrations',
    {
      name: 'Tools',
      slug: 'tools',
      url: `${origin(service)}/mcp`,
      transport: 'http',
      auth_type: 'headers',
      configurations: { headers: { authorization: `Bearer ${canary('mcp-header')}` } },
    },
    key,
  );
  await saved(
    '/v1/mcp-integrations',
    {
      name: 'Machine',
      slug: 'machine',
      url: `${origin(service)}/mcp`,
      transport: 'http',
      auth_type: 'oauth_client_credentials',
      configurations: {
        client_credentials: {
          token_endpoint: `${origin(service)}/token`,
          client_id: 'gw',
          client_secret: canary('mcp-client-secret'),
        },
        authorization_webhook: {
          url: `${origin(service)}/authorise`,
          headers: { authorization: `Bearer ${canary('mcp-webhook-header')}` },
        },
      },
    },
    key,
  );
  await saved(
    '/v1/agent-integrations',
    {
      name: 'Helper',
      slug: 'helper',
      url: origin(service),
      auth_type: 'headers',
      configurations: { headers: { authorization: `Bearer ${canary('agent-header')}` } },
    },
    key,
  );
  const before = service.calls.length;
  const rpc = (method: string, params: object = {}) => ({ jsonrpc: '2.0', id: 1, method, params });
  const own = { accept: 'application/json, text/event-stream', authorization: `Bearer ${key}` };
  for (const slug of ['tools', 'machine']) {
    for (const method of ['initialize', 'tools/list']) await world.call(`/${slug}/mcp`, rpc(method), own);
  }
  await world.call('/v1/agent/helper', rpc('message/send', { message: { kind: 'message', parts: [] } }));
  expect(service.calls.length - before).toBeGreaterThan(3);
});

test('sign-in, provisioning and mail have theirs', async () => {
  const { gateway } = world;
  // The issuer is none, and is refused.
  const sso = await gateway.put('/v1/admin/organisation/auth-settings', {
    sso: {
      type: 'oidc',
      oidc: { issuer_url: `${origin(service)}/issuer`, client_id: 'gateway', client_secret: canary('sso') },
      provisioning: { default_role: 'member', default_workspaces: [] },
    },
  });
  await gateway.put('/v1/admin/organisation/auth-settings', { scim: { enabled: true } });
  const scim = (await gateway.post('/v1/admin/organisation/auth-settings/scim/token')).body;
  planted.set('scim-token', scim.token);
  const listed = await fetch(`${scim.base_url}/Users`, { headers: { authorization: `Bearer ${scim.token}` } });
  expect([sso.status, listed.status]).toEqual([400, 200]);
  await gateway.post('/v1/invites', { email: 'new@example.com', role: 'member', workspaces: [] });
  expect(await call({ 'x-gw-api-key': `eyJhbGciOiJSUzI1NiJ9.e30.${canary('caller-jwt')}` })).toBe(401);
});

test('a sign-in that is saved has its secret, and uses it', async () => {
  const { gateway } = world;
  const acme = await startIdentityProvider([gateway]);
  planted.set('sso-saved', acme.sso.oidc.client_secret);
  const { organisationId } = await home(gateway);
  await verifyDomain(gateway, organisationId, 'acme.example');
  const put = await gateway.put('/v1/admin/organisation/auth-settings', { sso: acme.sso });
  expect(put.status).toBe(200);
  const walker = new Walker();
  await walker.signIn(gateway, 'ada@acme.example', { email: 'ada@acme.example' });
  const session = walker.cookie(gateway.url, 'gw_session') ?? '';
  expect((await gateway.get('/v1/auth/self', { key: session })).status).toBe(200);
  planted.set('session', session);
  acme.stop();
});

test('people have tokens of their own at an MCP server', async () => {
  const { gateway } = world;
  const upstream = await startUpstream('oauth-upstream.ts', [String(await freePort())]);
  await saveIntegration(gateway, { slug: 'private', url: upstream.url, auth_type: 'oauth_auto' });
  const { owner, organisationId } = await home(gateway);
  const { secret: key } = await addKey(gateway, {
    organisationId,
    workspaceId,
    userId: owner.userId,
    type: 'workspace-user',
    scopes: ['mcp.invoke'],
  });
  const url = `${gateway.url}/private/mcp`;
  const fault = await sessionClient(url, { 'x-gw-api-key': key }).then(
    () => '',
    (error: Error) => error.message,
  );
  const visitor = { gatewayUrl: gateway.url, session: owner.session, person: 'ada' };
  expect((await browse(signInAddressIn(fault) ?? '', visitor)).status).toBe(200);
  const client = await sessionClient(url, { 'x-gw-api-key': key });
  expect(textOf(await client.callTool({ name: 'whoami', arguments: {} }))).toBe('ada');
  // The token is renewed once, and once cannot be.
  const control = async (what: string): Promise<string[]> =>
    (await fetch(`http://127.0.0.1:${upstream.port}/control/${what}`)).json();
  await control('expire');
  await client.callTool({ name: 'whoami', arguments: {} });
  await control('ill');
  await control('expire');
  await client.callTool({ name: 'whoami', arguments: {} }).catch(() => null);
  const issued = await control('issued');
  for (const [at, token] of issued.entries()) planted.set(`mcp-user-token-${at}`, token);
  planted.set('mcp-user-key', key);
  await client.close();
  upstream.stop();
  expect(issued.length).toBeGreaterThan(3);
});

test('webhooks sign with theirs, and are made to echo them', async () => {
  const { gateway } = world;
  const { organisationId } = await home(gateway);
  const hook = await saved('/v1/webhooks', { url: `${origin(service)}/alerts` });
  planted.set('alert-secret', hook.secret);
  const before = service.calls.length;
  const { store } = gateway.app.services;
  const happening = { organisationId, workspaceId: null, event: 'usage.exhausted', data: {} } as const;
  await queueDeliveries(store.db, gateway.clock.now(), happening);
  await gateway.app.jobs.runOnce('webhooks');
  expect(service.calls.length).toBe(before + 1);
  const deliveries = await gateway.get(`/v1/webhooks/${hook.id}/deliveries`);
  expect([deliveries.status, foundIn(JSON.stringify(deliveries.body))]).toEqual([200, []]);
});

test('secret managers have theirs', async () => {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const pem = await exportPKCS8(privateKey);
  planted.set('gcp-private-key', pem.split('\n')[3] ?? '');
  const account = {
    type: 'service_account',
    project_id: 'p',
    private_key: pem,
    client_email: 'gw@p.iam.gserviceaccount.com',
    token_uri: 'https://oauth2.googleapis.com/token',
  };
  const references: Record<string, object> = {
    aws_sm: {
      aws_auth_type: 'accessKey',
      aws_access_key_id: 'AKIAIOSFODNN7EXAMPLE',
      aws_secret_access_key: canary('aws-secret'),
      aws_region: 'eu-central-1',
    },
    azure_kv: {
      azure_auth_mode: 'entra',
      azure_vault_url: 'https://canary.vault.azure.net',
      azure_entra_tenant_id: Bun.randomUUIDv7(),
      azure_entra_client_id: Bun.randomUUIDv7(),
      azure_entra_client_secret: canary('azure-secret'),
    },
    gcp_sm: {
      gcp_auth_type: 'serviceAccount',
      gcp_project_id: 'p',
      gcp_service_account_json: JSON.stringify(account),
    },
    hashicorp_vault: {
      vault_auth_type: 'approle',
      vault_addr: origin(vault),
      vault_role_id: 'gw',
      vault_secret_id: canary('vault-secret-id'),
    },
  };
  for (const [manager_type, auth_config] of Object.entries(references)) {
    const slug = manager_type.replace('_', '-');
    const secret_path = manager_type === 'hashicorp_vault' ? 'secret/data/other' : 'prod';
    await saved('/v1/secret-references', { name: slug, slug, manager_type, auth_config, secret_path });
    expect(foundIn(JSON.stringify((await world.gateway.get(`/v1/secret-references/${slug}`)).body))).toEqual([]);
  }
  await world.saveProvider('other', 'openai', provider, {
    key: null,
    secret_mappings: [{ target_field: 'key', secret_reference_id: 'hashicorp-vault' }],
    configurations: { custom_host: provider.url },
  });
  await call({ 'x-gw-provider': '@other' });
});

test('the keys of callers are secrets too', () => {
  planted.set('workspace-key', world.gateway.workspaceKey);
  planted.set('admin-key', world.gateway.adminKey);
});

test('no export of the log holds one', async () => {
  const { gateway } = world;
  await gateway.app.services.logs.settled();
  const everything =
    'id,trace_id,created_at,request,response,is_success,ai_org,ai_model,req_units,res_units,total_units,request_url,cost,cost_currency,response_time,response_status_code,mode,config,prompt_slug,metadata';
  const { id } = await saved('/v1/logs/exports', { filters: {}, requested_data: everything.split(',') });
  await gateway.post(`/v1/logs/exports/${id}/start`);
  await gateway.app.jobs.runOnce('export-runner');
  const { body } = await gateway.get(`/v1/logs/exports/${id}/download`);
  const text = await (await fetch(body.signed_url)).text();
  expect(text.split('\n').length).toBeGreaterThan(20);
  expect(foundIn(text)).toEqual([]);
});

test('no log shows one, hook results included', async () => {
  for (const { metrics } of world.gateway.records) {
    const { body } = await world.gateway.get(`/v1/logs/${metrics.id}`);
    expect([metrics.request_url, foundIn(JSON.stringify(body))]).toEqual([metrics.request_url, []]);
  }
});

test('no span holds one', async () => {
  await collector.until(({ name }) => name.startsWith('gw.guardrail'));
  await world.gateway.app.services.telemetry.close();
  expect(collector.spans.length).toBeGreaterThan(40);
  expect(collector.messages.flatMap((bytes) => foundIn(Buffer.from(bytes)))).toEqual([]);
});

test('no metric holds one', async () => {
  const token = planted.get('metrics-token') ?? '';
  const answer = await fetch(`${world.gateway.url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
  expect([answer.status, foundIn(await answer.text())]).toEqual([200, []]);
});

test('no reply of the control plane shows one', async () => {
  for (const path of [
    '/v1/integrations',
    '/v1/integrations/a',
    '/v1/secret-references/managed',
    '/v1/plugins',
    '/v1/plugins/lakera',
    '/v1/guardrails',
    '/v1/configs',
    '/v1/mcp-integrations',
    '/v1/mcp-servers/private/connections',
    '/v1/webhooks',
    '/v1/agent-integrations',
    '/v1/admin/organisation/auth-settings',
    '/v1/audit-logs?page_size=100',
    '/v1/logs?page_size=200',
    '/v1/notices',
  ]) {
    const { body } = await world.gateway.get(path);
    expect([path, foundIn(JSON.stringify(body))]).toEqual([path, []]);
  }
});

test("no line of the program's log and no file of the data folder holds one", async () => {
  const { app, dataDir, lines, faults } = world.gateway;
  expect(faults).toEqual([]);
  await app.stop();
  expect(lines.flatMap(foundIn)).toEqual([]);
  const kept = filesUnder(dataDir).filter((file) => !/-(shm|wal)$/.test(file));
  expect(kept.flatMap((file) => foundIn(readFileSync(file)).map((secret) => `${secret} in ${file}`))).toEqual([]);
});
