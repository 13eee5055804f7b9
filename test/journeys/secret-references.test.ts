/** Credentials that live in a secret manager, on their way to a provider: fetched, kept, rotated, missed, and never told. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as openai from '../providers/openai.ts';
import { bytes, json, reset, type SimulatedProvider, startProvider } from '../providers/simulated.ts';
import { newVault, type VaultState, vaultServer } from '../secret-managers/vault.ts';
import { startWorld, type World } from '../world.ts';

const canary = (name: string) => `canary-${name}-${randomBytes(12).toString('hex')}`;
const vaultToken = canary('vault-token');
const values = new Set<string>();
const newSecret = (): string => {
  const secret = canary('secret');
  values.add(secret);
  return secret;
};

let vault: SimulatedProvider;
let provider: SimulatedProvider;
let state: VaultState;
let world: World;
const told: string[] = [];

/** A provider that knows one key. */
let rightKey = '';
const guarded = () =>
  provider.script((call, response) =>
    call.headers.authorization === `Bearer ${rightKey}`
      ? openai.says('Hello')(call, response)
      : json(401, { error: { message: 'Incorrect API key provided', type: 'invalid_request_error' } })(call, response),
  );

beforeAll(async () => {
  vault = await startProvider((call, response) => vaultServer(state)(call, response));
  provider = await startProvider(openai.says('Hello'));
  state = newVault();
  state.tokens = new Map([[vaultToken, '']]);
  world = await startWorld({}, { ENABLE_PROMETHEUS: 'true', SECRET_MANAGER_TIMEOUT_MS: '2000' });
});
afterAll(async () => {
  await world.stop();
  await vault.stop();
  await provider.stop();
});
beforeEach(() => {
  vault.script((call, response) => vaultServer(state)(call, response));
  guarded();
});
afterEach(() => {
  vault.calls.length = 0;
  provider.calls.length = 0;
});

let made = 0;

/** A saved provider whose key is mapped to a reference of its own. */
async function mapped(secret: string, more: { provider?: string; configurations?: object } = {}) {
  made++;
  const slug = `mapped-${made}`;
  state.kv2.set(slug, { data: { key: secret }, version: 1 });
  const reference = await world.gateway.post('/v1/secret-references', {
    name: slug,
    slug,
    manager_type: 'hashicorp_vault',
    auth_config: { vault_auth_type: 'token', vault_addr: vault.url.replace('/v1', ''), vault_token: vaultToken },
    secret_path: `secret/data/${slug}`,
    secret_key: 'key',
  });
  expect(reference.status).toBe(200);
  await world.saveProvider(slug, more.provider ?? 'openai', provider, {
    key: null,
    secret_mappings: [{ target_field: 'key', secret_reference_id: slug }],
    configurations: { custom_host: provider.url, ...more.configurations },
  });
  return slug;
}

const question = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Say hello.' }] };

async function ask(slug: string): Promise<number> {
  const response = await world.call('/v1/chat/completions', question, { 'x-gw-provider': `@${slug}` });
  told.push(JSON.stringify([...response.headers]), await response.clone().text());
  lastAnswer = await response.text();
  return response.status;
}
let lastAnswer = '';

const resolution = async (slug: string) => {
  const { body } = await world.gateway.get(`/v1/secret-references/${slug}`);
  told.push(JSON.stringify(body));
  return body.resolution;
};

const rotate = (slug: string, secret: string) => state.kv2.set(slug, { data: { key: secret }, version: 2 });

test('a call gets the key from the manager, and many calls ask it once', async () => {
  rightKey = newSecret();
  const slug = await mapped(rightKey);
  expect(await Promise.all(Array.from({ length: 20 }, () => ask(slug)))).toEqual(Array(20).fill(200));
  expect(vault.calls.length).toBe(1);
  expect(await resolution(slug)).toMatchObject({ state: 'current', error: null });
});

test('a rotated secret is used once its age is over', async () => {
  rightKey = newSecret();
  const slug = await mapped(rightKey);
  expect(await ask(slug)).toBe(200);
  provider.script(openai.says('Hello'));
  const next = newSecret();
  rotate(slug, next);
  world.gateway.clock.advance({ seconds: 301 });
  expect(await ask(slug)).toBe(200);
  expect(provider.calls.at(-1)?.headers.authorization).toBe(`Bearer ${next}`);
});

test('a value that nears its age is refreshed while it is used', async () => {
  rightKey = newSecret();
  const slug = await mapped(rightKey);
  await ask(slug);
  provider.script(openai.says('Hello'));
  const next = newSecret();
  rotate(slug, next);
  world.gateway.clock.advance({ seconds: 250 });
  await ask(slug);
  expect(provider.calls.at(-1)?.headers.authorization).toBe(`Bearer ${rightKey}`);
  while (provider.calls.at(-1)?.headers.authorization !== `Bearer ${next}`) await ask(slug);
  expect(vault.calls.length).toBe(2);
});

test('a provider that refuses the key is asked once more with the one that the manager has now', async () => {
  rightKey = newSecret();
  const slug = await mapped(rightKey);
  expect(await ask(slug)).toBe(200);
  rightKey = newSecret();
  rotate(slug, rightKey);
  expect(await ask(slug)).toBe(200);
  expect(provider.calls.length).toBe(3);
  expect(vault.calls.length).toBe(2);
});

test('a key that the manager confirms is not tried again, and the manager is left alone', async () => {
  rightKey = newSecret();
  const slug = await mapped(newSecret());
  expect(await ask(slug)).toBe(401);
  expect(provider.calls.length).toBe(1);
  expect(vault.calls.length).toBe(2);
  expect(await ask(slug)).toBe(401);
  expect(vault.calls.length).toBe(2);
});

test.each([
  ['is away', reset],
  ['answers 503', json(503, { errors: ['Vault is sealed'] })],
  ['answers nonsense', bytes(200, '<html>', {})],
  ['hangs', () => undefined],
])('a manager that %s leaves the last known value in use for its time, and it is said', async (_, behaviour) => {
  rightKey = newSecret();
  const slug = await mapped(rightKey);
  expect(await ask(slug)).toBe(200);
  vault.script(behaviour);
  world.gateway.clock.advance({ seconds: 301 });
  expect(await ask(slug)).toBe(200);
  const stale = await resolution(slug);
  expect(stale.state).toBe('stale');
  expect(stale.error).toStartWith('the manager ');
  const metrics = await (await fetch(`${world.gateway.url}/metrics`)).text();
  expect(Number(/^gw_secrets_stale(?:\{.*\})? (\d+)$/m.exec(metrics)?.[1])).toBeGreaterThan(0);
  world.gateway.clock.advance({ seconds: 3_600 });
  expect(await ask(slug)).toBe(500);
  vault.script((call, response) => vaultServer(state)(call, response));
  world.gateway.clock.advance({ seconds: 60 });
  expect(await ask(slug)).toBe(200);
  expect((await resolution(slug)).state).toBe('current');
});

test('a manager that refuses ends the use of a value with its age', async () => {
  rightKey = newSecret();
  const slug = await mapped(rightKey);
  expect(await ask(slug)).toBe(200);
  vault.script(json(403, { errors: ['permission denied'] }));
  world.gateway.clock.advance({ seconds: 301 });
  expect(await ask(slug)).toBe(500);
  expect(JSON.parse(lastAnswer).error).toMatchObject({ code: 'secret_unavailable' });
  expect(lastAnswer).toContain(`the secret reference ${slug} gives no value: the manager answered with the status 403`);
  expect((await resolution(slug)).state).toBe('failing');
});

test('a fallback takes over where a secret cannot be had', async () => {
  rightKey = newSecret();
  const good = await mapped(rightKey);
  const bad = await mapped(newSecret());
  state.kv2.delete(bad);
  const config = await world.saveConfig({
    strategy: { mode: 'fallback' },
    targets: [{ provider: `@${bad}` }, { provider: `@${good}` }],
  });
  const response = await world.call('/v1/chat/completions', question, { 'x-gw-config': config });
  expect(response.status).toBe(200);
  await response.text();
});

test('a change of the reference counts for the next call, and a workspace that loses it is refused', async () => {
  rightKey = newSecret();
  const slug = await mapped(newSecret());
  state.kv2.set('elsewhere', { data: { key: rightKey }, version: 1 });
  await world.gateway.put(`/v1/secret-references/${slug}`, { secret_path: 'secret/data/elsewhere' });
  expect(await ask(slug)).toBe(200);
  const other = await world.gateway.post('/v1/workspaces', { name: `Other ${slug}` });
  await world.gateway.put(`/v1/secret-references/${slug}`, { allowed_workspaces: [other.body.id] });
  expect(await ask(slug)).toBe(500);
  expect(lastAnswer).toContain('not for this workspace');
});

test('the test of a reference says whether there is a value, and nothing of it', async () => {
  const secret = newSecret();
  const slug = await mapped(secret);
  const right = await world.gateway.post(`/v1/secret-references/${slug}/test`);
  expect(right).toMatchObject({ status: 200, body: { object: 'secret-reference-test', success: true } });
  const wrong = await world.gateway.post(`/v1/secret-references/${slug}/test`, { secret_key: 'absent' });
  expect(wrong.body).toMatchObject({ success: false, error: 'the secret has no field "absent"' });
  vault.script(json(403, { errors: [vaultToken] }));
  const refused = await world.gateway.post(`/v1/secret-references/${slug}/test`);
  expect(refused.body).toMatchObject({ success: false, error: 'the manager answered with the status 403' });
  told.push(JSON.stringify([right.body, wrong.body, refused.body]));
});

test('a plugin takes its credentials from a manager', async () => {
  const secret = newSecret();
  const slug = await mapped(secret);
  const partner = await startProvider(json(200, { flagged: false, breakdown: [] }));
  const made = await world.gateway.post('/v1/plugins', {
    id: 'lakera',
    credentials: { apiBase: partner.url.replace('/v1', '') },
    secret_mappings: [{ target_field: 'apiKey', secret_reference_id: slug }],
  });
  expect(made).toMatchObject({ status: 200, body: { secret_mappings: [{ target_field: 'credentials.apiKey' }] } });
  const guard = { input_guardrails: [{ 'lakera.guard': {}, deny: true }] };
  rightKey = newSecret();
  const target = await mapped(rightKey);
  const config = await world.saveConfig({ provider: `@${target}`, ...guard });
  const response = await world.call('/v1/chat/completions', question, { 'x-gw-config': config });
  expect(response.status).toBe(200);
  told.push(await response.text());
  expect(partner.calls.at(-1)?.headers.authorization).toBe(`Bearer ${secret}`);
  await partner.stop();
});

const filesUnder = (folder: string): string[] =>
  readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesUnder(path) : [path];
  });

test('no secret and no credential of a manager is in any reply, log record, metric or file', async () => {
  const secrets = [...values, vaultToken];
  expect(secrets.length).toBeGreaterThan(15);
  const { gateway } = world;
  const texts = [
    ...told,
    JSON.stringify(gateway.records),
    ...gateway.faults,
    await (await fetch(`${gateway.url}/metrics`)).text(),
    ...filesUnder(gateway.dataDir).map((path) => readFileSync(path, 'latin1')),
  ];
  const found = secrets.filter((secret) => texts.some((text) => text.includes(secret)));
  expect(found).toEqual([]);
});
