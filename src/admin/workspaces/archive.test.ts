/** Archiving a workspace: what it needs, what stands in the way, and what ends with it. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { onEachEngine, type TestGateway } from '../../../test/harness.ts';
import { addKey, addOrganisation, addPerson, home, type Person, storeOf } from '../../../test/people.ts';
import { archiveWorkspace } from './archive.ts';

onEachEngine('archiving a workspace', (start) => {
  let gateway: TestGateway;
  let organisationId: string;
  let defaultWorkspaceId: string;
  let owner: Person;

  beforeAll(async () => {
    gateway = await start();
    ({ organisationId, workspaceId: defaultWorkspaceId, owner } = await home(gateway));
  });
  afterAll(() => gateway.stop());

  const create = async (name = 'Team') => (await gateway.post('/v1/workspaces', { name })).body;
  const remove = (id: string, body: unknown, key?: string) =>
    gateway.delete(`/v1/admin/workspaces/${id}`, body, key === undefined ? {} : { key });
  const statusOf = async (id: string) => (await gateway.get(`/v1/workspaces/${id}`)).body.status;

  test('needs the name, with the icon or without', async () => {
    const first = await create('👩‍💻 Builders\u00a0A');
    const second = await create('🚀 Rocket');
    for (const body of [undefined, {}, { name: 'Builders' }, { name: '👩‍💻' }]) {
      const reply = await remove(first.id, body);
      expect([reply.status, reply.body.data.errorCode]).toEqual([400, 'AB01']);
    }
    expect(await statusOf(first.id)).toBe('active');
    const reply = await remove(first.slug, { name: '👩‍💻 Builders\u00a0A' });
    expect([reply.status, reply.body]).toEqual([200, {}]);
    expect((await remove(second.id, { name: 'Rocket' })).status).toBe(200);
    expect(await statusOf(second.id)).toBe('archived');
  });

  test('cannot be undone: an archived workspace takes no change any more', async () => {
    const { id } = await create();
    await remove(id, { name: 'Team' });
    expect((await gateway.put(`/v1/workspaces/${id}`, { name: 'Back' })).status).toBe(409);
    expect((await remove(id, { name: 'Team' })).status).toBe(409);
    expect((await gateway.post(`/v1/workspaces/${id}/users`, { users: [{ id: owner.userId }] })).status).toBe(409);
    expect((await gateway.put(`/v1/workspaces/${id}/settings`, { request_logging: 'full' })).status).toBe(409);
  });

  test('is refused for the default workspace', async () => {
    const { name } = (await gateway.get(`/v1/workspaces/${defaultWorkspaceId}`)).body;
    const reply = await remove(defaultWorkspaceId, { name, force_delete: true });
    expect([reply.status, reply.body.data.errorCode]).toEqual([400, 'AB01']);
  });

  test('keys in it stand in the way unless they are removed with it', async () => {
    const { id } = await create();
    const person = await addPerson(gateway, organisationId, 'member', { workspaces: { [id]: 'manager' } });
    const key = await addKey(gateway, {
      organisationId,
      workspaceId: id,
      type: 'workspace-service',
      scopes: ['workspaces.read'],
    });
    const works = async () => (await gateway.get(`/v1/workspaces/${id}`, { key: key.secret })).status;
    const refused = await remove(id, { name: 'Team' });
    expect([refused.status, refused.body.data.errorCode]).toEqual([409, 'AB07']);
    expect(refused.body.data.message).toContain('keys');
    expect(await works()).toBe(200);

    expect((await remove(id, { name: 'Team', force_delete: true })).status).toBe(200);
    expect(await works()).toBe(401);
    expect((await gateway.get('/v1/workspaces', { key: person.session })).body.data).toEqual([]);
    const { db } = storeOf(gateway);
    const stored = await db.selectFrom('api_keys').select('status').where('id', '=', key.id).executeTakeFirst();
    expect(stored?.status).toBe('archived');
    const row = await db
      .selectFrom('audit_logs')
      .select('details')
      .where('resource_id', '=', id)
      .where('action', '=', 'delete')
      .where('response_status_code', '=', 200)
      .executeTakeFirstOrThrow();
    expect(JSON.parse(row.details ?? '{}')).toMatchObject({
      name: 'Team',
      force_delete: true,
      removed: { 'API keys': 1 },
    });
  });

  test('takes along what was asked for meanwhile, or lets it be refused', async () => {
    const { id } = await create();
    const { services } = gateway.app;
    const { store } = services;
    const row = await store.db.selectFrom('workspaces').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
    const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
    // Where there is one connection, the calls below have named the workspace and not begun when it is archived.
    const holding = store.atomically(() => held);
    const asked = ['/v1/api-keys/workspace/service', '/v1/configs', '/v1/integrations', '/v1/virtual-keys'].map(
      (path) =>
        gateway.post(path, {
          name: 'Late',
          workspace_id: id,
          scopes: ['workspaces.read'],
          config: { provider: 'openai', api_key: 'sk-late' },
          ai_provider_id: 'openai',
          provider: 'openai',
          key: 'sk-late',
        }),
    );
    await gateway.get('/v1/health');
    const archived = store.atomically((tx) => archiveWorkspace(tx, services, services.clock.now(), row, true));
    letGo();
    await Promise.all([holding, archived]);
    const answers = await Promise.all(asked);
    expect(answers.filter(({ status }) => status !== 200 && status !== 400)).toEqual([]);
    for (const table of ['api_keys', 'configs', 'integrations', 'providers'] as const) {
      const left = await store.db
        .selectFrom(table)
        .select('id')
        .where('workspace_id', '=', id)
        .where('status', '!=', 'archived')
        .execute();
      expect([table, left]).toEqual([table, []]);
    }
  });

  test('ends its policies, webhooks and exports, which stand in nobody’s way', async () => {
    const { id } = await create();
    const policy = await gateway.post('/v1/policies/usage-limits', {
      workspace_id: id,
      conditions: [{ key: 'workspace_id', value: id }],
      type: 'cost',
      credit_limit: 10,
    });
    const events = ['usage.exhausted'];
    const hook = await gateway.post('/v1/webhooks', { workspace_id: id, url: 'https://example.com/alerts', events });
    const made = await gateway.post('/v1/logs/exports', { workspace_id: id, filters: {}, requested_data: ['id'] });
    expect([policy.status, hook.status, made.status]).toEqual([200, 200, 200]);
    expect((await remove(id, { name: 'Team' })).status).toBe(200);
    const { db } = storeOf(gateway);
    const of = (table: 'policies' | 'alert_webhooks' | 'log_exports') =>
      db.selectFrom(table).select('status').where('workspace_id', '=', id).execute();
    expect(await of('policies')).toEqual([{ status: 'archived' }]);
    expect(await of('alert_webhooks')).toEqual([{ status: 'paused' }]);
    expect(await of('log_exports')).toEqual([]);
  });

  test('archives the memberships', async () => {
    const { id } = await create();
    await addPerson(gateway, organisationId, 'member', { workspaces: { [id]: 'admin' } });
    await remove(id, { name: 'Team' });
    expect((await gateway.get(`/v1/workspaces/${id}/users`)).body.total).toBe(0);
  });

  test('is open to those who run the organisation only', async () => {
    const { id } = await create();
    const admin = await addPerson(gateway, organisationId, 'member', { workspaces: { [id]: 'admin' } });
    const weak = await addKey(gateway, { organisationId, type: 'organisation-service', scopes: ['workspaces.update'] });
    for (const key of [admin.session, weak.secret, gateway.workspaceKey]) {
      expect((await remove(id, { name: 'Team' }, key)).status).toBe(403);
    }
    expect((await remove(id, { name: 'Team' }, '')).status).toBe(401);
    expect((await remove(id, { name: 'Team' }, owner.session)).status).toBe(200);
  });

  test('an unknown workspace and one of another tenant are 404', async () => {
    const elsewhere = await addOrganisation(gateway);
    expect((await remove('ws-nothing', { name: 'Team' })).status).toBe(404);
    expect((await remove(elsewhere.workspaceId, { name: 'Shared Team Workspace' })).status).toBe(404);
  });
});
