/** HashiCorp Vault, simulated after its API description: tokens, AppRole, Kubernetes, both versions of the KV engine. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type SimulatedProvider, startProvider } from '../../../test/providers/simulated.ts';
import { openLab, secretValue, sourceOf, useOf } from '../../../test/secret-managers/open.ts';
import { newVault, type VaultState, vaultServer } from '../../../test/secret-managers/vault.ts';

let server: SimulatedProvider;
let state: VaultState;
let address: string;
let folder: string;
beforeAll(async () => {
  server = await startProvider((call, response) => vaultServer(state)(call, response));
  address = server.url.replace('/v1', '');
  folder = mkdtempSync(join(tmpdir(), 'gw-vault-'));
  writeFileSync(join(folder, 'token'), 'service-account-jwt\n');
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  state = newVault();
  state.kv1.set('openai', { key: 'sk-v1' });
  state.kv2.set('openai', { data: { key: 'sk-v2', nested: { a: 1 } }, version: 3 });
});

const token = () => ({ vault_auth_type: 'token', vault_addr: address, vault_token: 'root-token' });

test('a token reads both versions of the KV engine', async () => {
  const lab = openLab();
  expect(await secretValue(lab, [useOf(sourceOf('hashicorp_vault', token(), 'kv/openai', 'key'))])).toBe('sk-v1');
  expect(await secretValue(lab, [useOf(sourceOf('hashicorp_vault', token(), 'secret/data/openai', 'key'))])).toBe(
    'sk-v2',
  );
  const whole = useOf(sourceOf('hashicorp_vault', token(), 'secret/data/openai'), { format: 'json' });
  expect(await secretValue(lab, [whole])).toEqual({ key: 'sk-v2', nested: { a: 1 } });
});

test('an AppRole logs in once for many secrets, and again when its token is revoked or its lease is over', async () => {
  state.approles.set('role-1', { secretId: 'secret-id-1', namespace: 'team/a' });
  const auth = {
    vault_auth_type: 'approle',
    vault_addr: `${address}/`,
    vault_role_id: 'role-1',
    vault_secret_id: 'secret-id-1',
    vault_namespace: 'team/a',
  };
  const lab = openLab();
  const read = (path: string) => secretValue(lab, [useOf(sourceOf('hashicorp_vault', auth, path, 'key'))]);
  expect(await read('kv/openai')).toBe('sk-v1');
  expect(await read('secret/data/openai')).toBe('sk-v2');
  expect(state.logins).toBe(1);
  state.tokens.clear();
  expect(await read('kv/openai')).toBe('sk-v1');
  expect(state.logins).toBe(2);
  lab.clock.advance({ minutes: 61 });
  expect(await read('kv/openai')).toBe('sk-v1');
  expect(state.logins).toBe(3);
});

test('a wrong secret id is refused without its words', async () => {
  state.approles.set('role-1', { secretId: 'right', namespace: '' });
  const auth = {
    vault_auth_type: 'approle',
    vault_addr: address,
    vault_role_id: 'role-1',
    vault_secret_id: 'wrong-one',
  };
  const told = String(await secretValue(openLab(), [useOf(sourceOf('hashicorp_vault', auth, 'kv/openai', 'key'))]));
  expect(told).toEndWith('the manager answered with the status 400');
});

test('the gateway’s Kubernetes account logs in where the operator trusts the host', async () => {
  state.kubernetes.set('kubernetes gateway', { jwt: 'service-account-jwt', namespace: '' });
  state.kubernetes.set('k8s/prod gateway', { jwt: 'service-account-jwt', namespace: '' });
  const auth = { vault_auth_type: 'kubernetes', vault_addr: address, vault_role: 'gateway' };
  const env = { VAULT_KUBERNETES_TOKEN_FILE: join(folder, 'token') };
  const use = useOf(sourceOf('hashicorp_vault', auth, 'kv/openai', 'key'));
  expect(await secretValue(openLab(env), [use])).toBe('sk-v1');
  const mounted = useOf(sourceOf('hashicorp_vault', { ...auth, vault_auth_mount: 'k8s/prod' }, 'kv/openai', 'key'));
  expect(await secretValue(openLab(env), [mounted])).toBe('sk-v1');
  const asked = server.calls.length;
  expect(await secretValue(openLab({ ...env, TRUSTED_CUSTOM_HOSTS: 'vault.example.com' }), [use])).toContain(
    'only to hosts in TRUSTED_CUSTOM_HOSTS',
  );
  expect(server.calls.length).toBe(asked);
  expect(await secretValue(openLab(), [use])).toContain('no Kubernetes service account token');
  const stranger = useOf(sourceOf('hashicorp_vault', { ...auth, vault_role: 'none' }, 'kv/openai', 'key'));
  expect(await secretValue(openLab(env), [stranger])).toEndWith('the status 400');
});

test.each([
  ['no such secret', 'kv/absent', 'the status 404'],
  ['an engine that is not mounted', 'cubby/hole', 'the status 404'],
])('%s is a refusal', async (_, path, words) => {
  expect(await secretValue(openLab(), [useOf(sourceOf('hashicorp_vault', token(), path, 'key'))])).toEndWith(words);
});

test('a deleted version, a wrong token and a sealed server give no value', async () => {
  state.kv2.set('openai', { data: null, version: 4 });
  const read = (auth = token(), path = 'secret/data/openai') =>
    secretValue(openLab(), [useOf(sourceOf('hashicorp_vault', auth, path, 'key'))]);
  expect(await read()).toEndWith('the status 404');
  expect(await read({ ...token(), vault_token: 'wrong' }, 'kv/openai')).toEndWith('the status 403');
  state.sealed = true;
  expect(await read(token(), 'kv/openai')).toEndWith('the status 503');
});

test('an address that the operator does not trust is not called', async () => {
  const lab = openLab({ TRUSTED_CUSTOM_HOSTS: 'vault.example.com' });
  const asked = server.calls.length;
  const told = await secretValue(lab, [useOf(sourceOf('hashicorp_vault', token(), 'kv/openai', 'key'))]);
  expect(told).toContain('the custom host cannot be used');
  expect(server.calls.length).toBe(asked);
});
