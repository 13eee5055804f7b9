/** Virtual keys over HTTP: the older form, seen by both APIs. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Json, onEachEngine, type TestGateway } from '../../../test/harness.ts';
import { addKey, addOrganisation, addPerson, addWorkspace, home, type Place } from '../../../test/people.ts';

onEachEngine('virtual keys', (start) => {
  let gateway: TestGateway;
  let here: Place;

  beforeAll(async () => {
    gateway = await start();
    here = await home(gateway);
  });
  afterAll(() => gateway.stopWithoutFaults());

  const asked = () => ({ key: gateway.workspaceKey });
  const create = (body: object) =>
    gateway.post('/v1/virtual-keys', { provider: 'openai', key: 'sk-upstream-0123456789', ...body }, asked());
  const made = async (body: object) => {
    const reply = await create(body);
    expect(reply.status).toBe(200);
    return reply.body as { id: string; slug: string };
  };
  const read = (reference: string) => gateway.get(`/v1/virtual-keys/${reference}`, asked());
  const codeOf = ({ status, body }: { status: number; body: Json }) => `${status} ${body.data?.errorCode ?? 'ok'}`;

  test('a new one is an integration and a provider under one slug', async () => {
    const reply = await create({ name: 'Main', note: 'n', rate_limits: [{ type: 'requests', unit: 'rpm', value: 3 }] });
    const { slug, id } = reply.body;
    expect(slug).toMatch(/^main-[0-9a-f]{6}$/);
    expect(reply.body).toEqual({ success: true, data: { slug }, object: 'virtual-key', id, slug });
    expect((await read(slug)).body).toEqual({
      object: 'virtual-key',
      id,
      slug,
      name: 'Main',
      note: 'n',
      status: 'active',
      ai_provider_name: 'openai',
      workspace_id: here.workspaceId,
      masked_api_key: 'sk*******89',
      model_config: {},
      usage_limits: null,
      rate_limits: [{ type: 'requests', unit: 'rpm', value: 3 }],
      reset_usage: 0,
      expires_at: null,
      secret_mappings: [],
      last_reset_at: null,
      created_at: expect.any(String),
      last_updated_at: expect.any(String),
    });
    expect((await gateway.get(`/v1/providers/${slug}`, asked())).body).toMatchObject({ id, integration_id: slug });
    expect((await gateway.get(`/v1/integrations/${slug}`, asked())).body).toMatchObject({
      type: 'workspace',
      workspace_id: here.workspaceId,
      name: 'Main',
    });
  });

  test('the camelCase fields become the settings of the provider', async () => {
    const { slug } = await made({
      name: 'Azure',
      provider: 'azure-openai',
      customHost: 'https://azure.example.com',
      customHeaders: { 'x-a': 'headers-are-secret' },
      resourceName: 'my-resource',
      deploymentConfig: [
        { apiVersion: '2024-10-21', deploymentName: 'one' },
        { apiVersion: '2024-10-21', deploymentName: 'two', alias: 'gpt-4o', is_default: true },
      ],
    });
    const expected = {
      azure_auth_mode: 'default',
      azure_resource_name: 'my-resource',
      custom_host: 'https://azure.example.com',
      masked_custom_headers: { 'x-a': 'he*******et' },
      azure_deployment_config: [
        {
          azure_deployment_name: 'one',
          azure_api_version: '2024-10-21',
          azure_model_slug: 'one',
          is_default: false,
        },
        {
          azure_deployment_name: 'two',
          azure_api_version: '2024-10-21',
          azure_model_slug: 'gpt-4o',
          alias: 'gpt-4o',
          is_default: true,
        },
      ],
    };
    expect((await read(slug)).body.model_config).toEqual(expected);
    const deploymentConfig = [{ apiVersion: '2025-01-01', deploymentName: 'three' }];
    expect((await gateway.put(`/v1/virtual-keys/${slug}`, { deploymentConfig }, asked())).status).toBe(200);
    expect((await read(slug)).body.model_config).toMatchObject({
      azure_resource_name: 'my-resource',
      azure_deployment_config: [{ azure_deployment_name: 'three', is_default: true }],
    });
    const aws = await made({
      name: 'Aws',
      provider: 'bedrock',
      key: null,
      customHost: 'https://aws.example.com',
      awsAccessKeyId: 'AKIAIOSFODNN7EXAMPLE',
      awsSecretAccessKey: 'a-secret-of-some-length',
      awsRegion: 'eu-central-1',
    });
    expect((await read(aws.slug)).body.model_config).toEqual({
      aws_auth_type: 'accessKey',
      aws_region: 'eu-central-1',
      custom_host: 'https://aws.example.com',
      masked_aws_access_key_id: 'AK*******LE',
      masked_aws_secret_access_key: 'a-*******th',
    });
  });

  test('an update reaches both halves', async () => {
    const { id, slug } = await made({ name: 'Before', usage_limits: { credit_limit: 5 } });
    const reply = await gateway.put(
      `/v1/virtual-keys/${id}`,
      { name: 'After', key: 'another-key-00', note: 'why', usage_limits: null, rate_limits: null, reset_usage: false },
      asked(),
    );
    expect([reply.status, reply.body]).toEqual([200, { object: 'virtual-key', id, slug }]);
    expect((await read(slug)).body).toMatchObject({
      name: 'After',
      note: 'why',
      masked_api_key: 'an*******00',
      usage_limits: null,
    });
    expect((await gateway.get(`/v1/integrations/${slug}`, asked())).body).toMatchObject({
      name: 'After',
      masked_key: 'an*******00',
    });
    expect(codeOf(await gateway.put(`/v1/virtual-keys/${id}`, {}, asked()))).toBe('400 AB01');
    expect(codeOf(await gateway.put(`/v1/virtual-keys/${id}`, { key: null }, asked()))).toBe('400 AB01');
  });

  test('a list holds virtual keys alone', async () => {
    await gateway.post('/v1/integrations', { name: 'Org', slug: 'org', ai_provider_id: 'sandbox' });
    const workspaces = [{ id: here.workspaceId, enabled: true }];
    await gateway.put('/v1/integrations/org/workspaces', { workspaces });
    const { body } = await gateway.get('/v1/virtual-keys?page_size=1000', asked());
    const slugs = body.data.map((row: Json) => row.slug);
    expect(body.total).toBe(slugs.length);
    expect(slugs).toContain('sandbox');
    expect(slugs).not.toContain('org');
    expect(codeOf(await read('org'))).toBe('404 AB08');
    expect((await gateway.get('/v1/virtual-keys')).status).toBe(200);
  });

  test('a deleted one is gone for both APIs, and its slug stays taken', async () => {
    const { slug } = await made({ name: 'Gone' });
    const reply = await gateway.delete(`/v1/virtual-keys/${slug}`, undefined, asked());
    expect([reply.status, reply.body]).toEqual([200, {}]);
    for (const path of ['virtual-keys', 'providers', 'integrations']) {
      expect(codeOf(await gateway.get(`/v1/${path}/${slug}`, asked()))).toBe('404 AB08');
    }
    expect(codeOf(await create({ name: 'Again', slug }))).toBe('409 AB07');
  });

  test('wrong fields are named', async () => {
    const wrong: [object, string][] = [
      [{}, 'name'],
      [{ name: 'A', provider: undefined }, 'provider'],
      [{ name: 'A', provider: 'nobody-knows' }, 'provider'],
      [{ name: 'A', key: undefined }, 'key'],
      [{ name: 'A', customHost: 'http://localhost' }, 'customHost'],
      [{ name: 'A', provider: 'bedrock', customHost: 'https://a.example.com' }, 'awsRegion'],
      [{ name: 'A', expires_at: 'soon' }, 'expires_at'],
      [
        { name: 'A', secret_mappings: [{ target_field: 'configurations.x', secret_reference_id: 'a' }] },
        'secret_mappings.0.target_field',
      ],
      [
        { name: 'A', secret_mappings: [{ target_field: 'model_config.x', secret_reference_id: 'a' }] },
        'secret_mappings.0.secret_reference_id',
      ],
    ];
    for (const [body, path] of wrong) {
      const reply = await create(body);
      expect([codeOf(reply), reply.body.data.errors[0].path]).toEqual(['400 AB01', path]);
    }
  });

  test('whoever may not write integrations of the workspace may not do it by way of a virtual key', async () => {
    const { organisationId, workspaceId } = here;
    const { slug } = await made({ name: 'Guarded' });
    const manager = await addPerson(gateway, organisationId, 'member', { workspaces: { [workspaceId]: 'manager' } });
    const scopes = ['virtual_keys.create', 'virtual_keys.read', 'virtual_keys.update', 'virtual_keys.delete'] as const;
    const userKey = { organisationId, workspaceId, type: 'workspace-user', userId: manager.userId, scopes } as const;
    const ways = [manager.session, (await addKey(gateway, userKey)).secret];
    const setting = (on: boolean) =>
      gateway.put('/v1/admin/organisation/settings', { security_settings: { managersWriteWsIntegrations: on } });
    await setting(false);
    for (const key of ways) {
      const path = `/v1/virtual-keys/${slug}?workspace_id=${workspaceId}`;
      const body = { name: 'Sly', provider: 'openai', key: 'sk-another-0123456789', workspace_id: workspaceId };
      expect(codeOf(await gateway.post('/v1/virtual-keys', body, { key }))).toBe('403 AB03');
      expect(codeOf(await gateway.put(path, { key: 'sk-another-0123456789' }, { key }))).toBe('403 AB03');
      expect(codeOf(await gateway.delete(path, undefined, { key }))).toBe('403 AB03');
      expect((await gateway.get(path, { key })).body.masked_api_key).toBe('sk*******89');
    }
    await setting(true);
    for (const key of ways) {
      const path = `/v1/virtual-keys/${slug}?workspace_id=${workspaceId}`;
      expect(codeOf(await gateway.put(path, { note: 'Mine' }, { key }))).toBe('200 ok');
    }
  });

  test('those of other workspaces are refused, those of other tenants do not exist', async () => {
    const other = await addWorkspace(gateway, here.organisationId, 'Other');
    const body = { name: 'There', provider: 'openai', key: 'sk-upstream-0123456789', workspace_id: other.id };
    const { id } = (await gateway.post('/v1/virtual-keys', body)).body;
    expect(codeOf(await read(id))).toBe('403 AB03');
    const elsewhere = await addOrganisation(gateway);
    const path = `/v1/virtual-keys/${id}?workspace_id=${elsewhere.workspaceId}`;
    expect(codeOf(await gateway.get(path, { key: elsewhere.adminKey }))).toBe('404 AB08');
    expect(codeOf(await gateway.post('/v1/virtual-keys', body, { key: elsewhere.adminKey }))).toBe('404 AB08');
    expect(codeOf(await gateway.get('/v1/virtual-keys', { key: '' }))).toBe('401 AB05');
  });
});
