/** Handing integrations of the organisation to workspaces, over HTTP. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Json, onEachEngine, type TestGateway } from '../../../test/harness.ts';
import { addOrganisation, addWorkspace, home, type Place, storeOf } from '../../../test/people.ts';

onEachEngine('workspaces of an integration', (start) => {
  let gateway: TestGateway;
  let here: Place;
  let count = 0;

  beforeAll(async () => {
    gateway = await start();
    here = await home(gateway);
  });
  afterAll(() => gateway.stopWithoutFaults());

  const integration = async (body: object = {}) => {
    const name = `Shared ${count++}`;
    const reply = await gateway.post('/v1/integrations', { name, ai_provider_id: 'sandbox', ...body });
    expect(reply.status).toBe(200);
    return reply.body.slug as string;
  };
  const workspace = (name = 'Team') => addWorkspace(gateway, here.organisationId, name);
  const put = (slug: string, body: object, key?: string) =>
    gateway.put(`/v1/integrations/${slug}/workspaces`, body, key === undefined ? {} : { key });
  const set = async (slug: string, body: object) => {
    const reply = await put(slug, body);
    expect([reply.status, reply.body]).toEqual([200, {}]);
  };
  const list = async (slug: string) => (await gateway.get(`/v1/integrations/${slug}/workspaces`)).body;
  const grantOf = async (slug: string, workspaceSlug: string) =>
    (await list(slug)).workspaces.find((row: Json) => row.id === workspaceSlug);
  const providerSlugs = async (workspaceId: string) =>
    (await gateway.get(`/v1/providers?workspace_id=${workspaceId}`)).body.data.map((row: Json) => row.slug);

  test('an enabled workspace gets a provider and its limits', async () => {
    const slug = await integration();
    const team = await workspace();
    await set(slug, {
      workspaces: [
        {
          id: team.slug,
          enabled: true,
          usage_limits: [{ credit_limit: 10, periodic_reset: 'monthly' }],
          rate_limits: [{ type: 'requests', unit: 'rpm', value: 5 }],
        },
      ],
    });
    const { total, workspaces, global_workspace_access } = await list(slug);
    expect(total).toBe(1);
    expect(workspaces).toEqual([
      {
        id: team.slug,
        enabled: true,
        usage_limits: [expect.objectContaining({ type: 'cost', credit_limit: 10, current_usage: 0 })],
        rate_limits: [{ type: 'requests', unit: 'rpm', value: 5 }],
        status: 'active',
        last_reset_at: null,
      },
    ]);
    expect(global_workspace_access).toEqual({ enabled: false, usage_limits: [], rate_limits: [] });
    expect(await providerSlugs(team.id)).toEqual([slug]);
    expect((await gateway.get(`/v1/integrations/${slug}`)).body.workspace_count).toBe(1);
  });

  test('a provider is made only when a workspace is newly enabled and wants one', async () => {
    const slug = await integration();
    const [one, two, three] = [await workspace(), await workspace(), await workspace()];
    await set(slug, {
      create_default_provider: false,
      workspaces: [
        { id: one.id, enabled: true },
        { id: two.id, enabled: true, create_default_provider: true, default_provider_slug: 'own' },
        { id: three.id, enabled: false },
      ],
    });
    expect([await providerSlugs(one.id), await providerSlugs(two.id), await providerSlugs(three.id)]).toEqual([
      [],
      ['own'],
      [],
    ]);
    await set(slug, { workspaces: [{ id: one.id, enabled: true }] });
    expect(await providerSlugs(one.id)).toEqual([]);
    await set(slug, { workspaces: [{ id: two.id, enabled: false }] });
    await set(slug, { workspaces: [{ id: two.id, enabled: true }] });
    expect(await providerSlugs(two.id)).toEqual(['own']);
  });

  test('a slug that was asked for and is taken is refused, and nothing is changed', async () => {
    const [slug, second] = [await integration(), await integration()];
    const team = await workspace();
    await set(slug, { default_provider_slug: 'wanted', workspaces: [{ id: team.id, enabled: true }] });
    const reply = await put(second, { default_provider_slug: 'wanted', workspaces: [{ id: team.id, enabled: true }] });
    expect([reply.status, reply.body.data.errors[0].path]).toEqual([400, 'default_provider_slug']);
    expect((await list(second)).total).toBe(0);
  });

  test('limits that are left out stay, null removes them, and usage can be reset', async () => {
    const slug = await integration();
    const team = await workspace();
    await set(slug, { workspaces: [{ id: team.id, enabled: true, usage_limits: [{ credit_limit: 10 }] }] });
    const { db } = storeOf(gateway);
    const used = JSON.stringify({
      ...(await grantOf(slug, team.slug)).usage_limits[0],
      current_usage: 10,
      status: 'exhausted',
    });
    await db
      .updateTable('integration_workspaces')
      .set({ usage_limits: used, status: 'exhausted' })
      .where('workspace_id', '=', team.id)
      .execute();
    await set(slug, { workspaces: [{ id: team.id, enabled: true }] });
    expect(await grantOf(slug, team.slug)).toMatchObject({
      status: 'exhausted',
      usage_limits: [{ current_usage: 10 }],
    });
    await set(slug, { workspaces: [{ id: team.id, enabled: true, usage_limits: [{ credit_limit: 20 }] }] });
    expect(await grantOf(slug, team.slug)).toMatchObject({ status: 'active', usage_limits: [{ current_usage: 10 }] });
    await set(slug, { workspaces: [{ id: team.id, enabled: true, reset_usage: true }] });
    expect(await grantOf(slug, team.slug)).toMatchObject({
      usage_limits: [{ current_usage: 0, credit_limit: 20 }],
      last_reset_at: expect.any(String),
    });
    await set(slug, { workspaces: [{ id: team.id, enabled: true, usage_limits: null, rate_limits: [] }] });
    expect(await grantOf(slug, team.slug)).toMatchObject({ usage_limits: null, rate_limits: null });
  });

  test('an override replaces the list; an empty one takes the integration from everybody', async () => {
    const slug = await integration();
    const [one, two] = [await workspace(), await workspace()];
    const enabled = async () =>
      (await list(slug)).workspaces.filter((row: Json) => row.enabled).map((row: Json) => row.id);
    await set(slug, { workspaces: [one, two].map(({ id }) => ({ id, enabled: true })) });
    await set(slug, { workspaces: [{ id: two.id, enabled: true }], override_existing_workspace_access: true });
    expect(await enabled()).toEqual([two.slug]);
    expect((await put(slug, { workspaces: [] })).status).toBe(400);
    expect(await enabled()).toEqual([two.slug]);
    await set(slug, { workspaces: [], override_existing_workspaces_access: true });
    expect(await enabled()).toEqual([]);
    expect(await providerSlugs(two.id)).toContain(slug);
  });

  test('global limits replace those of single workspaces when they override', async () => {
    const slug = await integration();
    const team = await workspace();
    await set(slug, { workspaces: [{ id: team.id, enabled: true, usage_limits: [{ credit_limit: 10 }] }] });
    const global_workspace_access = { enabled: true, usage_limits: [{ credit_limit: 3 }] };
    await set(slug, { global_workspace_access });
    expect((await grantOf(slug, team.slug)).usage_limits[0].credit_limit).toBe(10);
    await set(slug, { global_workspace_access, override_existing_workspace_access: true });
    expect(await grantOf(slug, team.slug)).toMatchObject({ enabled: true, usage_limits: [{ credit_limit: 3 }] });
    await set(slug, { global_workspace_access: { enabled: false } });
  });

  test('new workspaces get what is open to all of them, with its limits and a provider', async () => {
    const [slug, plain] = [await integration(), await integration()];
    await set(slug, {
      global_workspace_access: {
        enabled: true,
        usage_limits: [{ credit_limit: 7, periodic_reset: 'weekly' }],
        rate_limits: [{ type: 'tokens', unit: 'rpd', value: 100 }],
      },
      default_provider_slug: 'for-all',
    });
    await set(plain, {
      global_workspace_access: { enabled: true },
      create_default_provider: true,
      default_provider_slug: 'for-all',
    });
    expect((await gateway.get(`/v1/integrations/${slug}`)).body.global_workspace_access_settings).toEqual({
      enabled: true,
      usage_limits: [
        {
          type: 'cost',
          credit_limit: 7,
          alert_threshold: null,
          periodic_reset: 'weekly',
          periodic_reset_days: null,
          next_usage_reset_at: null,
        },
      ],
      rate_limits: [{ type: 'tokens', unit: 'rpd', value: 100 }],
    });
    const { body: made } = await gateway.post('/v1/workspaces', { name: 'Newcomer' });
    expect(await grantOf(slug, made.slug)).toMatchObject({
      enabled: true,
      usage_limits: [{ credit_limit: 7, current_usage: 0, next_usage_reset_at: expect.any(String) }],
      rate_limits: [{ type: 'tokens', unit: 'rpd', value: 100 }],
    });
    const slugs = await providerSlugs(made.id);
    expect(slugs).toContain('for-all');
    expect(slugs.filter((name: string) => /^for-all-[0-9a-f]{6}$/.test(name))).toHaveLength(1);
    await set(slug, { global_workspace_access: { enabled: false } });
    await set(plain, { global_workspace_access: { enabled: false } });
    const { body: later } = await gateway.post('/v1/workspaces', { name: 'Too late' });
    expect(await providerSlugs(later.id)).toEqual(['sandbox']);
  });

  test('wrong input is refused and named', async () => {
    const slug = await integration();
    const team = await workspace();
    const item = { id: team.id, enabled: true };
    const limit = { credit_limit: 5 };
    const wrong: [object, string][] = [
      [{}, 'workspaces'],
      [{ workspaces: [{ id: team.id }] }, 'workspaces.0.enabled'],
      [{ workspaces: [item, { ...item, id: team.slug }] }, 'workspaces.1.id'],
      [{ workspaces: [{ ...item, usage_limits: [limit, limit] }] }, 'workspaces.0.usage_limits'],
      [
        { workspaces: [{ ...item, usage_limits: [{ ...limit, periodic_reset: 'weekly', periodic_reset_days: 3 }] }] },
        'workspaces.0.usage_limits.0.periodic_reset_days',
      ],
      [
        { workspaces: [{ ...item, usage_limits: [{ ...limit, next_usage_reset_at: '2020-01-01T00:00:00Z' }] }] },
        'workspaces.0.usage_limits.0.next_usage_reset_at',
      ],
      [{ workspaces: [{ ...item, usage_limits: [{ ...limit, extra: 1 }] }] }, 'workspaces.0.usage_limits.0.extra'],
      [{ global_workspace_access: {} }, 'global_workspace_access.enabled'],
    ];
    for (const [body, path] of wrong) {
      const { status, body: answer } = await put(slug, body);
      expect([status, answer.data.errors[0].path]).toEqual([400, path]);
    }
    expect((await list(slug)).total).toBe(0);
  });

  test('only integrations of the organisation are handed out, to its own workspaces, by those who run it', async () => {
    const slug = await integration();
    const team = await workspace();
    const elsewhere = await addOrganisation(gateway);
    const body = { workspaces: [{ id: team.id, enabled: true }] };
    expect((await put('sandbox', body)).status).toBe(400);
    expect((await put('no-such', body)).status).toBe(404);
    expect((await put(slug, body, elsewhere.adminKey)).status).toBe(404);
    expect((await put(slug, body, gateway.workspaceKey)).status).toBe(403);
    expect((await put(slug, { workspaces: [{ id: elsewhere.workspaceId, enabled: true }] })).status).toBe(404);
    expect((await gateway.get('/v1/integrations/sandbox/workspaces')).status).toBe(400);
    expect((await gateway.get(`/v1/integrations/${slug}/workspaces`, { key: elsewhere.adminKey })).status).toBe(404);
    expect((await list(slug)).total).toBe(0);
  });

  test('a workspace that was handed an integration sees it in its list', async () => {
    const slug = await integration();
    const seen = async () =>
      (await gateway.get('/v1/integrations?type=organisation', { key: gateway.workspaceKey })).body.data.map(
        (row: Json) => row.slug,
      );
    expect(await seen()).not.toContain(slug);
    await set(slug, { workspaces: [{ id: here.workspaceId, enabled: true }] });
    expect(await seen()).toContain(slug);
    await set(slug, { workspaces: [{ id: here.workspaceId, enabled: false }] });
    expect(await seen()).not.toContain(slug);
  });
});
