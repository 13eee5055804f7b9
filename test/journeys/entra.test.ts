/** Azure and watsonx.ai behind the data plane, with tokens that a real token service on loopback hands out. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { type Plane, savedProvider, startPlane } from '../gateway-deps.ts';
import { azureOpenAi } from '../providers/azure.ts';
import { watsonxApi } from '../providers/other-clouds.ts';
import { type Behaviour, bytes, json, type SimulatedProvider, startProvider } from '../providers/simulated.ts';
import { startTokenServices, type TokenServices } from '../providers/token-services.ts';

let services: TokenServices;
let plane: Plane;
let resource: SimulatedProvider;

beforeEach(async () => {
  services = await startTokenServices();
  plane = startPlane({ settings: { cloudIdentity: 'any' } });
  plane.deps.credentials = services.credentials(
    {
      TRUSTED_CUSTOM_HOSTS: '127.0.0.1',
      AZURE_TENANT_ID: 't',
      AZURE_CLIENT_ID: 'c',
      AZURE_FEDERATED_TOKEN_FILE: '/token',
    },
    { '/token': 'platform-jwt' },
  );
});
afterEach(async () => {
  expect(plane.faults).toEqual([]);
  await plane.stop();
  await resource.stop();
  await services.service.stop();
});

const question = { model: 'gpt-4o', messages: [{ role: 'user', content: 'Hello' }] };
const ask = (config: object) =>
  plane.call('/v1/chat/completions', question, { 'x-gw-config': plane.saveConfig(config) });

describe('Azure', () => {
  const target = (more: object) => ({
    provider: 'azure-openai',
    custom_host: resource.url.replace(/\/v1$/, '/openai'),
    deployment_id: 'chat-prod',
    ...more,
  });

  test.each([
    [
      'an application',
      {
        azure_auth_mode: 'entra',
        azure_entra_tenant_id: 't',
        azure_entra_client_id: 'c',
        azure_entra_client_secret: 's',
      },
    ],
    ['a managed identity', { azure_auth_mode: 'managed' }],
    ['a workload', { azure_auth_mode: 'workload' }],
    [
      'a federated application',
      { azure_auth_mode: 'entraFederated', azure_entra_tenant_id: 't', azure_entra_client_id: 'c' },
    ],
  ])('%s asks with one token for many calls, and with the scope that the config names', async (_, more) => {
    resource = await startProvider(azureOpenAi({ key: 'none', token: 'token-1' }));
    const config = target({ ...more, azure_entra_scope: 'https://ai.azure.com/.default' });
    for (const _call of [1, 2]) expect((await ask(config)).status).toBe(200);
    expect(services.asked).toHaveLength(1);
    const { scope, resource: asked } = Object.fromEntries(services.asked[0] ?? []);
    expect(scope ?? asked).toStartWith('https://ai.azure.com');
    expect(resource.calls[0]?.headers['api-key']).toBeUndefined();
  });

  test('an identity of the gateway’s own is lent to integrations that say so, and to nobody else', async () => {
    resource = await startProvider(azureOpenAi({ key: 'none', token: 'token-1' }));
    const customHost = resource.url.replace(/\/v1$/, '/openai');
    const managed = { azure_auth_mode: 'managed', azure_deployment_id: 'chat-prod' };
    const azure = { provider: 'azure-openai', customHost, credential: null };
    plane.providers.set('lent', savedProvider('lent', { ...azure, fields: managed }));
    plane.providers.set('other', savedProvider('other', { ...azure, fields: { azure_deployment_id: 'chat-prod' } }));
    const status = async (config: object) => (await ask(config)).status;
    plane.deps.settings.cloudIdentity = 'saved';
    expect(await status({ provider: '@lent' })).toBe(200);
    expect(await status({ provider: '@lent', azure_managed_client_id: 'somebody-else' })).toBe(403);
    expect(await status({ provider: '@other', azure_auth_mode: 'managed' })).toBe(403);
    expect(await status(target({ azure_auth_mode: 'managed' }))).toBe(403);
    plane.deps.settings.cloudIdentity = 'off';
    expect(await status({ provider: '@lent' })).toBe(403);
  });

  test('an identity of the gateway’s own asks models, also where a call passes through, and nothing else', async () => {
    resource = await startProvider(json(200, {}));
    const customHost = resource.url.replace(/\/v1$/, '/openai');
    const fields = { azure_auth_mode: 'managed', azure_deployment_id: 'd' };
    for (const provider of ['azure-openai', 'azure-ai']) {
      plane.providers.set(provider, savedProvider(provider, { provider, customHost, credential: null, fields }));
    }
    plane.deps.settings.cloudIdentity = 'saved';
    const status = async (slug: string, method: string, path: string) => {
      const headers = { 'x-gw-provider': `@${slug}`, 'content-type': 'application/json' };
      const body = method === 'GET' || method === 'DELETE' ? undefined : { model: 'd' };
      return (await plane.call(path, body, headers, { method })).status;
    };
    const models = [
      ['POST', '/v1/proxy/deployments/d/chat/completions'],
      ['POST', '/v1/proxy/v1/responses'],
      ['POST', '/v1/proxy/v1/embeddings'],
      ['GET', '/v1/proxy/v1/models'],
    ] as const;
    const others = [
      ['GET', '/v1/proxy/files'],
      ['GET', '/v1/proxy/v1/files'],
      ['POST', '/v1/proxy/batches'],
      ['GET', '/v1/proxy/v1/fine_tuning/jobs'],
      ['POST', '/v1/proxy/v1/vector_stores'],
      ['GET', '/v1/proxy/assistants'],
      ['GET', '/v1/proxy/threads/t/messages'],
      ['GET', '/v1/proxy/v1/chat/completions'],
      ['PUT', '/v1/proxy/deployments/d'],
      ['DELETE', '/v1/proxy/v1/responses/r'],
      ['POST', '/v1/proxy/deployments/d/extensions/chat/completions/files'],
      ['GET', '/v1/files'],
      ['GET', '/v1/batches'],
    ] as const;
    for (const slug of ['azure-openai', 'azure-ai']) {
      for (const [method, path] of models) {
        expect([slug, path, await status(slug, method, path)]).toEqual([slug, path, 200]);
      }
      const reached = resource.calls.length;
      for (const [method, path] of others) {
        expect([slug, path, await status(slug, method, path)]).toEqual([slug, path, 403]);
      }
      expect(resource.calls.length).toBe(reached);
    }
  });

  describe('a batch that writes to blob storage', () => {
    const application = {
      azure_auth_mode: 'entra',
      azure_entra_tenant_id: 't',
      azure_entra_client_id: 'c',
      azure_entra_client_secret: 's',
    };
    const rows = '{"custom_id":"a"}\n';

    /** The resource and the storage account, under one address. */
    const withBlobs =
      (batch: object): Behaviour =>
      (call, response) => {
        if (call.path === '/outputs/results.jsonl') {
          const { authorization, 'x-ms-version': version, 'x-ms-date': date } = call.headers;
          const isKnown = authorization === 'Bearer token-2' && version && date && !call.headers['api-key'];
          const content = { 'content-type': 'application/octet-stream' };
          return isKnown ? bytes(200, rows, content)(call, response) : bytes(403, '<Error/>', content)(call, response);
        }
        return json(200, { id: 'batch_1', status: 'completed', output_file_id: '', ...batch })(call, response);
      };
    const output = async (config: object) => {
      const headers = { 'x-gw-config': plane.saveConfig(config) };
      const answer = await plane.call('/v1/batches/batch_1/output', undefined, headers);
      return [answer.status, await answer.text()];
    };

    test.each(['output_blob', 'error_blob'])('has its %s fetched with a token for storage', async (field) => {
      resource = await startProvider();
      const blob = `${new URL(resource.url).origin}/outputs/results.jsonl`;
      resource.script(withBlobs({ [field]: blob }));
      expect(await output(target(application))).toEqual([200, rows]);
      expect(services.asked.map((form) => form.get('scope'))).toEqual([
        'https://cognitiveservices.azure.com/.default',
        'https://storage.azure.com/.default',
      ]);
    });

    test('is read elsewhere where only the resource’s key is there', async () => {
      resource = await startProvider();
      const blob = `${new URL(resource.url).origin}/outputs/results.jsonl`;
      resource.script(withBlobs({ output_blob: blob }));
      expect(await output(target({ api_key: 'key' }))).toEqual([
        404,
        expect.stringContaining(`to ${blob}: read it there`),
      ]);
    });

    test('is none of the calls that the gateway’s own identity is lent for', async () => {
      resource = await startProvider(withBlobs({}));
      const managed = target({ azure_auth_mode: 'managed' });
      expect(await output(managed)).toEqual([403, expect.stringContaining('for calls of models only')]);
      expect(services.asked).toEqual([]);
    });

    test('is not fetched from a host that is no storage of Azure', async () => {
      const blob = 'https://collector.example/outputs/results.jsonl';
      resource = await startProvider(withBlobs({ output_blob: blob }));
      expect(await output(target(application))).toEqual([404, expect.stringContaining('read it there')]);
      expect(services.asked).toHaveLength(1);
    });
  });

  test('a token that is refused is asked for once more', async () => {
    resource = await startProvider(azureOpenAi({ key: 'none', token: 'token-2' }));
    expect((await ask(target({ azure_auth_mode: 'managed' }))).status).toBe(200);
    expect(resource.calls.map(({ headers }) => headers.authorization)).toEqual(['Bearer token-1', 'Bearer token-2']);
  });
});

test('watsonx.ai is asked with the token that its key was exchanged for', async () => {
  resource = await startProvider(watsonxApi('Bearer token-1'));
  const config = {
    provider: 'watsonx',
    api_key: 'ibm-key',
    watsonx_url: resource.url.replace('/v1', ''),
    watsonx_project_id: 'proj',
  };
  expect((await ask(config)).status).toBe(200);
  expect(services.asked[0]?.get('apikey')).toBe('ibm-key');
  expect(resource.calls[0]?.json).toMatchObject({ model_id: 'gpt-4o', project_id: 'proj' });
});
