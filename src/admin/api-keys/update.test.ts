/** Reading, changing and deleting a key: who reaches it, what may change, and what follows at once. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { onEachEngine, type TestGateway } from '../../../test/harness.ts';
import {
  addConfig,
  addKey,
  addOrganisation,
  addTeam,
  addWorkspace,
  type Home,
  home,
  type Person,
} from '../../../test/people.ts';
import { grantableTo, type Scope } from '../../identity/scopes.ts';
import type { StoredUsageLimit } from '../../limits/entries.ts';
import { encode } from '../../store/json.ts';

const write: Scope[] = ['completions.write'];

onEachEngine('changing API keys', (start) => {
  let gateway: TestGateway;
  let place: Home;
  let other: { id: string; slug: string };
  let manager: Person;
  let member: Person;

  beforeAll(async () => {
    gateway = await start();
    place = await home(gateway);
    other = await addWorkspace(gateway, place.organisationId, 'Other');
    ({ manager, member } = await addTeam(gateway, place));
  });
  afterAll(() => gateway.stopWithoutFaults());

  const settings = async (values: object) => {
    expect((await gateway.put('/v1/admin/organisation/settings', values)).status).toBe(200);
  };
  const service = (scopes: readonly Scope[] = write, workspaceId = place.workspaceId) =>
    addKey(gateway, { organisationId: place.organisationId, workspaceId, type: 'workspace-service', scopes });
  const admin = (scopes: readonly Scope[] = grantableTo('A')) =>
    addKey(gateway, { organisationId: place.organisationId, type: 'organisation-service', scopes });
  const userKey = (person: Person) =>
    addKey(gateway, { ...place, type: 'workspace-user', userId: person.userId, scopes: write });
  const put = (id: string, body: unknown, key = gateway.adminKey) => gateway.put(`/v1/api-keys/${id}`, body, { key });
  const used = async (id: string, usage: number) => {
    const { db } = gateway.app.services.store;
    const limits: StoredUsageLimit = (await gateway.get(`/v1/api-keys/${id}`)).body.usage_limits;
    const status = usage >= limits.credit_limit ? 'exhausted' : 'active';
    const usage_limits = encode({ ...limits, current_usage: usage, status, is_threshold_alerts_sent: true } as const);
    await db.updateTable('api_keys').set({ usage_limits, status }).where('id', '=', id).execute();
  };

  describe('who reaches a key', () => {
    test('a key that does not exist, and one of another tenant, is 404 for everyone', async () => {
      const stranger = await addOrganisation(gateway);
      const { id } = await service();
      for (const [target, key] of [
        [Bun.randomUUIDv7(), gateway.adminKey],
        [Bun.randomUUIDv7(), gateway.workspaceKey],
        [id, stranger.adminKey],
      ] as const) {
        for (const method of ['GET', 'PUT', 'DELETE']) {
          const reply = await gateway.ask(method, `/v1/api-keys/${target}`, {
            key,
            body: method === 'PUT' ? { name: 'x' } : undefined,
          });
          expect([reply.status, reply.body.data.errorCode]).toEqual([404, 'AB08']);
        }
        expect((await gateway.post(`/v1/api-keys/${target}/rotate`, {}, { key })).status).toBe(404);
      }
      expect((await gateway.get('/v1/api-keys/no-uuid')).body.data.errorCode).toBe('AB02');
    });

    test('a workspace key stays in its workspace and below the organisation', async () => {
      const elsewhere = await service(write, other.id);
      const above = await admin();
      for (const { id } of [elsewhere, above]) {
        const reply = await gateway.get(`/v1/api-keys/${id}`, { key: gateway.workspaceKey });
        expect([reply.status, reply.body.data.errorCode]).toEqual([403, 'AB03']);
        expect((await put(id, { name: 'x' }, gateway.workspaceKey)).status).toBe(403);
        expect((await gateway.delete(`/v1/api-keys/${id}`, undefined, { key: gateway.workspaceKey })).status).toBe(403);
        expect((await gateway.post(`/v1/api-keys/${id}/rotate`, {}, { key: gateway.workspaceKey })).status).toBe(403);
      }
      const { id } = await service();
      expect((await gateway.get(`/v1/api-keys/${id}`, { key: gateway.workspaceKey })).status).toBe(200);
    });

    test('the scope of the right family is needed', async () => {
      const { secret } = await admin(['workspace_service_api_keys.read', 'workspace_service_api_keys.update']);
      const { id } = await service();
      const mine = await userKey(member);
      expect((await gateway.get(`/v1/api-keys/${id}`, { key: secret })).status).toBe(200);
      expect((await put(id, { name: 'Renamed' }, secret)).status).toBe(200);
      expect((await gateway.get(`/v1/api-keys/${mine.id}`, { key: secret })).status).toBe(403);
      expect((await gateway.delete(`/v1/api-keys/${id}`, undefined, { key: secret })).status).toBe(403);
    });

    test('managers reach every key of the workspace, members their own user keys when allowed to write', async () => {
      const own = await userKey(member);
      const foreign = await userKey(manager);
      const shared = await service();
      for (const { id } of [own, foreign, shared])
        expect((await put(id, { name: 'By manager' }, manager.session)).status).toBe(200);
      expect((await put(own.id, { name: 'x' }, member.session)).status).toBe(403);
      expect((await gateway.get(`/v1/api-keys/${own.id}`, { key: member.session })).status).toBe(200);
      expect((await gateway.get(`/v1/api-keys/${foreign.id}`, { key: member.session })).status).toBe(403);
      expect((await gateway.get(`/v1/api-keys/${shared.id}`, { key: member.session })).status).toBe(403);
      await settings({ security_settings: { membersWriteApiKeys: true } });
      expect((await put(own.id, { name: 'Mine' }, member.session)).body.name).toBe('Mine');
      expect((await put(foreign.id, { name: 'x' }, member.session)).status).toBe(403);
      expect((await gateway.delete(`/v1/api-keys/${foreign.id}`, undefined, { key: member.session })).status).toBe(403);
      await settings({ security_settings: { membersWriteApiKeys: false } });
    });

    test('a user key reaches none, not even itself', async () => {
      const { id, secret } = await userKey(manager);
      expect((await gateway.get(`/v1/api-keys/${id}`, { key: secret })).status).toBe(403);
      expect((await gateway.get(`/v1/api-keys/${id}`, { key: '' })).status).toBe(401);
    });
  });

  describe('what may change', () => {
    test('only the fields sent; null clears; the reply is the record', async () => {
      const { id } = await service();
      const first = await put(id, {
        description: 'About',
        rate_limits: [{ type: 'tokens', unit: 'rpm', value: 5 }],
        alert_emails: ['a@example.com'],
        defaults: { metadata: { a: '1' } },
        allow_config_override: 0,
      });
      expect(first.status).toBe(200);
      expect(first.body).toMatchObject({ name: 'A key', description: 'About', allow_config_override: 0 });
      const second = await put(id, {
        description: null,
        rate_limits: null,
        alert_emails: null,
        defaults: { allow_config_override: true },
      });
      expect(second.body).toMatchObject({
        description: null,
        rate_limits: [],
        alert_emails: [],
        defaults: { metadata: { a: '1' }, allow_config_override: true },
        allow_config_override: 1,
      });
      expect((await gateway.get(`/v1/api-keys/${id}`)).body).toEqual(second.body);
    });

    test('a record read can be sent back', async () => {
      const { id } = await service();
      await put(id, {
        usage_limits: { credit_limit: 5, periodic_reset_days: 3 },
        rotation_policy: { rotation_period: 'weekly' },
      });
      const { body: record } = await gateway.get(`/v1/api-keys/${id}`);
      const { status, body } = await put(id, record);
      expect(status).toBe(200);
      const { last_updated_at: _before, ...same } = { ...record, allow_config_override: 1 };
      expect(body).toMatchObject(same);
    });

    test('nothing that is known, or a wrong value, is refused', async () => {
      const { id } = await service();
      for (const body of [
        {},
        { colour: 'red' },
        { type: 'workspace-service' },
        { name: '' },
        { scopes: [] },
        { scopes: ['moon.land'] },
        { scopes: ['workspaces.create'] },
        { expires_at: '2020-01-01T00:00:00Z' },
        { rotation_policy: {} },
        { defaults: { config_id: 'pc-none' } },
        { reset_usage: 'yes' },
      ]) {
        const { status, body: reply } = await put(id, body);
        expect([status, reply.data.errorCode]).toEqual([400, 'AB01']);
      }
      expect((await gateway.put(`/v1/api-keys/${id}`)).status).toBe(400);
    });

    test('type, workspace and user may be repeated and never changed', async () => {
      const { id } = await userKey(member);
      const same = { type: 'workspace-user', workspace_id: place.workspaceId, user_id: member.userId, name: 'Same' };
      expect((await put(id, same)).status).toBe(200);
      expect((await put(id, { ...same, type: 'workspace' })).status).toBe(200);
      expect((await put(id, { name: 'x', type: 'workspace-service' })).status).toBe(400);
      expect((await put(id, { name: 'x', workspace_id: other.slug })).status).toBe(400);
      expect((await put(id, { name: 'x', user_id: manager.userId })).status).toBe(400);
      const above = await admin();
      expect((await put(above.id, { name: 'x', workspace_id: null, user_id: null })).status).toBe(200);
      expect((await put(above.id, { name: 'x', workspace_id: other.id })).status).toBe(400);
    });

    test('people add only scopes that they hold, and may leave those that are there', async () => {
      const { id } = await service(['completions.write', 'prompts.create']);
      await settings({ security_settings: { managersWritePrompts: false } });
      const kept = await put(id, { scopes: ['prompts.create', 'logs.write'] }, manager.session);
      expect(kept.body.scopes).toEqual(['prompts.create', 'logs.write']);
      expect((await put(id, { scopes: ['prompts.delete'] }, manager.session)).status).toBe(403);
      await settings({ security_settings: { managersWritePrompts: true } });
      const { db } = gateway.app.services.store;
      const row = await db
        .selectFrom('audit_logs')
        .select('details')
        .where('resource_id', '=', id)
        .where('response_status_code', '=', 200)
        .executeTakeFirstOrThrow();
      expect(JSON.parse(row.details ?? '')).toEqual({
        type: 'workspace-service',
        changed: ['scopes'],
        scopes_added: ['logs.write'],
        scopes_removed: ['completions.write'],
      });
    });

    test('a narrowed key is narrowed on its next request', async () => {
      const { id, secret } = await service(grantableTo('S'));
      expect((await gateway.get('/v1/api-keys', { key: secret })).status).toBe(200);
      await put(id, { scopes: ['completions.write'] });
      expect((await gateway.get('/v1/api-keys', { key: secret })).status).toBe(403);
    });

    test('the metadata schema is checked on every update, and its defaults are written', async () => {
      const { id } = await service();
      const properties = { team: { type: 'string' }, stage: { type: 'string', default: 'dev' } };
      const schema = { type: 'object', additionalProperties: true, properties, required: ['team'] };
      await gateway.put('/v1/admin/organisation/properties', { api_key_metadata_schema: schema });
      expect((await put(id, { name: 'x' })).status).toBe(400);
      const { body } = await put(id, { defaults: { metadata: { team: 'a' } } });
      expect(body.defaults.metadata).toEqual({ team: 'a', stage: 'dev' });
      expect((await put(id, { name: 'y' })).status).toBe(200);
      expect((await put(id, { defaults: { metadata: null } })).status).toBe(400);
      await gateway.put('/v1/admin/organisation/properties', { api_key_metadata_schema: null });
    });

    test('a pinned config is unpinned with null', async () => {
      const config = await addConfig(gateway, place.workspaceId);
      const { id } = await service();
      expect((await put(id, { defaults: { config_id: config.slug } })).body.defaults).toMatchObject({
        config_id: config.id,
        config_slug: config.slug,
      });
      expect((await put(id, { defaults: { config_id: null } })).body.defaults).toMatchObject({
        config_id: null,
        config_slug: null,
      });
    });
  });

  describe('limits', () => {
    test('raising the limit of an exhausted key brings it back, lowering it exhausts it', async () => {
      const { id } = await service();
      await put(id, { usage_limits: { credit_limit: 10 } });
      await used(id, 10);
      expect((await gateway.get(`/v1/api-keys/${id}`)).body.status).toBe('exhausted');
      expect((await put(id, { name: 'Still' })).body.status).toBe('exhausted');
      const raised = (await put(id, { usage_limits: { credit_limit: 20 } })).body;
      expect(raised.status).toBe('active');
      expect(raised.usage_limits).toMatchObject({
        current_usage: 10,
        status: 'active',
        is_threshold_alerts_sent: false,
      });
      expect((await put(id, { usage_limits: { credit_limit: 5 } })).body.status).toBe('exhausted');
      for (const none of [null, []]) {
        await put(id, { usage_limits: { credit_limit: 5 } });
        expect((await put(id, { usage_limits: none })).body).toMatchObject({ status: 'active', usage_limits: null });
      }
    });

    test('reset_usage starts anew and is not stored', async () => {
      const { id } = await service();
      await put(id, { usage_limits: { credit_limit: 10 } });
      await used(id, 12);
      const { body } = await put(id, { reset_usage: true });
      expect(body).toMatchObject({
        status: 'active',
        reset_usage: 0,
        usage_limits: { current_usage: 0, status: 'active' },
      });
      expect(body.last_reset_at).not.toBeNull();
    });
  });

  describe('expiry', () => {
    test('an expired key works again once its expiry is moved ahead', async () => {
      const { id, secret } = await service(grantableTo('S'));
      const ahead = (hours: number) => new Date(gateway.clock.now().getTime() + hours * 3_600_000).toISOString();
      await put(id, { expires_at: ahead(1) });
      expect((await gateway.get('/v1/api-keys', { key: secret })).status).toBe(200);
      gateway.clock.advance({ hours: 2 });
      expect((await gateway.get('/v1/api-keys', { key: secret })).status).toBe(401);
      await gateway.app.jobs.runOnce('key-expiry');
      expect((await put(id, { name: 'Still expired' })).body.status).toBe('expired');
      expect((await put(id, { expires_at: ahead(1) })).body.status).toBe('active');
      expect((await gateway.get('/v1/api-keys', { key: secret })).status).toBe(200);
      expect((await put(id, { expires_at: null })).body.expires_at).toBeNull();
    });

    test('max_ttl bounds user keys on update too', async () => {
      const { id } = await userKey(member);
      await settings({ user_api_key_ttl: { max_ttl: 3600 } });
      expect((await put(id, { expires_at: null })).status).toBe(400);
      expect((await put(id, { expires_at: '2100-01-01T00:00:00Z' })).status).toBe(400);
      expect((await put(id, { name: 'Other fields may change' })).status).toBe(200);
      await settings({ user_api_key_ttl: null });
    });
  });

  describe('rotation policy', () => {
    test('is set, kept and removed', async () => {
      const { id } = await service();
      const set = await put(id, { rotation_policy: { rotation_period_days: 5 } });
      expect(set.body.rotation_policy).toMatchObject({ rotation_period_days: 5, status: 'ACTIVE' });
      expect((await put(id, { name: 'x' })).body.rotation_policy).toEqual(set.body.rotation_policy);
      expect((await put(id, { rotation_policy: null })).body.rotation_policy).toBeNull();
    });

    test('an enforced period may not be changed, retimed or removed', async () => {
      const { id } = await userKey(member);
      await settings({ user_api_key_rotation_period: 30 });
      expect((await put(id, { rotation_policy: { rotation_period: 'weekly' } })).status).toBe(400);
      expect((await put(id, { rotation_policy: { next_rotation_at: '2100-01-01T00:00:00Z' } })).status).toBe(400);
      expect((await put(id, { rotation_policy: null })).status).toBe(400);
      const { body } = await put(id, { rotation_policy: { key_transition_period_ms: 7_200_000 } });
      expect(body.rotation_policy).toMatchObject({ rotation_period_days: 30, key_transition_period_ms: 7_200_000 });
      await settings({ user_api_key_rotation_period: null });
      expect((await gateway.get(`/v1/api-keys/${id}`)).body.rotation_policy).toMatchObject({
        rotation_period_days: 30,
      });
    });
  });

  describe('deleting', () => {
    test('a deleted key is refused on its next request and is gone from every route', async () => {
      const { id, secret } = await service(grantableTo('S'));
      expect((await gateway.get('/v1/api-keys', { key: secret })).status).toBe(200);
      const deleted = await gateway.delete(`/v2/api-keys/${id}`);
      expect([deleted.status, deleted.body]).toEqual([200, {}]);
      const refused = await gateway.get('/v1/api-keys', { key: secret });
      expect([refused.status, refused.body.data.errorCode]).toEqual([401, 'AB05']);
      expect((await gateway.get(`/v1/api-keys/${id}`)).status).toBe(404);
      expect((await put(id, { name: 'x' })).status).toBe(404);
      expect((await gateway.delete(`/v1/api-keys/${id}`)).status).toBe(404);
      expect((await gateway.post(`/v1/api-keys/${id}/rotate`)).status).toBe(400);
    });

    test('both secrets of a key in transition die with it', async () => {
      const { id, secret } = await service(grantableTo('S'));
      const { body } = await gateway.post(`/v1/api-keys/${id}/rotate`);
      for (const key of [secret, body.key]) expect((await gateway.get('/v1/api-keys', { key })).status).toBe(200);
      await gateway.delete(`/v1/api-keys/${id}`);
      for (const key of [secret, body.key]) expect((await gateway.get('/v1/api-keys', { key })).status).toBe(401);
    });
  });

  test('the keys of a workspace stand in the way of its removal until they are deleted or it is forced', async () => {
    const doomed = await addWorkspace(gateway, place.organisationId, 'Doomed');
    const { secret } = await service(grantableTo('S'), doomed.id);
    expect((await gateway.get('/v1/api-keys', { key: secret })).status).toBe(200);
    const refused = await gateway.delete(`/v1/admin/workspaces/${doomed.id}`, { name: 'Doomed' });
    expect(refused.status).toBe(409);
    expect(refused.body.data.message).toContain('API keys');
    const forced = await gateway.delete(`/v1/admin/workspaces/${doomed.id}`, { name: 'Doomed', force_delete: true });
    expect(forced.status).toBe(200);
    expect((await gateway.get('/v1/api-keys', { key: secret })).status).toBe(401);
  });
});
