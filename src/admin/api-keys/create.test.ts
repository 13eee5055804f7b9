/** Making keys: who may make which, and for whom; and what the answer and the trail show. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { onEachEngine, type TestGateway } from '../../../test/harness.ts';
import {
  addKey,
  addOrganisation,
  addPerson,
  addTeam,
  addWorkspace,
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
    other = await addWorkspace(gateway, place.organisationId, 'Other');
    ({ admin: workspaceAdmin, manager, member } = await addTeam(gateway, place));
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
});
