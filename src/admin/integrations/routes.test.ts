/** Integrations over HTTP: made, listed, read, changed and deleted, by those who may. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { onEachEngine, type TestGateway } from '../../../test/harness.ts';
import {
  addKey,
  addOrganisation,
  addPerson,
  addWorkspace,
  type Home,
  home,
  type Person,
} from '../../../test/people.ts';

onEachEngine('integrations', (start) => {
  let gateway: TestGateway;
  let here: Home;
  let other: { id: string; slug: string };

  beforeAll(async () => {
    gateway = await start();
    here = await home(gateway);
    other = await addWorkspace(gateway, here.organisationId, 'Other');
  });
  afterAll(() => gateway.stopWithoutFaults());

  const basic = { ai_provider_id: 'openai', key: 'sk-upstream-0123456789' };
  const create = (body: object, key?: string) =>
    gateway.post('/v1/integrations', { ...basic, ...body }, key === undefined ? {} : { key });
  const made = async (body: object, key?: string) => {
    const reply = await create(body, key);
    expect(reply.status).toBe(200);
    return reply.body as { id: string; slug: string };
  };
  const read = (reference: string, key?: string) =>
    gateway.get(`/v1/integrations/${reference}`, key === undefined ? {} : { key });
  const codeOf = ({ status, body }: { status: number; body: { data?: { errorCode?: string } } }) =>
    `${status} ${body.data?.errorCode ?? 'ok'}`;
  const providersOf = async (workspaceId: string) =>
    (await gateway.get(`/v1/providers?workspace_id=${workspaceId}&page_size=1000`)).body.data;

  test('a new one answers its id and slug, and reads back with its key masked', async () => {
    const { id, slug } = await made({ name: 'Main Account', description: ' For all ', tags: { team: 'core' } });
    expect(slug).toBe('main-account');
    for (const path of [`/v1/integrations/${slug}`, `/v2/integrations/${id}`]) {
      expect((await gateway.get(path)).body).toEqual({
        object: 'integration',
        id,
        organisation_id: here.organisationId,
        workspace_id: null,
        type: 'organisation',
        ai_provider_id: 'openai',
        name: 'Main Account',
        slug,
        description: 'For all',
        status: 'active',
        tags: { team: 'core' },
        created_at: expect.any(String),
        last_updated_at: expect.any(String),
        masked_key: 'sk*******89',
        configurations: {},
        global_workspace_access_settings: { enabled: false, usage_limits: [], rate_limits: [] },
        allow_all_models: true,
        workspace_count: 0,
        secret_mappings: [],
        pricing_adjustments: null,
      });
    }
  });

  test('a slug that is taken is a conflict when it was asked for, and gives way when it was not', async () => {
    await made({ name: 'Twice' });
    expect((await made({ name: 'Twice' })).slug).toMatch(/^twice-[0-9a-f]{6}$/);
    expect(codeOf(await create({ name: 'Third', slug: 'twice' }))).toBe('409 AB07');
    expect((await made({ name: '模型' })).slug).toMatch(/^integration/);
  });

  test('wrong fields are named', async () => {
    const wrong: [object, string][] = [
      [{}, 'name'],
      [{ name: '' }, 'name'],
      [{ name: 'x'.repeat(256) }, 'name'],
      [{ name: 'A', slug: 'not a slug' }, 'slug'],
      [{ name: 'A', slug: 'x'.repeat(256) }, 'slug'],
      [{ name: 'A', key: undefined }, 'key'],
      [{ name: 'A', key: 'two\nlines' }, 'key'],
      [{ name: 'A', ai_provider_id: 'nobody-knows' }, 'ai_provider_id'],
      [{ name: 'A', configurations: { custom_host: 'http://169.254.169.254/v1' } }, 'configurations.custom_host'],
      [{ name: 'A', configurations: { custom_host: 'http://10.0.0.1' } }, 'configurations.custom_host'],
      [{ name: 'A', configurations: { custom_headers: { 'x y': '1' } } }, 'configurations.custom_headers.x y'],
      [{ name: 'A', configurations: { custom_headers: { host: 'a' } } }, 'configurations.custom_headers.host'],
      [{ name: 'A', configurations: { openai_project: 7 } }, 'configurations.openai_project'],
      [{ name: 'A', tags: { a: 1 } }, 'tags.a'],
      [{ name: 'A', pricing_adjustments: { multiplier: { nonsense: 1 } } }, 'pricing_adjustments.multiplier.nonsense'],
      [{ name: 'A', pricing_adjustments: { multiplier: { default: -1 } } }, 'pricing_adjustments.multiplier.default'],
      [
        { name: 'A', secret_mappings: [{ target_field: 'key', secret_reference_id: 'vault-1' }] },
        'secret_mappings.0.secret_reference_id',
      ],
      [
        { name: 'A', secret_mappings: [{ target_field: 'a.b.c', secret_reference_id: 'vault-1' }] },
        'secret_mappings.0.target_field',
      ],
      [
        {
          name: 'A',
          secret_mappings: [
            { target_field: 'aws_region', secret_reference_id: 'a' },
            { target_field: 'configurations.aws_region', secret_reference_id: 'b' },
          ],
        },
        'secret_mappings',
      ],
    ];
    for (const [body, path] of wrong) {
      const reply = await create(body);
      expect([codeOf(reply), reply.body.data.errors?.[0]?.path]).toEqual(['400 AB01', path]);
    }
  });

  test('a key is not asked for where the provider needs none', async () => {
    await made({ name: 'Box', ai_provider_id: 'sandbox', key: null });
    await made({ name: 'Keyless', key: null, configurations: { is_key_required: false } });
    const hosted = await made({
      name: 'Own host',
      ai_provider_id: 'our-own-model',
      key: null,
      configurations: { custom_host: 'https://models.example.com/v1' },
    });
    expect((await read(hosted.slug)).body).toMatchObject({
      ai_provider_id: 'our-own-model',
      masked_key: null,
      configurations: { custom_host: 'https://models.example.com/v1' },
    });
  });

  test('other spellings of a provider become the one', async () => {
    const { slug } = await made({ name: 'Hyphen', ai_provider_id: 'open-ai' });
    expect((await read(slug)).body.ai_provider_id).toBe('openai');
  });

  test('one of a workspace comes with a provider unless it is not wanted', async () => {
    const workspace_id = other.slug;
    const { id, slug } = await made({ name: 'Ours', workspace_id });
    expect((await read(slug)).body).toMatchObject({ type: 'workspace', workspace_id: other.id, workspace_count: 1 });
    await made({ name: 'None', workspace_id, create_default_provider: false });
    await made({ name: 'Named', workspace_id, default_provider_slug: 'chosen' });
    const providers = await providersOf(other.id);
    expect(providers.map((row: { slug: string }) => row.slug).sort()).toEqual(['chosen', 'ours']);
    expect(providers.find((row: { slug: string }) => row.slug === 'ours')).toMatchObject({
      integration_id: slug,
      name: 'Ours',
      ai_provider_name: 'openai',
      workspace_id: other.id,
    });
    expect(id).toBeString();
  });

  test('a taken default_provider_slug is refused and leaves no integration behind', async () => {
    const before = (await gateway.get('/v1/integrations?page_size=1')).body.total;
    const reply = await create({ name: 'Clash', workspace_id: other.id, default_provider_slug: 'chosen' });
    expect([codeOf(reply), reply.body.data.errors[0].path]).toEqual(['400 AB01', 'default_provider_slug']);
    expect((await gateway.get('/v1/integrations?page_size=1')).body.total).toBe(before);
  });

  test('a key of a workspace makes one of its own workspace, and sees no more', async () => {
    const { slug } = await made({ name: 'By key' }, gateway.workspaceKey);
    expect((await read(slug, gateway.workspaceKey)).body).toMatchObject({ workspace_id: here.workspaceId });
    expect(codeOf(await create({ name: 'A', workspace_id: other.id }, gateway.workspaceKey))).toBe('403 AB03');
    expect(codeOf(await read('main-account', gateway.workspaceKey))).toBe('403 AB03');
    expect(codeOf(await read('ours', gateway.workspaceKey))).toBe('403 AB03');
    expect(codeOf(await gateway.delete('/v1/integrations/ours', undefined, { key: gateway.workspaceKey }))).toBe(
      '403 AB03',
    );
  });

  test('each family of scopes opens its own kind', async () => {
    const { organisationId } = here;
    const onlyWorkspaces = await addKey(gateway, {
      organisationId,
      type: 'organisation-service',
      scopes: ['workspace_integrations.create', 'workspace_integrations.list'],
    });
    expect(codeOf(await create({ name: 'A' }, onlyWorkspaces.secret))).toBe('403 AB03');
    await made({ name: 'Allowed', workspace_id: other.id }, onlyWorkspaces.secret);
    const listed = await gateway.get('/v1/integrations?page_size=1000', { key: onlyWorkspaces.secret });
    expect(new Set(listed.body.data.map((row: { type: string }) => row.type))).toEqual(new Set(['workspace']));
    const none = await addKey(gateway, { organisationId, type: 'organisation-service', scopes: ['configs.read'] });
    expect(codeOf(await gateway.get('/v1/integrations', { key: none.secret }))).toBe('403 AB03');
  });

  test('managers write those of their workspace unless managersWriteWsIntegrations is off; members do not', async () => {
    const { organisationId, workspaceId } = here;
    const manager = await addPerson(gateway, organisationId, 'member', { workspaces: { [workspaceId]: 'manager' } });
    const member = await addPerson(gateway, organisationId, 'member', { workspaces: { [workspaceId]: 'member' } });
    const session = ({ session }: Person) => ({ key: '', headers: { authorization: `Bearer ${session}` } });
    const post = (person: Person, body: object) =>
      gateway.post('/v1/integrations', { ...basic, ...body }, session(person));
    expect((await post(manager, { name: 'By manager', workspace_id: workspaceId })).status).toBe(200);
    expect(codeOf(await post(manager, { name: 'For all' }))).toBe('403 AB03');
    expect(codeOf(await post(member, { name: 'By member', workspace_id: workspaceId }))).toBe('403 AB03');
    expect((await gateway.get('/v1/integrations', session(member))).status).toBe(200);
    const setting = (on: boolean) =>
      gateway.put('/v1/admin/organisation/settings', { security_settings: { managersWriteWsIntegrations: on } });
    expect((await setting(false)).status).toBe(200);
    expect(codeOf(await post(manager, { name: 'Too late', workspace_id: workspaceId }))).toBe('403 AB03');
    await setting(true);
  });

  test('a list is filtered by workspace, type, provider, name and tags', async () => {
    const list = async (query: string, key?: string) => {
      const { status, body } = await gateway.get(`/v1/integrations?${query}`, key === undefined ? {} : { key });
      expect(status).toBe(200);
      return body.data.map((row: { slug: string }) => row.slug);
    };
    await made({ name: 'Filtered Ä', ai_provider_id: 'anthropic', tags: { env: 'prod', 'a"b': '{"x":"y"}' } });
    await made({ name: 'Filtered two', workspace_id: other.id, tags: { env: 'prod' } });
    expect(await list('search=FILTERED')).toEqual(['filtered-two', 'filtered-a']);
    expect(await list('search=filtered&type=organisation')).toEqual(['filtered-a']);
    expect(await list('search=filtered&type=workspace')).toEqual(['filtered-two']);
    expect(await list('search=filtered&ai_provider_id=anthropic')).toEqual(['filtered-a']);
    expect(await list(`search=filtered&workspace_id=${other.slug}`)).toEqual(['filtered-two']);
    expect(await list('search=filtered', gateway.workspaceKey)).toEqual([]);
    const tagged = (tags: object) => list(`tags=${encodeURIComponent(JSON.stringify(tags))}`);
    expect(await tagged({ env: 'prod' })).toEqual(['filtered-two', 'filtered-a']);
    expect(await tagged({ env: 'prod', 'a"b': '{"x":"y"}' })).toEqual(['filtered-a']);
    for (const tags of [{ b: '{"x":"y"}' }, { x: 'y' }, { env: 'PROD' }, { env: 'pro' }]) {
      expect(await tagged(tags)).toEqual([]);
    }
    for (const query of ['tags=nonsense', 'tags=[]', 'tags={"a":1}', 'type=none', 'page_size=0']) {
      expect((await gateway.get(`/v1/integrations?${query}`)).status).toBe(400);
    }
    const page = (await gateway.get('/v1/integrations?search=filtered&page_size=1&current_page=1')).body;
    expect([page.total, page.data.length, page.data[0].slug]).toEqual([2, 1, 'filtered-a']);
  });

  test('an update lays configurations over the stored ones and keeps what it leaves out', async () => {
    const { slug } = await made({
      name: 'Changing',
      configurations: { openai_project: 'p', custom_headers: { 'x-team': 'headers-are-secret' } },
    });
    const put = (body: object) => gateway.put(`/v1/integrations/${slug}`, body);
    const reply = await put({
      name: 'Changed',
      description: 'Why',
      configurations: { openai_organization: 'o', masked_custom_headers: { 'x-team': 'stars' } },
      pricing_adjustments: {
        multiplier: { default: 0.8, image: { default: null }, additional_units: { web_search: 2 } },
      },
      tags: { a: 'b' },
    });
    expect([reply.status, reply.body]).toEqual([200, {}]);
    expect((await read(slug)).body).toMatchObject({
      name: 'Changed',
      description: 'Why',
      masked_key: 'sk*******89',
      configurations: {
        openai_project: 'p',
        openai_organization: 'o',
        masked_custom_headers: { 'x-team': 'he*******et' },
      },
      pricing_adjustments: { multiplier: { default: 0.8 } },
      tags: { a: 'b' },
    });
    await put({
      key: 'another-key-00',
      configurations: { openai_project: null },
      tags: null,
      pricing_adjustments: null,
      description: null,
    });
    const { body } = await read(slug);
    expect(body).toMatchObject({ masked_key: 'an*******00', tags: null, pricing_adjustments: null, description: null });
    expect(body.configurations).toEqual({
      openai_organization: 'o',
      masked_custom_headers: { 'x-team': 'he*******et' },
    });
  });

  test('credentials inside a setting are masked, and kept when the masked setting is sent back', async () => {
    const { slug } = await made({
      name: 'Nested',
      configurations: {
        proxy: { user: 'gw', password: 'inside-an-object' },
        regions: [{ name: 'eu', api_key: 'inside-a-list-eu' }, { name: 'us' }],
      },
    });
    const shown = {
      proxy: { user: 'gw', masked_password: 'in*******ct' },
      regions: [{ name: 'eu', masked_api_key: 'in*******eu' }, { name: 'us' }],
    };
    const { body } = await read(slug);
    expect(body.configurations).toEqual(shown);
    const put = (configurations: object) => gateway.put(`/v1/integrations/${slug}`, { configurations });
    expect((await put({ ...body.configurations, openai_project: 'p' })).status).toBe(200);
    expect((await read(slug)).body.configurations).toEqual({ ...shown, openai_project: 'p' });
    await put({ proxy: { user: 'gw', password: 'a-new-one-here', masked_password: 'in*******ct', masked_token: 'x' } });
    expect((await read(slug)).body.configurations.proxy).toEqual({ user: 'gw', masked_password: 'a-*******re' });
  });

  test('an update with nothing to change, with a change of what never changes, or without the key is refused', async () => {
    const { slug } = await made({ name: 'Steady' });
    const put = async (body: object) => codeOf(await gateway.put(`/v1/integrations/${slug}`, body));
    expect(await put({})).toBe('400 AB01');
    expect(await put({ unknown: 1 })).toBe('400 AB01');
    expect(await put({ name: 'A', slug: 'else' })).toBe('400 AB01');
    expect(await put({ name: 'A', ai_provider_id: 'anthropic' })).toBe('400 AB01');
    expect(await put({ name: 'A', workspace_id: other.id })).toBe('400 AB01');
    expect(await put({ key: null })).toBe('400 AB01');
    expect(await put({ configurations: { custom_host: 'ftp://example.com' } })).toBe('400 AB01');
    expect(await put({ name: 'A', slug, ai_provider_id: 'openai' })).toBe('200 ok');
    expect(await put({ secret_mappings: [] })).toBe('200 ok');
  });

  test('a deleted one is gone with its providers, and its slug stays taken', async () => {
    const { id, slug } = await made({ name: 'Gone', workspace_id: other.id });
    const reply = await gateway.delete(`/v1/integrations/${slug}`);
    expect([reply.status, reply.body]).toEqual([200, {}]);
    expect(codeOf(await read(id))).toBe('404 AB08');
    expect((await providersOf(other.id)).map((row: { slug: string }) => row.slug)).not.toContain('gone');
    expect(codeOf(await create({ name: 'A', slug }))).toBe('409 AB07');
    expect(codeOf(await gateway.delete(`/v1/integrations/${slug}`))).toBe('404 AB08');
  });

  test('what does not exist, or belongs to another tenant, is not found', async () => {
    const elsewhere = await addOrganisation(gateway);
    const theirs = await made({ name: 'Theirs' }, elsewhere.adminKey);
    for (const reference of [theirs.id, theirs.slug, Bun.randomUUIDv7(), 'no-such']) {
      expect(codeOf(await read(reference))).toBe('404 AB08');
      expect(codeOf(await gateway.put(`/v1/integrations/${reference}`, { name: 'A' }))).toBe('404 AB08');
      expect(codeOf(await gateway.delete(`/v1/integrations/${reference}`))).toBe('404 AB08');
    }
    expect(codeOf(await create({ name: 'A', workspace_id: elsewhere.workspaceId }))).toBe('404 AB08');
    expect(codeOf(await create({ name: 'A' }, ''))).toBe('401 AB05');
    expect((await read(theirs.slug, elsewhere.adminKey)).status).toBe(200);
  });

  test('every new organisation starts with the sandbox in its first workspace', async () => {
    const elsewhere = await addOrganisation(gateway);
    const ask = { key: elsewhere.adminKey };
    const { body } = await gateway.get('/v1/integrations/sandbox', ask);
    expect(body).toMatchObject({
      ai_provider_id: 'sandbox',
      name: 'Sandbox',
      masked_key: null,
      workspace_id: elsewhere.workspaceId,
    });
    const providers = await gateway.get(`/v1/providers?workspace_id=${elsewhere.workspaceId}`, ask);
    expect(providers.body.data).toMatchObject([{ slug: 'sandbox', integration_id: 'sandbox', status: 'active' }]);
    expect((await gateway.get('/v1/providers/sandbox', { key: gateway.workspaceKey })).status).toBe(200);
  });

  test('a workspace is archived together with its integrations, once its providers are out of the way', async () => {
    const { id: workspaceId } = await addWorkspace(gateway, here.organisationId, 'Closing');
    const { slug } = await made({ name: 'Closing one', workspace_id: workspaceId });
    const remove = (force_delete: boolean) =>
      gateway.delete(`/v1/workspaces/${workspaceId}`, { name: 'Closing', force_delete });
    const blocked = await remove(false);
    expect(codeOf(blocked)).toBe('409 AB07');
    expect(blocked.body.data.message).toContain('providers (1)');
    expect((await remove(true)).status).toBe(200);
    expect(codeOf(await read(slug))).toBe('404 AB08');
    expect(codeOf(await create({ name: 'A', workspace_id: workspaceId }))).toBe('400 AB01');
  });
});
