/** Providers whose credential is exchanged for a token, and calls that end while they wait for one. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { generateKeyPairSync } from 'node:crypto';
import { type Plane, savedProvider, startPlane } from '../gateway-deps.ts';
import type { Json } from '../harness.ts';
import * as openai from '../providers/openai.ts';
import { json, lastCall, type SimulatedProvider, silence, startProvider } from '../providers/simulated.ts';
import { startTokenServices, type TokenServices } from '../providers/token-services.ts';

let services: TokenServices;
let plane: Plane;
let provider: SimulatedProvider;

beforeEach(async () => {
  services = await startTokenServices();
  provider = await startProvider(openai.says('Hello'));
  plane = startPlane();
  plane.deps.credentials = services.credentials();
});
afterEach(async () => {
  expect(plane.faults).toEqual([]);
  await plane.stop();
  await provider.stop();
  await services.service.stop();
});

const question = { model: 'm', messages: [{ role: 'user', content: 'Hello' }] };

const save = (id: string, more: Parameters<typeof savedProvider>[1] = {}) => {
  const saved = savedProvider('a', { provider: id, customHost: provider.url, ...more });
  plane.providers.set('a', saved);
};
const ask = (headers: Record<string, string> = {}) =>
  plane.call('/v1/chat/completions', question, { 'x-gw-provider': '@a', ...headers });

describe('a credential that is exchanged', () => {
  const key = Buffer.from('client:secret').toString('base64');

  test.each([
    ['github-copilot', 'gho_long_lived', '/copilot_internal/v2/token', 'token gho_long_lived'],
    ['gigachat', key, '/api/v2/oauth', `Basic ${key}`],
  ])('of %s is never sent to the provider; its token serves many calls', async (id, credential, path, sent) => {
    save(id, { credential });
    for (const _ of [1, 2]) {
      const answer = await ask();
      expect([answer.status, ((await answer.json()) as Json).choices[0].message.content]).toEqual([200, 'Hello']);
    }
    expect(services.service.calls.map((call) => [call.path, call.headers.authorization])).toEqual([[path, sent]]);
    expect(provider.calls.map(({ headers }) => headers.authorization)).toEqual(['Bearer token-1', 'Bearer token-1']);
    expect(JSON.stringify(provider.calls)).not.toContain(credential);
  });

  test('is exchanged once more when the provider refuses the token', async () => {
    save('github-copilot', { credential: 'gho_1' });
    provider.script(json(401, { error: { message: 'token expired' } }), openai.says('Hello'));
    expect((await ask()).status).toBe(200);
    expect(provider.calls.map(({ headers }) => headers.authorization)).toEqual(['Bearer token-1', 'Bearer token-2']);
  });

  test('that is refused is told in the words of the service, without the credential', async () => {
    save('gigachat', { credential: key });
    services.service.script(json(401, { code: 4, message: 'Can’t decode Authorization header' }));
    const answer = await ask();
    const body = await answer.text();
    expect([answer.status, body]).toEqual([401, expect.stringContaining('GigaChat gave no token: Can’t decode')]);
    expect(body).not.toContain(key);
    expect(provider.calls).toEqual([]);
  });
});

describe('a call that waits for a token', () => {
  const account = {
    client_email: 'bot@proj.iam.gserviceaccount.com',
    private_key: generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey.export({
      type: 'pkcs8',
      format: 'pem',
    }),
  };
  const entra = {
    azure_auth_mode: 'entra',
    azure_entra_tenant_id: 't',
    azure_entra_client_id: 'c',
    azure_entra_client_secret: 's',
    azure_deployment_id: 'd',
  };
  const google = {
    vertex_service_account_json: JSON.stringify(account),
    vertex_region: 'global',
    vertex_project_id: 'p',
  };

  test.each([
    ['Google', 'vertex-ai', { credential: null, fields: google }],
    ['Entra', 'azure-openai', { credential: null, fields: entra }],
    ['IBM', 'watsonx', { fields: { watsonx_project_id: 'p' } }],
    ['GitHub', 'github-copilot', {}],
    ['GigaChat', 'gigachat', { credential: Buffer.from('client:secret').toString('base64') }],
  ])('of %s ends at its own deadline', async (_, id, more) => {
    save(id, more);
    services.service.script(silence);
    const answer = await ask({ 'x-gw-request-timeout': '60' });
    expect([answer.status, ((await answer.json()) as Json).error.code]).toEqual([408, 'request_timeout']);
    expect(provider.calls).toEqual([]);
    expect(services.service.calls).toHaveLength(1);
  });

  test('and ends lets the others have it', async () => {
    save('github-copilot', { credential: 'gho_1' });
    const gate = Promise.withResolvers<void>();
    services.service.script(async (call, response) => {
      await gate.promise;
      return json(200, { token: 'late', expires_at: Math.floor(Date.now() / 1000) + 1_800 })(call, response);
    });
    const patient = ask();
    expect((await ask({ 'x-gw-request-timeout': '60' })).status).toBe(408);
    gate.resolve();
    expect((await patient).status).toBe(200);
    expect(lastCall(provider).headers.authorization).toBe('Bearer late');
    expect(services.service.calls).toHaveLength(1);
  });
});
