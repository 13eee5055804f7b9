/** Secret references over HTTP: what is accepted, refused, masked and in use. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Json, onEachEngine, type TestGateway } from '../../../test/harness.ts';

const accessKey = {
  aws_auth_type: 'accessKey',
  aws_access_key_id: 'AKIAIOSFODNN7EXAMPLE',
  aws_secret_access_key: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCY',
  aws_region: 'eu-central-1',
};
const plain = { manager_type: 'aws_sm', auth_config: accessKey, secret_path: 'prod/openai' };

onEachEngine('secret references', (start) => {
  let gateway: TestGateway;
  let workspace: { id: string; slug: string };
  let other: { id: string; slug: string };
  beforeAll(async () => {
    gateway = await start({ TRUSTED_CUSTOM_HOSTS: 'vault.internal' });
    workspace = (await gateway.get('/v1/workspaces')).body.data[0];
    other = (await gateway.post('/v1/workspaces', { name: 'Other' })).body;
  });
  afterAll(() => gateway.stopWithoutFaults());

  const make = async (more: object = {}): Promise<{ id: string; slug: string }> => {
    const { status, body } = await gateway.post('/v1/secret-references', { name: 'OpenAI key', ...plain, ...more });
    expect({ status, body }).toMatchObject({ status: 200, body: { object: 'secret-reference' } });
    return body;
  };
  const read = async (id: string) => (await gateway.get(`/v1/secret-references/${id}`)).body;
  const refused = async (answer: Promise<{ status: number; body: Json }>) => {
    const { status, body } = await answer;
    return { status, code: body.data.errorCode, path: body.data.errors?.[0]?.path };
  };

  test('a reference is made, read by id and by slug, and shows no credential', async () => {
    const { id, slug } = await make({ description: 'For production', tags: { team: 'a' }, secret_key: 'key' });
    expect(slug).toBe('openai-key');
    const record = await read(slug);
    expect(record).toMatchObject({
      id,
      status: 'ACTIVE',
      description: 'For production',
      secret_key: 'key',
      allow_all_workspaces: true,
      allowed_workspaces: [],
      tags: { team: 'a' },
      auth_config: {
        aws_auth_type: 'accessKey',
        aws_region: 'eu-central-1',
        masked_aws_access_key_id: 'AK*******LE',
        masked_aws_secret_access_key: 'wJ*******CY',
      },
      resolution: { state: 'unused', resolved_at: null, error: null },
    });
    expect(await read(id)).toEqual(record);
    expect(JSON.stringify(record)).not.toContain(accessKey.aws_secret_access_key);
    expect((await make()).slug).toStartWith('openai-key-');
  });

  test('the list is filtered by manager, tag and name, and shows no credentials', async () => {
    const vault = { vault_auth_type: 'token', vault_addr: 'https://vault.internal', vault_token: 'hvs.secret' };
    await make({
      name: 'Vaulted',
      manager_type: 'hashicorp_vault',
      auth_config: vault,
      secret_path: 'secret/data/openai',
      tags: { team: 'b' },
    });
    const names = async (query: string) =>
      (await gateway.get(`/v1/secret-references?${query}`)).body.data.map(({ name }: { name: string }) => name);
    expect(await names('manager_type=hashicorp_vault')).toEqual(['Vaulted']);
    expect(await names(`tags=${encodeURIComponent('{"team":"b"}')}`)).toEqual(['Vaulted']);
    expect(await names('search=vAULT')).toEqual(['Vaulted']);
    const { body } = await gateway.get('/v1/secret-references');
    expect(body.object).toBe('list');
    expect(Object.keys(body.data[0]).sort()).toEqual(
      ['object', 'id', 'name', 'slug', 'manager_type', 'status', 'created_at', 'last_updated_at'].sort(),
    );
  });

  test.each([
    ['a slug that is taken', { slug: 'twice' }, 'slug'],
    ['an unknown manager', { manager_type: 'keepass' }, 'manager_type'],
    ['a mode that the manager does not have', { auth_config: { aws_auth_type: 'magic' } }, 'auth_config.aws_auth_type'],
    ['a mode without its fields', { auth_config: { aws_auth_type: 'assumedRole' } }, 'auth_config.aws_role_arn'],
    [
      'a region that would be another host',
      { auth_config: { ...accessKey, aws_region: 'x.evil.com/' } },
      'auth_config.aws_region',
    ],
    ['an empty list of workspaces', { allowed_workspaces: [] }, 'allowed_workspaces'],
    ['a workspace that does not exist', { allowed_workspaces: ['ws-none'] }, 'allowed_workspaces.0'],
    ['all workspaces and some', { allow_all_workspaces: true, allowed_workspaces: ['a'] }, 'allowed_workspaces'],
    ['an empty path', { secret_path: '' }, 'secret_path'],
    [
      'an address that may not be called',
      {
        manager_type: 'hashicorp_vault',
        auth_config: { vault_auth_type: 'token', vault_addr: 'http://169.254.169.254', vault_token: 'x' },
      },
      'auth_config.vault_addr',
    ],
    [
      'a path that leaves its place',
      {
        manager_type: 'hashicorp_vault',
        auth_config: { vault_auth_type: 'token', vault_addr: 'https://vault.internal', vault_token: 'x' },
        secret_path: 'secret/../sys/raw',
      },
      'secret_path',
    ],
    [
      'a file outside its folder',
      { manager_type: 'file', auth_config: {}, secret_path: '../etc/passwd' },
      'secret_path',
    ],
    [
      'a service account that is none',
      { manager_type: 'gcp_sm', auth_config: { gcp_auth_type: 'serviceAccount', gcp_service_account_json: '{}' } },
      'auth_config.gcp_service_account_json',
    ],
  ])('%s is refused with 400 that names the field', async (_, more, path) => {
    if ('slug' in more) await gateway.post('/v1/secret-references', { name: 'First', ...plain, slug: 'twice' });
    const answer = gateway.post('/v1/secret-references', { name: 'Wrong', ...plain, ...more });
    expect(await refused(answer)).toEqual({ status: 400, code: 'AB01', path });
  });

  test('an update changes what it names; credentials are merged, and a mode must be whole', async () => {
    const { id } = await make({ name: 'Changing', description: 'x', secret_key: 'a', tags: { a: 'b' } });
    const put = (body: object) => gateway.put(`/v1/secret-references/${id}`, body);
    expect(
      await put({ auth_config: { aws_region: 'us-east-1' }, secret_key: null, description: null, tags: null }),
    ).toMatchObject({
      status: 200,
      body: {},
    });
    expect(await read(id)).toMatchObject({
      secret_key: null,
      description: null,
      tags: null,
      auth_config: { aws_region: 'us-east-1', masked_aws_secret_access_key: 'wJ*******CY' },
    });
    expect(await refused(put({}))).toMatchObject({ status: 400, code: 'AB01' });
    expect(await refused(put({ manager_type: 'azure_kv' }))).toMatchObject({ status: 400, path: 'manager_type' });
    expect(await refused(put({ auth_config: { aws_auth_type: 'assumedRole' } }))).toMatchObject({
      status: 400,
      path: 'auth_config.aws_role_arn',
    });
    const role = { aws_auth_type: 'assumedRole', aws_role_arn: 'arn:aws:iam::123456789012:role/reader' };
    expect((await put({ auth_config: role })).status).toBe(200);
    const { auth_config } = await read(id);
    expect(auth_config).toEqual({
      aws_auth_type: 'assumedRole',
      aws_region: 'us-east-1',
      masked_aws_role_arn: 'ar*******er',
    });
  });

  test('workspaces that may use it are replaced, kept, and opened to all again', async () => {
    const { id } = await make({ allowed_workspaces: [workspace.slug] });
    expect(await read(id)).toMatchObject({ allow_all_workspaces: false, allowed_workspaces: [workspace.slug] });
    await gateway.put(`/v1/secret-references/${id}`, { allowed_workspaces: [other.id] });
    await gateway.put(`/v1/secret-references/${id}`, { name: 'Renamed' });
    expect(await read(id)).toMatchObject({ name: 'Renamed', allowed_workspaces: [other.slug] });
    await gateway.put(`/v1/secret-references/${id}`, { allow_all_workspaces: true });
    expect(await read(id)).toMatchObject({ allow_all_workspaces: true, allowed_workspaces: [] });
  });

  const integration = (more: object) =>
    gateway.post('/v1/integrations', { name: 'Mapped', ai_provider_id: 'openai', workspace_id: workspace.id, ...more });

  test('a mapping takes the place of the key, is shown as it was sent, and keeps the reference from being deleted', async () => {
    const { id, slug } = await make({ name: 'Mapped one' });
    const mapping = { target_field: 'key', secret_reference_id: slug };
    const made = await integration({ secret_mappings: [mapping] });
    expect(made.status).toBe(200);
    const shown = await gateway.get(`/v1/integrations/${made.body.slug}`);
    expect(shown.body.secret_mappings).toEqual([{ ...mapping, secret_key: null, value_format: 'string' }]);
    expect(shown.body.masked_key).toBeNull();
    const blocked = await gateway.delete(`/v1/secret-references/${id}`);
    expect(blocked).toMatchObject({ status: 400, body: { data: { errorCode: 'AB01' } } });
    expect(blocked.body.data.message).toContain(made.body.slug);
    expect(
      (await gateway.put(`/v1/integrations/${made.body.slug}`, { secret_mappings: [], key: 'sk-own' })).status,
    ).toBe(200);
    expect(await gateway.delete(`/v1/secret-references/${id}`)).toMatchObject({ status: 200, body: {} });
    expect((await gateway.get(`/v1/secret-references/${id}`)).status).toBe(404);
    expect((await gateway.delete(`/v1/secret-references/${id}`)).status).toBe(404);
    expect(await refused(integration({ secret_mappings: [mapping] }))).toMatchObject({
      status: 400,
      path: 'secret_mappings.0.secret_reference_id',
    });
  });

  test('settings that a provider asks for may be mapped instead of sent', async () => {
    const { slug } = await make({ name: 'Bedrock' });
    const settings = { aws_auth_type: 'accessKey', aws_region: 'eu-central-1', aws_access_key_id: 'AKIA1' };
    const bedrock = { ai_provider_id: 'bedrock', name: 'Bedrock', configurations: settings };
    expect(await refused(integration(bedrock))).toMatchObject({ path: 'configurations.aws_secret_access_key' });
    const mapping = { target_field: 'aws_secret_access_key', secret_reference_id: slug, secret_key: 'secret' };
    const made = await integration({ ...bedrock, secret_mappings: [mapping] });
    expect(made.status).toBe(200);
    const { body } = await gateway.get(`/v1/integrations/${made.body.slug}`);
    expect(body.secret_mappings[0].target_field).toBe('configurations.aws_secret_access_key');
    expect(Object.keys(body.configurations)).not.toContain('masked_aws_secret_access_key');
  });

  test('a reference that is not open to the workspace, or not to be found, is refused wherever it is mapped', async () => {
    const { slug } = await make({ allowed_workspaces: [other.slug] });
    const secret_mappings = [{ target_field: 'key', secret_reference_id: slug }];
    const path = 'secret_mappings.0.secret_reference_id';
    expect(await refused(integration({ secret_mappings }))).toMatchObject({ status: 400, path });
    expect(
      await refused(
        gateway.post('/v1/virtual-keys', {
          name: 'V',
          provider: 'openai',
          workspace_id: workspace.id,
          secret_mappings,
        }),
      ),
    ).toMatchObject({ status: 400, path });
    // One of the organisation was mapped by those who manage references.
    const shared = await gateway.post('/v1/integrations', {
      name: 'Shared',
      ai_provider_id: 'openai',
      secret_mappings,
    });
    expect(shared.status).toBe(200);
    const unknown = [{ target_field: 'headers', secret_reference_id: 'nowhere', value_format: 'json' }];
    const mcp = { name: 'M', url: 'https://mcp.example.com', auth_type: 'headers', transport: 'http' };
    expect(await refused(gateway.post('/v1/mcp-integrations', { ...mcp, secret_mappings: unknown }))).toMatchObject({
      status: 400,
      path,
    });
    expect(
      await refused(
        gateway.post('/v1/plugins', {
          id: 'lakera',
          secret_mappings: [{ target_field: 'apiKey', secret_reference_id: 'nowhere' }],
        }),
      ),
    ).toMatchObject({ status: 400, path });
  });

  test('on a provider only the key can be mapped', async () => {
    const { slug } = await make({ name: 'Own key' });
    const { body } = await integration({ key: 'sk-shared', name: 'For providers' });
    const provider = (secret_mappings: object[]) =>
      gateway.post('/v1/providers', {
        name: 'P',
        integration_id: body.slug,
        workspace_id: workspace.id,
        secret_mappings,
      });
    const made = await provider([{ target_field: 'key', secret_reference_id: slug }]);
    expect(made.status).toBe(200);
    expect(
      (await gateway.get(`/v1/providers/${made.body.slug}?workspace_id=${workspace.id}`)).body.secret_mappings,
    ).toMatchObject([{ target_field: 'key', secret_reference_id: slug }]);
    expect(await refused(provider([{ target_field: 'custom_host', secret_reference_id: slug }]))).toMatchObject({
      status: 400,
      path: 'secret_mappings',
    });
  });

  test('every write leaves an audit row without a credential', async () => {
    const { id } = await make({ name: 'Audited' });
    await gateway.put(`/v1/secret-references/${id}`, {
      auth_config: { aws_secret_access_key: 'canary-rotated-secret' },
    });
    await gateway.delete(`/v1/secret-references/${id}`);
    const rows = await gateway.app.services.store.db
      .selectFrom('audit_logs')
      .selectAll()
      .where('resource_type', '=', 'secret_reference')
      .where('resource_id', '=', id)
      .orderBy('timestamp')
      .orderBy('id')
      .execute();
    expect(rows.map(({ action }) => action)).toEqual(['create', 'update', 'delete']);
    const text = JSON.stringify(rows);
    expect(text).toContain(id);
    expect(text).not.toContain('canary-rotated-secret');
    expect(text).not.toContain(accessKey.aws_secret_access_key);
  });
});
