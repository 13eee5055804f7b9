/** Azure Key Vault: the simulator is first held against Azure's own SDK, then we against the simulator. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { createHttpHeaders, type HttpClient } from '@azure/core-rest-pipeline';
import { SecretClient } from '@azure/keyvault-secrets';
import { json, type SimulatedProvider, startProvider } from '../../../test/providers/simulated.ts';
import { keyVault } from '../../../test/secret-managers/azure.ts';
import { openLab, secretValue, sourceOf, useOf } from '../../../test/secret-managers/open.ts';

const first = '0123456789abcdef0123456789abcdef';
const second = 'fedcba9876543210fedcba9876543210';
const state = {
  tokens: new Set(['token-1']),
  secrets: new Map([
    [
      'openai',
      [
        { version: first, value: 'sk-old' },
        { version: second, value: 'sk-new' },
      ],
    ],
  ]),
};

let vault: SimulatedProvider;
let entra: SimulatedProvider;
let address: string;
let issued = 0;
const asked: Record<string, string>[] = [];
beforeAll(async () => {
  vault = await startProvider(keyVault(state));
  entra = await startProvider((call, response) => {
    const query = new URL(call.path, 'http://entra').searchParams;
    const form = Object.fromEntries(call.body.length > 0 ? new URLSearchParams(call.body.toString()) : query);
    asked.push({ path: call.path.split('?')[0] ?? '', ...form });
    if (form.client_secret === 'wrong') {
      return json(401, { error: 'invalid_client', error_description: 'AADSTS7000215: canary-words' })(call, response);
    }
    issued++;
    return json(200, { token_type: 'Bearer', expires_in: 3599, access_token: `token-${issued}` })(call, response);
  });
  address = vault.url.replace('/v1', '');
});
afterAll(async () => {
  await vault.stop();
  await entra.stop();
});
beforeEach(() => {
  issued = 0;
  asked.length = 0;
  state.tokens = new Set(['token-1']);
});

/** The SDK insists on https and the name of a vault: both lead to the simulator. */
const toSimulator = (): HttpClient => ({
  async sendRequest(request) {
    const answer = await fetch(request.url.replace('https://myvault.vault.azure.net', address), {
      method: request.method,
      headers: request.headers.toJSON(),
    });
    const headers = createHttpHeaders(Object.fromEntries(answer.headers));
    return { request, status: answer.status, headers, bodyAsText: await answer.text() };
  },
});

test('the simulator serves the SDK of Azure, and refuses it as Azure does', async () => {
  const credential = (token: string) => ({
    getToken: async () => ({ token, expiresOnTimestamp: Date.now() + 3_600_000 }),
  });
  const options = { httpClient: toSimulator(), retryOptions: { maxRetries: 0 } };
  const client = new SecretClient('https://myvault.vault.azure.net', credential('token-1'), options);
  const newest = await client.getSecret('openai');
  expect({ value: newest.value, version: newest.properties.version }).toEqual({ value: 'sk-new', version: second });
  expect((await client.getSecret('openai', { version: first })).value).toBe('sk-old');
  expect(await client.getSecret('absent').catch((fault) => [fault.statusCode, fault.code])).toEqual([
    404,
    'SecretNotFound',
  ]);
  const stranger = new SecretClient('https://myvault.vault.azure.net', credential('other'), options);
  expect(await stranger.getSecret('openai').catch((fault) => fault.statusCode)).toBe(401);
});

const application = () => ({
  azure_auth_mode: 'entra',
  azure_entra_tenant_id: 'tenant-1',
  azure_entra_client_id: 'client-1',
  azure_entra_client_secret: 'client-secret-1',
  azure_vault_url: `${address}/`,
});

test('an application with a secret reads the newest version, or the one that is named', async () => {
  const lab = openLab({ AZURE_AUTHORITY_HOST: 'https://login.microsoftonline.com' }, entra);
  expect(await secretValue(lab, [useOf(sourceOf('azure_kv', application(), 'openai'))])).toBe('sk-new');
  expect(await secretValue(lab, [useOf(sourceOf('azure_kv', application(), `openai/${first}`))])).toBe('sk-old');
  expect(asked).toEqual([
    {
      path: '/tenant-1/oauth2/v2.0/token',
      grant_type: 'client_credentials',
      client_id: 'client-1',
      client_secret: 'client-secret-1',
      scope: 'https://vault.azure.net/.default',
    },
  ]);
});

test('a token that was taken back is got anew, once', async () => {
  const lab = openLab({}, entra);
  const source = () => useOf(sourceOf('azure_kv', application(), 'openai'));
  expect(await secretValue(lab, [source()])).toBe('sk-new');
  state.tokens = new Set(['token-2']);
  expect(await secretValue(lab, [source()])).toBe('sk-new');
  expect(issued).toBe(2);
});

test('a managed identity and the platform’s own are used only for vaults that the operator trusts or Azure runs', async () => {
  const managed = { azure_auth_mode: 'managed', azure_managed_client_id: 'mi-1', azure_vault_url: address };
  const env = { IDENTITY_ENDPOINT: 'http://identity/token', IDENTITY_HEADER: 'header-1' };
  expect(await secretValue(openLab(env, entra), [useOf(sourceOf('azure_kv', managed, 'openai'))])).toBe('sk-new');
  expect(asked.at(-1)).toMatchObject({ path: '/token', resource: 'https://vault.azure.net', client_id: 'mi-1' });
  state.tokens.add('token-2');
  const own = { azure_auth_mode: 'default', azure_vault_url: address };
  expect(await secretValue(openLab(env, entra), [useOf(sourceOf('azure_kv', own, 'openai'))])).toBe('sk-new');
  const elsewhere = { ...own, azure_vault_url: 'https://vault.example.com' };
  expect(await secretValue(openLab(env, entra), [useOf(sourceOf('azure_kv', elsewhere, 'openai'))])).toContain(
    'own identity is not shown to vault.example.com',
  );
});

test('a missing secret, a wrong client secret and nonsense are refused in our own words', async () => {
  const lab = openLab({}, entra);
  expect(await secretValue(lab, [useOf(sourceOf('azure_kv', application(), 'absent'))])).toEndWith(
    'the manager answered with the status 404, SecretNotFound',
  );
  const wrong = { ...application(), azure_entra_client_secret: 'wrong' };
  const told = await secretValue(openLab({}, entra), [useOf(sourceOf('azure_kv', wrong, 'openai'))]);
  expect(told).toEndWith('the cloud gives no token for these credentials (status 401)');
  vault.script(json(200, { value: 7 }));
  expect(await secretValue(lab, [useOf(sourceOf('azure_kv', application(), 'openai'))])).toEndWith(
    'something else than a secret',
  );
  vault.script(keyVault(state));
});
