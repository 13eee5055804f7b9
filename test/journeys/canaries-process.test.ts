/** Canaries in the real program: what it writes to standard output and standard error, and leaves in its folder, holds no secret, not even of what it cannot reach. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Json } from '../harness.ts';
import { type Served, serve } from '../process.ts';
import { json, type ReceivedCall, type SimulatedProvider, startProvider } from '../providers/simulated.ts';
import { type SimulatedObjectStore, startObjectStore } from '../servers/object-store.ts';
import { type Collector, startCollector } from '../servers/otlp-collector.ts';

let folder: string;
let gw: Served;
let careless: SimulatedProvider;
let planted: Map<string, string>;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gw-canaries-'));
  careless = await startProvider(echo);
  planted = new Map();
});
afterEach(async () => {
  gw.kill('SIGKILL');
  await gw.ended;
  await careless.stop();
  rmSync(folder, { recursive: true, force: true });
});

const canary = (name: string): string => {
  const secret = `canary-${name}-${randomBytes(12).toString('hex')}`;
  planted.set(name, secret);
  return secret;
};
const foundIn = (text: string | Buffer): string[] =>
  [...planted].flatMap(([name, secret]) => (text.includes(secret) ? [name] : []));

/** Refuses, and tells what it was sent, as careless servers do. */
const echo = (call: ReceivedCall, response: ServerResponse): void => {
  const sent = JSON.stringify({ headers: call.headers, path: call.path, body: call.body.toString() });
  void json(500, { error: { message: `Failed: ${sent}` } })(call, response);
};
const origin = () => careless.url.replace('/v1', '');

async function ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const answer = await fetch(gw.url + path, {
    method,
    headers: { 'x-gw-api-key': gw.adminKey, 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, text, body: (text.startsWith('{') ? JSON.parse(text) : null) as Json };
}

/** Saves one of everything that holds a credential, and makes each be used. */
async function plantAndUse(): Promise<void> {
  const ours = { 'x-gw-api-key': gw.workspaceKey };
  const integration = {
    name: 'a',
    slug: 'a',
    ai_provider_id: 'openai',
    key: canary('provider-key'),
    configurations: { custom_host: careless.url },
    create_default_provider: true,
    default_provider_slug: 'a',
  };
  expect((await ask('POST', '/v1/integrations', integration, ours)).status).toBe(200);
  const vault = {
    name: 'vault',
    slug: 'vault',
    manager_type: 'hashicorp_vault',
    auth_config: { vault_auth_type: 'token', vault_addr: origin(), vault_token: canary('vault-token') },
    secret_path: 'secret/data/x',
  };
  expect((await ask('POST', '/v1/secret-references', vault)).status).toBe(200);
  const mapped = {
    ...integration,
    name: 'b',
    slug: 'b',
    default_provider_slug: 'b',
    key: null,
    secret_mappings: [{ target_field: 'key', secret_reference_id: 'vault' }],
  };
  expect((await ask('POST', '/v1/integrations', mapped, ours)).status).toBe(200);
  const tools = {
    name: 'tools',
    slug: 'tools',
    url: `${origin()}/mcp`,
    transport: 'http',
    auth_type: 'headers',
    configurations: { headers: { authorization: `Bearer ${canary('mcp-header')}` } },
  };
  expect((await ask('POST', '/v1/mcp-integrations', tools, ours)).status).toBe(200);
  const hook = await ask('POST', '/v1/webhooks', { url: `${origin()}/alerts` });
  planted.set('alert-secret', hook.body.secret);
  const oidc = { issuer_url: `${origin()}/issuer`, client_id: 'gw', client_secret: canary('sso') };
  const sso = { type: 'oidc', oidc, provisioning: { default_role: 'member', default_workspaces: [] } };
  await ask('PUT', '/v1/admin/organisation/auth-settings', { sso });
  await ask('PUT', '/v1/admin/organisation/auth-settings', { scim: { enabled: true } });
  const scim = (await ask('POST', '/v1/admin/organisation/auth-settings/scim/token')).body;
  planted.set('scim-token', scim.token);
  await fetch(`${scim.base_url}/Users`, { headers: { authorization: `Bearer ${scim.token}` } });
  const password = canary('password');
  await ask('POST', '/v1/auth/login', { email: 'nobody@example.com', password }, { 'x-gw-api-key': '' });
  const question = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] };
  const header = { ...ours, cookie: `session=${canary('cookie')}`, 'x-api-key': canary('x-api-key') };
  for (const target of [
    { 'x-gw-provider': '@a' },
    { 'x-gw-provider': '@b' },
    { 'x-gw-provider': 'openai', authorization: `Bearer ${canary('own-key')}`, 'x-gw-custom-host': careless.url },
    { 'x-gw-api-key': canary('unknown-key') },
  ]) {
    await ask('POST', '/v1/chat/completions', question, { ...header, ...target });
    await ask('POST', '/v1/proxy/anything?key=secret', question, { ...header, ...target });
  }
  const rpc = { jsonrpc: '2.0', id: 1, method: 'initialize', params: {} };
  await ask('POST', '/tools/mcp', rpc, { ...ours, accept: 'application/json, text/event-stream' });
  // What is wrong with a body is told without what was sent.
  await fetch(`${gw.url}/v1/configs`, { method: 'POST', headers: ours, body: `{"key": "${canary('broken-json')}"` });
}

const filesUnder = (path: string): string[] =>
  readdirSync(path).flatMap((name) => {
    const file = join(path, name);
    return statSync(file).isDirectory() ? filesUnder(file) : [file];
  });

async function expectNoneLeft(): Promise<void> {
  gw.kill('SIGTERM');
  await gw.ended;
  // It says the first secrets itself, once.
  expect(foundIn(gw.output())).toEqual([]);
  expect(gw.log()).not.toBe('');
  planted.set('admin-key', gw.adminKey);
  planted.set('workspace-key', gw.workspaceKey);
  expect(
    gw
      .log()
      .split('\n')
      .filter((line) => foundIn(line).length > 0),
  ).toEqual([]);
  const files = filesUnder(folder);
  expect(files.flatMap((file) => foundIn(readFileSync(file)).map((name) => `${name} in ${file}`))).toEqual([]);
}

const installed = () => ({
  GW_DATA_DIR: folder,
  NODE_ENV: 'production',
  TRUSTED_CUSTOM_HOSTS: '127.0.0.1',
  METRICS_TOKEN: canary('metrics-token'),
  SMTP_URL: `smtp://mailer:${canary('smtp')}@127.0.0.1:9`,
  MAIL_FROM: 'gw@example.com',
});

describe('the program with everything at hand', () => {
  let collector: Collector;
  let bucket: SimulatedObjectStore;
  beforeEach(async () => {
    collector = startCollector();
    bucket = await startObjectStore();
  });
  afterEach(async () => {
    await collector.stop();
    await bucket.stop();
  });

  test('shows no secret in logs, exports, objects, spans, metrics, lines and files', async () => {
    const { settings } = bucket;
    gw = await serve({
      ...installed(),
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: `x-collector-key=${canary('exporter-header')}`,
      OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true',
      LOG_STORE_S3_BUCKET: settings.bucket,
      LOG_STORE_S3_ENDPOINT: settings.endpoint ?? '',
      LOG_STORE_S3_REGION: settings.region,
      LOG_STORE_S3_ACCESS_KEY_ID: settings.accessKeyId,
      LOG_STORE_S3_SECRET_ACCESS_KEY: settings.secretAccessKey,
    });
    planted.set('s3-secret', settings.secretAccessKey);
    await plantAndUse();
    const listed = async () => (await ask('GET', '/v1/logs')).body;
    while ((await listed()).total < 7) await Bun.sleep(50);
    const logs = await listed();
    for (const { id } of logs.data) {
      const { text } = await ask('GET', `/v1/logs/${id}`);
      expect(foundIn(text)).toEqual([]);
    }
    const fields = ['id', 'request', 'response', 'request_url', 'metadata'];
    const { id } = (await ask('POST', '/v1/logs/exports', { filters: {}, requested_data: fields })).body;
    await ask('POST', `/v1/logs/exports/${id}/start`);
    const exported = async () => (await ask('GET', `/v1/logs/exports/${id}`)).body.status;
    while ((await exported()) === 'in_progress') await Bun.sleep(50);
    const { signed_url } = (await ask('GET', `/v1/logs/exports/${id}/download`)).body;
    const file = await (await fetch(signed_url)).text();
    expect([file.trimEnd().split('\n').length >= 7, foundIn(file)]).toEqual([true, []]);
    expect([...bucket.objects.values()].flatMap(({ text }) => foundIn(text))).toEqual([]);
    expect(bucket.objects.size).toBeGreaterThan(5);
    const token = planted.get('metrics-token') ?? '';
    const metrics = await (await fetch(`${gw.url}/metrics`, { headers: { authorization: `Bearer ${token}` } })).text();
    expect([metrics.includes('request_count'), foundIn(metrics)]).toEqual([true, []]);
    await expectNoneLeft();
    expect(collector.spans.length).toBeGreaterThan(3);
    expect(collector.messages.flatMap((bytes) => foundIn(Buffer.from(bytes)))).toEqual([]);
  });
});

describe('the program with everything away', () => {
  test('tells what it cannot reach without the passwords to it', async () => {
    const away = '127.0.0.1:9';
    gw = await serve({
      ...installed(),
      CLICKHOUSE_URL: `http://gw:${canary('clickhouse')}@${away}/gw`,
      REDIS_URL: `redis://gw:${canary('redis')}@${away}`,
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://${away}`,
      OTEL_EXPORTER_OTLP_HEADERS: `x-collector-key=${canary('exporter-header')}`,
      LOG_STORE_S3_BUCKET: 'bucket',
      LOG_STORE_S3_ENDPOINT: `http://${away}`,
      LOG_STORE_S3_ACCESS_KEY_ID: 'AKIA',
      LOG_STORE_S3_SECRET_ACCESS_KEY: canary('s3'),
      LOG_STORE_S3_SESSION_TOKEN: canary('s3-session'),
    });
    await plantAndUse();
    expect((await ask('GET', '/v1/logs')).status).toBe(503);
    const told = 'The log store takes no records';
    while (!gw.log().includes(told)) await Bun.sleep(50);
    await expectNoneLeft();
  });
});
