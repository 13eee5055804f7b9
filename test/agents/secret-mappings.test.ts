/** Credentials of agents that live in a secret manager: they reach the agent and its card, are renewed when it refuses them, and are told to nobody. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Json, startGateway, type TestGateway } from '../harness.ts';
import { json, reset, type SimulatedProvider, startProvider } from '../providers/simulated.ts';
import { newVault, type VaultState, vaultServer } from '../secret-managers/vault.ts';
import { trustLoopback } from './upstream.ts';

let gateway: TestGateway;
let vault: SimulatedProvider;
let agent: SimulatedProvider;
let state: VaultState;

/** The one value that the agent accepts; null: any. */
let accepted: string | null = null;
const canaries = new Set<string>();
const told: string[] = [];

const newSecret = (): string => {
  const secret = `canary-${randomBytes(12).toString('hex')}`;
  canaries.add(secret);
  return secret;
};

const base = () => agent.url.replace('/v1', '');

/** An agent behind a key, and the authorization server that hands out tokens for it. */
const behaves = () =>
  agent.script((call, response) => {
    if (call.path === '/token')
      return json(200, { access_token: 'token-of-the-agent', expires_in: 3600 })(call, response);
    const shown = call.headers['x-agent-key'] ?? '';
    if (accepted !== null && shown !== accepted) return json(401, { error: 'unauthorized' })(call, response);
    if (call.path.includes('.well-known')) {
      return json(200, { name: 'Guarded', url: base(), protocolVersion: '0.3.0', skills: [] })(call, response);
    }
    const result = { kind: 'message', messageId: 'm', role: 'agent', parts: [{ kind: 'text', text: 'Hello' }] };
    return json(200, call.json?.jsonrpc ? { jsonrpc: '2.0', id: call.json.id, result } : { message: result })(
      call,
      response,
    );
  });

beforeAll(async () => {
  state = newVault();
  vault = await startProvider((call, response) => vaultServer(state)(call, response));
  agent = await startProvider(json(500, {}));
  gateway = await startGateway({ ...trustLoopback, SECRET_MANAGER_TIMEOUT_MS: '2000' });
});
afterAll(async () => {
  await gateway.stop();
  await vault.stop();
  await agent.stop();
});
beforeEach(() => {
  vault.script((call, response) => vaultServer(state)(call, response));
  behaves();
  accepted = null;
  vault.calls.length = 0;
  agent.calls.length = 0;
});

const keep = (slug: string, data: Record<string, unknown>, version: number) => state.kv2.set(slug, { data, version });
const keyOf = (secret: string) => ({ headers: { 'x-agent-key': secret } });

async function newReference(slug: string, data: Record<string, unknown>): Promise<void> {
  keep(slug, data, 1);
  const made = await gateway.post('/v1/secret-references', {
    name: slug,
    slug,
    manager_type: 'hashicorp_vault',
    auth_config: { vault_auth_type: 'token', vault_addr: vault.url.replace('/v1', ''), vault_token: 'root-token' },
    secret_path: `secret/data/${slug}`,
    allow_all_workspaces: true,
  });
  expect({ status: made.status, body: made.body }).toMatchObject({ status: 200 });
}

async function newAgent(slug: string, more: object): Promise<void> {
  const made = await gateway.post('/v1/agent-integrations', { name: slug, slug, url: base(), ...more });
  expect({ status: made.status, body: made.body }).toMatchObject({ status: 200 });
  const workspaces = (await gateway.get('/v1/workspaces')).body.data;
  await gateway.put(`/v1/agent-integrations/${slug}/workspaces`, {
    workspaces: [{ id: workspaces[0].id, enabled: true }],
  });
}

const mapped = (slug: string) => ({
  auth_type: 'headers',
  secret_mappings: [
    { target_field: 'headers', secret_reference_id: slug, secret_key: 'headers', value_format: 'json' },
  ],
});

const message = { kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'Hello' }] };

async function call(slug: string, path = '', body: object | null = null): Promise<{ status: number; body: Json }> {
  const sent = body ?? { jsonrpc: '2.0', id: 1, method: 'message/send', params: { message } };
  const response = await fetch(`${gateway.url}/v1/agent/${slug}${path}`, {
    method: path.includes('.well-known') ? 'GET' : 'POST',
    headers: { 'x-gw-api-key': gateway.workspaceKey, 'content-type': 'application/json' },
    ...(!path.includes('.well-known') && { body: JSON.stringify(sent) }),
  });
  const text = await response.text();
  told.push(JSON.stringify([...response.headers]), text);
  return { status: response.status, body: JSON.parse(text) };
}

const shown = () => agent.calls.map(({ headers }) => headers['x-agent-key']);

test('the value reaches the agent over both bindings, and the card; the manager is asked once', async () => {
  const secret = newSecret();
  accepted = secret;
  await newReference('both', keyOf(secret));
  await newAgent('both', mapped('both'));
  expect((await call('both')).body.result.parts[0].text).toBe('Hello');
  expect((await call('both', '/message:send', { message })).status).toBe(200);
  expect((await call('both', '/.well-known/agent-card.json')).body.name).toBe('Guarded');
  expect((await gateway.post('/v1/agent-integrations/both/test')).body).toMatchObject({ success: true });
  expect(new Set(shown())).toEqual(new Set([secret]));
  expect(vault.calls.length).toBe(1);
});

test('an agent that refuses the value is asked once more with the one that the manager has now', async () => {
  const first = newSecret();
  accepted = first;
  await newReference('rotated', keyOf(first));
  await newAgent('rotated', mapped('rotated'));
  expect((await call('rotated')).status).toBe(200);
  const second = newSecret();
  accepted = second;
  keep('rotated', keyOf(second), 2);
  agent.calls.length = 0;
  expect((await call('rotated')).status).toBe(200);
  expect(shown()).toEqual([first, second]);
  // What the manager confirms is not tried again.
  accepted = newSecret();
  agent.calls.length = 0;
  expect(await call('rotated')).toMatchObject({ status: 502, body: { error: { data: { code: 'upstream_error' } } } });
  expect(shown()).toEqual([second]);
});

test('while the manager is away the known value is used; without one the call fails and says why', async () => {
  const secret = newSecret();
  await newReference('known', keyOf(secret));
  await newAgent('known', mapped('known'));
  expect((await call('known')).status).toBe(200);
  await newReference('unknown', keyOf(newSecret()));
  await newAgent('unknown', mapped('unknown'));
  vault.script(reset);
  gateway.clock.advance({ minutes: 6 });
  agent.calls.length = 0;
  expect((await call('known')).status).toBe(200);
  expect(shown()).toEqual([secret]);
  const failed = await call('unknown');
  expect(failed).toMatchObject({ status: 502, body: { id: 1, error: { code: -32000 } } });
  expect(failed.body.error.message).toContain('the secret reference unknown gives no value');
  expect(shown()).toEqual([secret]);
});

test('a value that does not fit its setting fails the call and is not quoted', async () => {
  const secret = newSecret();
  await newReference('misfit', { headers: { 'x-agent-key': { not: secret } } });
  await newAgent('misfit', mapped('misfit'));
  const failed = await call('misfit');
  expect(failed.status).toBe(502);
  expect(failed.body.error.message).toContain('headers');
  expect(agent.calls.length).toBe(0);
});

test('a mapping to a setting that agents do not have, or a second one to the same, is refused when it is saved', async () => {
  await newReference('refused', keyOf(newSecret()));
  const saved = async (...fields: string[]) => {
    const secret_mappings = fields.map((target_field) => ({ target_field, secret_reference_id: 'refused' }));
    const made = await gateway.post('/v1/agent-integrations', { name: 'x', url: base(), secret_mappings });
    return [made.status, made.body.data?.errors?.[0].path];
  };
  expect(await saved('oauth_metadata')).toEqual([400, 'secret_mappings.0.target_field']);
  expect(await saved('headers', 'surprise')).toEqual([400, 'secret_mappings.1.target_field']);
  expect(await saved('headers', 'configurations.headers')).toEqual([400, 'secret_mappings']);
});

test('client credentials may be mapped as a whole', async () => {
  const secret = newSecret();
  const client = { client_id: 'gw', client_secret: secret, token_endpoint: `${base()}/token` };
  await newReference('client', { client });
  await newAgent('client', {
    auth_type: 'oauth_client_credentials',
    secret_mappings: [
      {
        target_field: 'configurations.client_credentials',
        secret_reference_id: 'client',
        secret_key: 'client',
        value_format: 'json',
      },
    ],
  });
  expect((await call('client')).status).toBe(200);
  const asked = agent.calls.find(({ path }) => path === '/token');
  expect(JSON.stringify([asked?.headers, asked?.body.toString()])).toContain(
    asked?.headers.authorization ? Buffer.from(`gw:${secret}`).toString('base64') : secret,
  );
  expect(agent.calls.at(-1)?.headers.authorization).toBe('Bearer token-of-the-agent');
});

test('no value stands in a log record, an answer, a record of the administration or a file', async () => {
  const kept = gateway.records.map(({ metrics, bodies }) => {
    const texts = Object.values(bodies).map((one) => [one?.headers, one?.body && Buffer.from(one.body).toString()]);
    return JSON.stringify([metrics, texts]);
  });
  const admin = JSON.stringify((await gateway.get('/v1/agent-integrations')).body);
  const texts = [...kept, ...told, admin].join('\n');
  const files = (folder: string): string[] =>
    readdirSync(folder).flatMap((name) => {
      const path = join(folder, name);
      return statSync(path).isDirectory() ? files(path) : [path];
    });
  const stored = files(gateway.dataDir).map((file) => readFileSync(file));
  expect(canaries.size).toBeGreaterThan(5);
  for (const canary of canaries) {
    expect(texts.includes(canary)).toBe(false);
    for (const file of stored) expect(file.includes(canary)).toBe(false);
  }
});
