/** Making keys: who may make which, for whom, with what; and what the answer and the trail show. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { onEachEngine, type TestGateway } from '../../../test/harness.ts';
import {
  addConfig,
  addKey,
  addOrganisation,
  addPerson,
  addWorkspace,
  archiveWorkspace,
  type Home,
  home,
  type Person,
} from '../../../test/people.ts';
import { grantableTo, type Scope } from '../../identity/scopes.ts';

const adminPath = '/v1/api-keys/organisation/service';
const servicePath = '/v1/api-keys/workspace/service';
const userPath = '/v1/api-keys/workspace/user';
const write: Scope[] = ['completions.write'];

onEachEngine('creating API keys', (start) => {
  let gateway: TestGateway;
  let place: Home;
  let other: { id: string; slug: string };
  let workspaceAdmin: Person;
  let manager: Person;
  let member: Person;

  beforeAll(async () => {
    gateway = await start();
    place = await home(gateway);
    const { organisationId, workspaceId } = place;
    other = await addWorkspace(gateway, organisationId, 'Other');
    workspaceAdmin = await addPerson(gateway, organisationId, 'member', { workspaces: { [workspaceId]: 'admin' } });
    manager = await addPerson(gateway, organisationId, 'member', { workspaces: { [workspaceId]: 'manager' } });
    member = await addPerson(gateway, organisationId, 'member', { workspaces: { [workspaceId]: 'member' } });
  });
  afterAll(() => gateway.stopWithoutFaults());

  const settings = async (values: object) => {
    expect((await gateway.put('/v1/admin/organisation/settings', values)).status).toBe(200);
  };
  const service = (more: object = {}, key = gateway.adminKey) =>
    gateway.post(servicePath, { name: 'Service', scopes: write, workspace_id: place.workspaceId, ...more }, { key });
  const user = (more: object = {}, key = gateway.adminKey) =>
    gateway.post(
      userPath,
      { name: 'User', scopes: write, workspace_id: place.workspaceId, user_id: member.userId, ...more },
      { key },
    );
  const read = async (id: string) => (await gateway.get(`/v1/api-keys/${id}`)).body;

  describe('the three types', () => {
    test('an admin key manages the organisation as soon as it is made', async () => {
      const made = await gateway.post(adminPath, {
        name: ' Ops ',
        scopes: ['audit_logs.list', 'organisation-service-api-keys:read', 'audit_logs.list'],
        workspace_id: 'ignored',
        type: 'organisation',
        'sub-type': 'service',
      });
      expect(made.status).toBe(200);
      expect(made.body).toEqual({ object: 'api-key', id: expect.any(String), key: expect.any(String) });
      expect(made.body.key).not.toContain('.');
      expect(await read(made.body.id)).toMatchObject({
        object: 'api-key',
        name: 'Ops',
        type: 'organisation-service',
        workspace_id: null,
        workspace_slug: null,
        user_id: null,
        status: 'active',
        creation_mode: 'api',
        scopes: ['audit_logs.list', 'organisation_service_api_keys.read'],
        rate_limits: [],
        usage_limits: null,
        reset_usage: 0,
        defaults: { metadata: {}, config_id: null, config_slug: null, allow_config_override: true },
        allow_config_override: null,
        alert_emails: [],
        expires_at: null,
        rotation_policy: null,
        key_transition_expires_at: null,
      });
      expect((await gateway.get(`/v1/api-keys/${made.body.id}`, { key: made.body.key })).status).toBe(200);
    });

    test('a workspace key may be made by slug and carries every field', async () => {
      const expires = new Date(gateway.clock.now().getTime() + 86_400_000).toISOString();
      const made = await service({
        workspace_id: other.slug,
        description: 'For the batch job',
        rate_limits: [{ type: 'requests', unit: 'rpw', value: 0 }],
        usage_limits: { credit_limit: 10.5, alert_threshold: 5, periodic_reset: 'weekly' },
        defaults: { metadata: { team: 'a' }, allow_config_override: false },
        alert_emails: ['Ops@Example.com', 'ops@example.com'],
        expires_at: expires,
        rotation_policy: { rotation_period: 'monthly', key_transition_period_ms: 3_600_000 },
      });
      expect(made.status).toBe(200);
      const record = await read(made.body.id);
      expect(record).toMatchObject({
        type: 'workspace-service',
        workspace_id: other.id,
        workspace_slug: other.slug,
        description: 'For the batch job',
        rate_limits: [{ type: 'requests', unit: 'rpw', value: 0 }],
        usage_limits: { type: 'cost', credit_limit: 10.5, current_usage: 0, status: 'active' },
        defaults: { metadata: { team: 'a' }, allow_config_override: false },
        allow_config_override: 0,
        alert_emails: ['ops@example.com'],
        expires_at: expires,
        rotation_policy: { rotation_period: 'monthly', key_transition_period_ms: 3_600_000, status: 'ACTIVE' },
      });
      expect(record.key).toBe(`${made.body.key.slice(0, 2)}*******${made.body.key.slice(-2)}`);
      expect(new Date(record.usage_limits.next_usage_reset_at).getUTCDay()).toBe(0);
    });

    test('a user key belongs to the person named', async () => {
      const made = await user();
      expect(made.status).toBe(200);
      expect(await read(made.body.id)).toMatchObject({ type: 'workspace-user', user_id: member.userId });
    });

    test('an organisation user key does not exist', async () => {
      const refused = await gateway.post('/v1/api-keys/organisation/user', { name: 'x', scopes: write });
      expect(refused.status).toBe(400);
      expect(refused.body.data.message).toContain('/api-keys/workspace/user');
    });

    test('the underscore spelling and /v2 are the same routes', async () => {
      const body = { name: 'Alias', scopes: write, workspace_id: place.workspaceId };
      expect((await gateway.post('/v1/api_keys/workspace/service', body)).status).toBe(200);
      expect((await gateway.post('/v2/api-keys/workspace/service', body)).status).toBe(200);
    });

    test('the trail shows type and scopes, never the secret', async () => {
      const made = await service({ name: 'Trailed' });
      const { db } = gateway.app.services.store;
      const row = await db
        .selectFrom('audit_logs')
        .selectAll()
        .where('resource_id', '=', made.body.id)
        .executeTakeFirstOrThrow();
      expect(row).toMatchObject({ resource_type: 'api_key', action: 'create', workspace_id: place.workspaceId });
      expect(JSON.parse(row.details ?? '')).toEqual({
        type: 'workspace-service',
        scopes_added: write,
        creation_mode: 'api',
      });
      expect(JSON.stringify(row)).not.toContain(made.body.key);
    });
  });

  describe('who may make keys', () => {
    test('owners make every type, workspace admins and managers those of their workspace', async () => {
      expect(
        (await gateway.post(adminPath, { name: 'x', scopes: ['audit_logs.list'] }, { key: place.owner.session }))
          .status,
      ).toBe(200);
      for (const person of [place.owner, workspaceAdmin, manager]) {
        const made = await service({}, person.session);
        expect(made.status).toBe(200);
        expect(await read(made.body.id)).toMatchObject({ creation_mode: 'ui', created_by: person.userId });
        expect((await user({}, person.session)).status).toBe(200);
      }
      for (const person of [workspaceAdmin, manager, member]) {
        const refused = await gateway.post(
          adminPath,
          { name: 'x', scopes: ['audit_logs.list'] },
          { key: person.session },
        );
        expect([refused.status, refused.body.data.errorCode]).toEqual([403, 'AB03']);
      }
      expect((await service({ workspace_id: other.id }, manager.session)).status).toBe(403);
      expect((await service({}, member.session)).status).toBe(403);
    });

    test('a workspace key makes keys of its own workspace only', async () => {
      const made = await service({ workspace_id: undefined }, gateway.workspaceKey);
      expect(made.status).toBe(200);
      expect(await read(made.body.id)).toMatchObject({ workspace_id: place.workspaceId });
      const elsewhere = await service({ workspace_id: other.id }, gateway.workspaceKey);
      expect([elsewhere.status, elsewhere.body.data.errorCode]).toEqual([403, 'AB03']);
      expect(
        (await gateway.post(adminPath, { name: 'x', scopes: ['audit_logs.list'] }, { key: gateway.workspaceKey }))
          .status,
      ).toBe(403);
    });

    test('a user key makes none, and no credential none either', async () => {
      const { secret } = await addKey(gateway, {
        ...place,
        type: 'workspace-user',
        userId: workspaceAdmin.userId,
        scopes: grantableTo('U'),
      });
      for (const path of [adminPath, servicePath, userPath]) {
        const body = { name: 'x', scopes: write, workspace_id: place.workspaceId };
        expect((await gateway.post(path, body, { key: secret })).status).toBe(403);
        expect((await gateway.post(path, body, { key: '' })).status).toBe(401);
      }
    });

    test('a key without the scope is refused', async () => {
      const { secret } = await addKey(gateway, {
        ...place,
        workspaceId: null,
        type: 'organisation-service',
        scopes: ['workspace_service_api_keys.create'],
      });
      expect((await service({}, secret)).status).toBe(200);
      expect((await user({}, secret)).status).toBe(403);
      expect((await gateway.post(adminPath, { name: 'x', scopes: ['audit_logs.list'] }, { key: secret })).status).toBe(
        403,
      );
    });

    test('managers lose the right with managersWriteApiKeys, members gain it for themselves with membersWriteApiKeys', async () => {
      await settings({ security_settings: { managersWriteApiKeys: false, membersWriteApiKeys: true } });
      expect((await service({}, manager.session)).status).toBe(403);
      expect((await user({}, manager.session)).status).toBe(403);
      const own = await user({ user_id: undefined }, member.session);
      expect(own.status).toBe(200);
      expect(await read(own.body.id)).toMatchObject({ user_id: member.userId });
      const forAnother = await user({ user_id: manager.userId }, member.session);
      expect([forAnother.status, forAnother.body.data.errorCode]).toEqual([403, 'AB03']);
      expect((await service({}, member.session)).status).toBe(403);
      await settings({ security_settings: { managersWriteApiKeys: true, membersWriteApiKeys: false } });
    });

    test('another tenant sees neither workspace nor people', async () => {
      const stranger = await addOrganisation(gateway);
      expect((await service({}, stranger.adminKey)).status).toBe(404);
      const theirs = await user({ workspace_id: stranger.workspaceId }, stranger.adminKey);
      expect(theirs.status).toBe(400);
    });
  });

  describe('for whom', () => {
    test('a signed-in caller makes a user key for themselves when they name nobody', async () => {
      const made = await user({ user_id: undefined }, manager.session);
      expect(await read(made.body.id)).toMatchObject({ user_id: manager.userId });
      const owners = await user({ user_id: null }, place.owner.session);
      expect(await read(owners.body.id)).toMatchObject({ user_id: place.owner.userId });
    });

    test('a key must name the person', async () => {
      for (const key of [gateway.adminKey, gateway.workspaceKey]) {
        const refused = await user({ user_id: undefined }, key);
        expect(refused.status).toBe(400);
        expect(refused.body.data.errors[0].path).toBe('user_id');
      }
      expect((await user({}, gateway.workspaceKey)).status).toBe(200);
    });

    test('the person must belong to the workspace; those who run the organisation do', async () => {
      expect((await user({ user_id: place.owner.userId })).status).toBe(200);
      const outsider = await addPerson(gateway, place.organisationId, 'member');
      for (const id of [outsider.userId, Bun.randomUUIDv7()]) {
        const refused = await user({ user_id: id });
        expect([refused.status, refused.body.data.errorCode]).toEqual([400, 'AB01']);
      }
    });

    test('user_api_key_limit bounds the keys of one person in one workspace', async () => {
      const person = await addPerson(gateway, place.organisationId, 'member', {
        workspaces: { [place.workspaceId]: 'member', [other.id]: 'member' },
      });
      await settings({ user_api_key_limit: 1 });
      const first = await user({ user_id: person.userId });
      expect(first.status).toBe(200);
      const second = await user({ user_id: person.userId });
      expect([second.status, second.body.data.errorCode]).toEqual([400, 'AB01']);
      expect((await user({ user_id: person.userId, workspace_id: other.id })).status).toBe(200);
      expect((await gateway.delete(`/v1/api-keys/${first.body.id}`)).status).toBe(200);
      expect((await user({ user_id: person.userId })).status).toBe(200);
      await settings({ user_api_key_limit: null });
    });
  });

  describe('with what', () => {
    test.each([
      ['no scopes', { scopes: [] }, 'scopes'],
      ['scopes left out', { scopes: undefined }, 'scopes'],
      ['an unknown scope', { scopes: ['completions.write', 'moon.land'] }, 'scopes.1'],
      ['a scope of another type', { scopes: ['workspaces.create'] }, 'scopes.0'],
      ['no name', { name: ' ' }, 'name'],
      ['a long name', { name: 'x'.repeat(101) }, 'name'],
      ['a long description', { description: 'x'.repeat(201) }, 'description'],
      ['a wrong address', { alert_emails: ['nobody'] }, 'alert_emails.0'],
      ['a past expiry', { expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
      ['an expiry that is no time', { expires_at: 'soon' }, 'expires_at'],
      ['an unknown config', { defaults: { config_id: 'pc-none' } }, 'defaults.config_id'],
      ['metadata that is no text', { defaults: { metadata: { a: 1 } } }, 'defaults.metadata.a'],
      ['an unknown limit field', { usage_limits: { credit_limit: 5, colour: 'red' } }, 'usage_limits.colour'],
      ['limits as a list', { usage_limits: [{ credit_limit: 5 }] }, 'usage_limits'],
      [
        'a reset in the past',
        { usage_limits: { credit_limit: 5, next_usage_reset_at: '2020-01-01T00:00:00Z' } },
        'usage_limits.next_usage_reset_at',
      ],
      ['a rate by the second', { rate_limits: [{ type: 'requests', unit: 'rps', value: 1 }] }, 'rate_limits.0.unit'],
      ['an empty rotation policy', { rotation_policy: {} }, 'rotation_policy'],
      [
        'a transition as long as the period',
        { rotation_policy: { rotation_period_days: 1, key_transition_period_ms: 86_400_000 } },
        'rotation_policy.key_transition_period_ms',
      ],
      ['a wrong user', { user_id: 'me' }, 'user_id'],
    ])('%s is refused by name', async (_name, more, path) => {
      const refused = await user(more);
      expect([refused.status, refused.body.data.errorCode]).toEqual([400, 'AB01']);
      expect(refused.body.data.errors.map((fault: { path: string }) => fault.path)).toContain(path);
    });

    test('the message names the scope that is wrong', async () => {
      expect((await service({ scopes: ['moon.land'] })).body.data.message).toContain('moon.land');
    });

    test('user keys hold no key-management scope, admin keys no data-plane scope', async () => {
      expect((await user({ scopes: ['workspace_user_api_keys.list'] })).status).toBe(400);
      expect((await gateway.post(adminPath, { name: 'x', scopes: write })).status).toBe(400);
    });

    test('people give only scopes that they hold, keys any of the column', async () => {
      const refused = await service(
        { scopes: ['completions.write', 'workspace_service_api_keys.create'] },
        manager.session,
      );
      expect(refused.status).toBe(200);
      await settings({ security_settings: { managersWritePrompts: false } });
      const beyond = await service({ scopes: ['completions.write', 'prompts.create'] }, manager.session);
      expect([beyond.status, beyond.body.data.errorCode]).toEqual([403, 'AB03']);
      expect(beyond.body.data.message).toContain('prompts.create');
      expect((await service({ scopes: grantableTo('S') }, gateway.adminKey)).status).toBe(200);
      await settings({ security_settings: { managersWritePrompts: true } });
    });

    test('the workspace must be named, exist and be in use', async () => {
      expect((await service({ workspace_id: undefined })).status).toBe(400);
      expect((await service({ workspace_id: Bun.randomUUIDv7() })).status).toBe(404);
      const old = await addWorkspace(gateway, place.organisationId, 'Old');
      await archiveWorkspace(gateway, old.id);
      expect((await service({ workspace_id: old.id })).status).toBe(400);
    });

    test('configs are found by slug and kept by id; user keys start with the config of their workspace', async () => {
      const { services } = gateway.app;
      const saved = await addConfig(gateway, place.workspaceId);
      const named = await service({ defaults: { config_id: saved.slug } });
      expect((await read(named.body.id)).defaults).toMatchObject({ config_id: saved.id, config_slug: saved.slug });
      const row = await services.store.db
        .selectFrom('workspaces')
        .select('defaults')
        .where('id', '=', place.workspaceId)
        .executeTakeFirstOrThrow();
      const withConfig = JSON.stringify({ ...JSON.parse(row.defaults), user_api_key_config: saved.id });
      await services.store.db
        .updateTable('workspaces')
        .set({ defaults: withConfig })
        .where('id', '=', place.workspaceId)
        .execute();
      expect((await read((await user()).body.id)).defaults.config_slug).toBe(saved.slug);
      expect((await read((await service()).body.id)).defaults.config_id).toBeNull();
      const admin = await gateway.post(adminPath, {
        name: 'x',
        scopes: ['audit_logs.list'],
        defaults: { config_id: saved.slug },
      });
      expect(admin.status).toBe(400);
      await services.store.db
        .updateTable('workspaces')
        .set({ defaults: row.defaults })
        .where('id', '=', place.workspaceId)
        .execute();
    });

    test('the metadata schema of the organisation completes and checks metadata', async () => {
      const schema = {
        type: 'object',
        additionalProperties: true,
        properties: { team: { type: 'string', enum: ['a', 'b'] }, stage: { type: 'string', default: 'dev' } },
        required: ['team'],
      };
      expect((await gateway.put('/v1/admin/organisation/properties', { api_key_metadata_schema: schema })).status).toBe(
        200,
      );
      const made = await service({ defaults: { metadata: { team: 'a' } } });
      expect((await read(made.body.id)).defaults.metadata).toEqual({ team: 'a', stage: 'dev' });
      const refused = await service();
      expect(refused.status).toBe(400);
      expect(refused.body.data.errors[0].path).toBe('defaults.metadata.team');
      await gateway.put('/v1/admin/organisation/properties', { api_key_metadata_schema: null });
    });

    test('user keys take their life from user_api_key_ttl and may not outlive it', async () => {
      const after = (seconds: number) => new Date(gateway.clock.now().getTime() + seconds * 1000).toISOString();
      await settings({ user_api_key_ttl: { default_ttl: 3600, max_ttl: 7200 } });
      const made = await user();
      const { expires_at } = await read(made.body.id);
      expect(Math.abs(Date.parse(expires_at) - Date.parse(after(3600)))).toBeLessThan(30_000);
      expect((await user({ expires_at: after(7000) })).status).toBe(200);
      expect((await user({ expires_at: after(7300) })).status).toBe(400);
      expect((await user({ expires_at: null })).status).toBe(400);
      expect((await service({ expires_at: after(90_000) })).status).toBe(200);
      await settings({ user_api_key_ttl: { default_ttl: null, max_ttl: 60 } });
      expect((await read((await user()).body.id)).expires_at).not.toBeNull();
      await settings({ user_api_key_ttl: null });
    });

    test('an enforced rotation period binds user keys alone', async () => {
      await settings({ user_api_key_rotation_period: 'weekly' });
      const made = await user();
      expect((await read(made.body.id)).rotation_policy).toMatchObject({
        rotation_period_days: 7,
        rotation_period: null,
      });
      expect((await user({ rotation_policy: { rotation_period: 'weekly' } })).status).toBe(200);
      expect((await user({ rotation_policy: { rotation_period: 'monthly' } })).status).toBe(400);
      expect((await user({ rotation_policy: { next_rotation_at: '2100-01-01T00:00:00Z' } })).status).toBe(400);
      expect((await read((await service()).body.id)).rotation_policy).toBeNull();
      expect((await service({ rotation_policy: { rotation_period: 'monthly' } })).status).toBe(200);
      await settings({ user_api_key_rotation_period: null });
    });
  });
});
