/** Providers over HTTP, and what happens to them by themselves. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Json, onEachEngine, type TestGateway } from '../../../test/harness.ts';
import { addKey, addOrganisation, addPerson, addWorkspace, home, type Place, storeOf } from '../../../test/people.ts';

onEachEngine('providers', (start) => {
  let gateway: TestGateway;
  let here: Place;
  let other: { id: string; slug: string };

  beforeAll(async () => {
    gateway = await start();
    here = await home(gateway);
    other = await addWorkspace(gateway, here.organisationId, 'Other');
    for (const [name, slug] of [
      ['Shared', 'shared'],
      ['Withheld', 'withheld'],
    ]) {
      await gateway.post('/v1/integrations', {
        name,
        slug,
        ai_provider_id: 'openai',
        key: 'sk-upstream-0123456789',
        configurations: { openai_project: 'p', custom_headers: { 'x-a': 'headers-are-secret' } },
      });
    }
    await gateway.put('/v1/integrations/shared/workspaces', {
      create_default_provider: false,
      workspaces: [here.workspaceId, other.id].map((id) => ({ id, enabled: true })),
    });
  });
  afterAll(() => gateway.stopWithoutFaults());

  /** Everything here is asked with the key of the first workspace unless another is given. */
  const asked = (key?: string) => ({ key: key ?? gateway.workspaceKey });
  const create = (body: object, key?: string) =>
    gateway.post('/v1/providers', { integration_id: 'shared', ...body }, asked(key));
  const made = async (body: object, key?: string) => {
    const reply = await create(body, key);
    expect(reply.status).toBe(200);
    return reply.body as { id: string; slug: string };
  };
  const read = (reference: string, key?: string) => gateway.get(`/v1/providers/${reference}`, asked(key));
  const put = (reference: string, body: object, key?: string) =>
    gateway.put(`/v1/providers/${reference}`, body, asked(key));
  const codeOf = ({ status, body }: { status: number; body: Json }) => `${status} ${body.data?.errorCode ?? 'ok'}`;
  const spend = async (id: string, current_usage: number) => {
    const { db } = storeOf(gateway);
    const row = await db.selectFrom('providers').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
    const usage_limits = JSON.stringify({
      ...JSON.parse(row.usage_limits ?? '{}'),
      current_usage,
      status: 'exhausted',
    });
    await db.updateTable('providers').set({ usage_limits, status: 'exhausted' }).where('id', '=', id).execute();
  };

  test('a new one answers its id and slug, and reads back with what it has', async () => {
    const { id, slug } = await made({
      name: 'Anthropic for the docs team',
      note: 'For docs',
      usage_limits: { credit_limit: 10, periodic_reset_days: 7 },
      rate_limits: { type: 'requests', unit: 'rpm', value: 0 },
      tags: { team: 'docs' },
    });
    expect(slug).toMatch(/^anthropic-for-t-[0-9a-f]{6}$/);
    const record = {
      object: 'provider',
      id,
      slug,
      name: 'Anthropic for the docs team',
      integration_id: 'shared',
      ai_provider_name: 'openai',
      workspace_id: here.workspaceId,
      note: 'For docs',
      status: 'active',
      usage_limits: expect.objectContaining({ credit_limit: 10, periodic_reset_days: 7, current_usage: 0 }),
      rate_limits: [{ type: 'requests', unit: 'rpm', value: 0 }],
      reset_usage: 0,
      expires_at: null,
      model_config: { openai_project: 'p', masked_custom_headers: { 'x-a': 'he*******et' } },
      tags: { team: 'docs' },
      secret_mappings: [],
      last_reset_at: null,
      created_at: expect.any(String),
      last_updated_at: expect.any(String),
    };
    expect((await read(id)).body).toEqual(record);
    expect((await gateway.get(`/v2/providers/${slug}`, asked())).body).toEqual(record);
    expect((await gateway.get('/v1/providers', asked())).body.data[0]).toEqual(record);
  });

  test('a call of an admin key names the workspace', async () => {
    const key = gateway.adminKey;
    for (const reply of [
      await gateway.get('/v1/providers'),
      await create({ name: 'A' }, key),
      await read('sandbox', key),
      await put('sandbox', { name: 'A' }, key),
      await gateway.delete('/v1/providers/sandbox'),
    ]) {
      expect([codeOf(reply), reply.body.data.message]).toEqual(['400 AB01', expect.stringContaining('workspace_id')]);
    }
    const { slug } = await made({ name: 'By admin', slug: 'by-admin', workspace_id: other.slug }, key);
    const query = `workspace_id=${other.id}`;
    expect((await gateway.get(`/v1/providers/${slug}?${query}`)).body.workspace_id).toBe(other.id);
    expect((await gateway.put(`/v1/providers/${slug}?${query}`, { name: 'One' })).body).toMatchObject({ slug });
    expect((await put(slug, { name: 'Two', workspace_id: other.slug }, key)).status).toBe(200);
    expect((await gateway.get(`/v1/providers/${slug}?${query}`)).body.name).toBe('Two');
    const own = { workspace_id: here.workspaceId };
    expect(codeOf(await gateway.delete(`/v1/providers/${slug}`, own))).toBe('404 AB08');
    expect(codeOf(await gateway.delete(`/v1/providers/${slug}`, { workspace_id: other.id }, asked()))).toBe('403 AB03');
    expect((await gateway.delete(`/v1/providers/${slug}`, { workspace_id: other.slug })).body).toEqual({});
  });

  test('slugs are unique in a workspace, deleted ones included', async () => {
    const { slug } = await made({ name: 'A', slug: 'taken' });
    expect(codeOf(await create({ name: 'B', slug }))).toBe('409 AB07');
    await made({ name: 'C', slug, workspace_id: other.id }, gateway.adminKey);
    expect((await gateway.delete(`/v1/providers/${slug}`, undefined, asked())).status).toBe(200);
    expect(codeOf(await read(slug))).toBe('404 AB08');
    expect(codeOf(await create({ name: 'B', slug }))).toBe('409 AB07');
  });

  test('an integration must be there and enabled for the workspace', async () => {
    expect(codeOf(await create({ name: 'A', integration_id: 'withheld' }))).toBe('403 AB03');
    expect(codeOf(await create({ name: 'A', integration_id: 'no-such' }))).toBe('404 AB08');
    const own = { name: 'Own', slug: 'own', ai_provider_id: 'sandbox', workspace_id: other.id };
    await gateway.post('/v1/integrations', own);
    expect(codeOf(await create({ name: 'A', integration_id: 'own' }))).toBe('403 AB03');
    await made({ name: 'A', integration_id: 'own', workspace_id: other.id }, gateway.adminKey);
  });

  test('wrong fields are named', async () => {
    const limit = { credit_limit: 5 };
    const wrong: [object, string][] = [
      [{ name: undefined }, 'name'],
      [{ name: 'A', integration_id: undefined }, 'integration_id'],
      [{ name: 'A', slug: 'a b' }, 'slug'],
      [{ name: 'A', slug: Bun.randomUUIDv7() }, 'slug'],
      [{ name: 'x'.repeat(256) }, 'name'],
      [{ name: 'A', usage_limits: { credit_limit: 0 } }, 'usage_limits.credit_limit'],
      [{ name: 'A', usage_limits: { ...limit, extra: 1 } }, 'usage_limits.extra'],
      [{ name: 'A', usage_limits: { credit_limit: 'x' } }, 'usage_limits'],
      [{ name: 'A', usage_limits: { ...limit, alert_threshold: 6 } }, 'usage_limits.alert_threshold'],
      [
        { name: 'A', usage_limits: { ...limit, next_usage_reset_at: '2020-01-01T00:00:00Z' } },
        'usage_limits.next_usage_reset_at',
      ],
      [{ name: 'A', rate_limits: { type: 'requests', unit: 'rps', value: 1 } }, 'rate_limits'],
      [{ name: 'A', expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
      [{ name: 'A', tags: { a: 1 } }, 'tags.a'],
    ];
    for (const [body, path] of wrong) {
      const reply = await create(body);
      expect([codeOf(reply), reply.body.data.errors[0].path]).toEqual(['400 AB01', path]);
    }
    expect(codeOf(await put('sandbox', {}))).toBe('400 AB01');
  });

  test('an update changes what it names and clears what it sets to null', async () => {
    const { slug } = await made({ name: 'A', usage_limits: { credit_limit: 5 }, tags: { a: 'b' }, note: 'n' });
    const reply = await put(slug, { name: 'B', rate_limits: [{ type: 'tokens', unit: 'rpw', value: 9 }] });
    expect(reply.body).toEqual({ object: 'provider', id: expect.any(String), slug });
    expect((await read(slug)).body).toMatchObject({
      name: 'B',
      note: 'n',
      usage_limits: { credit_limit: 5 },
      rate_limits: [{ type: 'tokens', unit: 'rpw', value: 9 }],
    });
    await put(slug, { note: null, usage_limits: null, rate_limits: null, tags: null });
    await put(slug, { usage_limits: { credit_limit: 5 } });
    expect((await put(slug, { usage_limits: [], rate_limits: [] })).status).toBe(200);
    expect((await read(slug)).body).toMatchObject({ note: null, usage_limits: null, rate_limits: null, tags: null });
  });

  test('an exhausted one works again once its usage is reset or its limit raised', async () => {
    const { id, slug } = await made({ name: 'Spent', usage_limits: { credit_limit: 5 } });
    await spend(id, 5);
    await put(slug, { name: 'Still spent' });
    expect((await read(slug)).body.status).toBe('exhausted');
    await put(slug, { reset_usage: true });
    expect((await read(slug)).body).toMatchObject({
      status: 'active',
      usage_limits: { current_usage: 0, status: 'active' },
      last_reset_at: expect.any(String),
    });
    await spend(id, 5);
    await put(slug, { usage_limits: { credit_limit: 6 } });
    expect((await read(slug)).body).toMatchObject({ status: 'active', usage_limits: { current_usage: 5 } });
  });

  test('a list is filtered by tags and paged, newest first', async () => {
    for (const name of ['P1', 'P2', 'P3']) await made({ name, slug: name.toLowerCase(), tags: { paged: 'yes' } });
    const list = async (query: string) => (await gateway.get(`/v1/providers?${query}`, asked())).body;
    const tags = encodeURIComponent('{"paged":"yes"}');
    const page = await list(`tags=${tags}&page_size=2`);
    expect([page.total, page.data.map((row: Json) => row.slug)]).toEqual([3, ['p3', 'p2']]);
    expect((await list(`tags=${tags}&page_size=2&current_page=1`)).data.map((row: Json) => row.slug)).toEqual(['p1']);
    expect((await gateway.get('/v1/providers?tags=1', asked())).status).toBe(400);
  });

  test('those of other workspaces are refused, those of other tenants do not exist', async () => {
    const theirs = await made({ name: 'There', workspace_id: other.id }, gateway.adminKey);
    expect(codeOf(await read(theirs.id))).toBe('403 AB03');
    expect(codeOf(await read(theirs.slug))).toBe('404 AB08');
    expect(codeOf(await gateway.get(`/v1/providers?workspace_id=${other.id}`, asked()))).toBe('403 AB03');
    expect(codeOf(await create({ name: 'A', workspace_id: other.id }))).toBe('403 AB03');
    const elsewhere = await addOrganisation(gateway);
    const path = `/v1/providers/${theirs.id}?workspace_id=${elsewhere.workspaceId}`;
    expect(codeOf(await gateway.get(path, { key: elsewhere.adminKey }))).toBe('404 AB08');
    expect(codeOf(await gateway.get(`/v1/providers?workspace_id=${elsewhere.workspaceId}`))).toBe('404 AB08');
    expect(codeOf(await read(theirs.id, ''))).toBe('401 AB05');
  });

  test('the scopes of virtual keys open providers too; members look and do not touch', async () => {
    const { organisationId, workspaceId } = here;
    const legacy = await addKey(gateway, {
      organisationId,
      workspaceId,
      type: 'workspace-service',
      scopes: ['virtual_keys.list', 'virtual_keys.create'],
    });
    await made({ name: 'Legacy scope' }, legacy.secret);
    expect((await gateway.get('/v1/providers', { key: legacy.secret })).status).toBe(200);
    expect(codeOf(await read('sandbox', legacy.secret))).toBe('403 AB03');
    const member = await addPerson(gateway, organisationId, 'member', { workspaces: { [workspaceId]: 'member' } });
    const session = { key: '', headers: { authorization: `Bearer ${member.session}` } };
    expect((await gateway.get(`/v1/providers?workspace_id=${workspaceId}`, session)).status).toBe(200);
    const body = { name: 'A', integration_id: 'shared', workspace_id: workspaceId };
    expect(codeOf(await gateway.post('/v1/providers', body, session))).toBe('403 AB03');
  });

  test('windows of limits roll on and what is past its end expires, by themselves', async () => {
    const start = gateway.clock.now();
    const ends = new Date(start.getTime() + 2 * 86_400_000).toISOString();
    const ending = await made({ name: 'Ending', expires_at: ends });
    const limited = await made({ name: 'Daily', usage_limits: { credit_limit: 5, periodic_reset_days: 1 } });
    await spend(limited.id, 5);
    gateway.clock.advance({ days: 3 });
    expect((await read(ending.slug)).body.status).toBe('expired');
    await gateway.app.jobs.runOnce('provider-expiry');
    await gateway.app.jobs.runOnce('usage-reset');
    const { db } = storeOf(gateway);
    const row = await db.selectFrom('providers').selectAll().where('id', '=', ending.id).executeTakeFirstOrThrow();
    expect(row.status).toBe('expired');
    const events = await db.selectFrom('audit_logs').selectAll().where('resource_id', '=', ending.id).execute();
    expect(events.map((event) => `${event.resource_type}.${event.action}`)).toContain('provider.expire');
    expect((await read(limited.slug)).body).toMatchObject({ status: 'active', usage_limits: { current_usage: 0 } });
    await put(ending.slug, { expires_at: null });
    expect((await read(ending.slug)).body).toMatchObject({ status: 'active', expires_at: null });
  });
});
