/** Organisation settings and workspace overrides, as the answers of their routes and as their effects. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { onEachEngine, type TestGateway } from '../../../test/harness.ts';
import {
  addKey,
  addOrganisation,
  addPerson,
  addWorkspace,
  type Home,
  home,
  type Person,
  signIn,
  storeOf,
} from '../../../test/people.ts';
import { defaultSettings, overrideSections } from '../../identity/settings.ts';

const settingsPath = '/v1/admin/organisation/settings';
const overridesPath = '/v1/admin/organisation/workspace-overrides';
const allClosed = Object.fromEntries(overrideSections.map((section) => [section, false]));

onEachEngine('organisation settings', (start) => {
  let gateway: TestGateway;
  let place: Home;
  let admin: Person;
  let manager: Person;

  beforeAll(async () => {
    gateway = await start();
    place = await home(gateway);
    admin = await addPerson(gateway, place.organisationId, 'admin');
    manager = await addPerson(gateway, place.organisationId, 'member', {
      workspaces: { [place.workspaceId]: 'manager' },
    });
  });

  afterAll(() => gateway.stopWithoutFaults());

  const put = (body: unknown, key = gateway.adminKey) => gateway.put(settingsPath, body, { key });
  const ownValues = async (workspaceId: string) => {
    const row = await storeOf(gateway)
      .db.selectFrom('workspaces')
      .select('settings')
      .where('id', '=', workspaceId)
      .executeTakeFirstOrThrow();
    return JSON.parse(row.settings);
  };
  const setOwnValues = (workspaceId: string, settings: object) =>
    storeOf(gateway)
      .db.updateTable('workspaces')
      .set({ settings: JSON.stringify(settings) })
      .where('id', '=', workspaceId)
      .execute();

  test('a new organisation has the defaults, with every section closed', async () => {
    const other = await addOrganisation(gateway);
    const reply = await gateway.get(settingsPath, { key: other.adminKey });
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({ ...defaultSettings, workspace_overrides: allClosed });
    expect((await gateway.get(overridesPath, { key: other.adminKey })).body).toEqual(allClosed);
  });

  describe('who may read and change them', () => {
    const paths = ['settings', 'workspace-overrides', 'properties', 'defaults'];
    test.each(paths)('%s: admin keys, owners and admins; everyone else is refused with 403', async (path) => {
      const address = `/v1/admin/organisation/${path}`;
      for (const key of [gateway.adminKey, place.owner.session, admin.session]) {
        expect((await gateway.get(address, { key })).status).toBe(200);
        // Let in, and told that the body says nothing.
        expect((await gateway.put(address, {}, { key })).status).toBe(400);
      }
      const { organisationId } = place;
      const reader = await addKey(gateway, {
        organisationId,
        type: 'organisation-service',
        scopes: ['organisation_settings.read'],
      });
      expect((await gateway.get(address, { key: reader.secret })).status).toBe(200);
      for (const key of [manager.session, gateway.workspaceKey]) {
        expect((await gateway.get(address, { key })).status).toBe(403);
      }
      for (const key of [manager.session, gateway.workspaceKey, reader.secret]) {
        const reply = await gateway.put(address, {}, { key });
        expect([reply.status, reply.body.data.errorCode]).toEqual([403, 'AB03']);
      }
      expect((await gateway.get(address, { key: '' })).status).toBe(401);
    });
  });

  describe('PUT settings', () => {
    test('merges a subset: what is not sent stays, objects are merged one level deep', async () => {
      await put({ user_attribution: { enabled: true }, user_api_key_ttl: { max_ttl: 7200 } });
      const reply = await put({
        user_attribution: { allow_override: true },
        user_api_key_ttl: { default_ttl: 3600 },
        security_settings: { membersWriteConfigs: true },
        request_logging: 'metrics_only',
      });
      expect(reply.status).toBe(200);
      expect(reply.body).toMatchObject({
        user_attribution: { enabled: true, allow_override: true },
        user_api_key_ttl: { default_ttl: 3600, max_ttl: 7200 },
        request_logging: 'metrics_only',
        user_api_key_auto_create: false,
      });
      expect(reply.body.security_settings).toEqual({
        ...defaultSettings.security_settings,
        membersWriteConfigs: true,
      });
      expect((await gateway.get(settingsPath)).body).toEqual(reply.body);
    });

    test('the form that is read can be sent back whole and changes nothing', async () => {
      const { body } = await gateway.get(settingsPath);
      const reply = await put({ ...body, organisation_id: place.organisationId });
      expect([reply.status, reply.body]).toEqual([200, body]);
    });

    test('weekly and monthly rotation are kept as 7 and 30 days', async () => {
      expect((await put({ user_api_key_rotation_period: 'weekly' })).body.user_api_key_rotation_period).toBe(7);
      expect((await put({ user_api_key_rotation_period: 'monthly' })).body.user_api_key_rotation_period).toBe(30);
      expect((await put({ user_api_key_rotation_period: 365 })).body.user_api_key_rotation_period).toBe(365);
      expect((await put({ user_api_key_rotation_period: null })).body.user_api_key_rotation_period).toBeNull();
    });

    test('a bare lifetime sets both durations, null removes them', async () => {
      const both = await put({ user_api_key_ttl: 86_400 });
      expect(both.body.user_api_key_ttl).toEqual({ default_ttl: 86_400, max_ttl: 86_400 });
      expect((await put({ user_api_key_ttl: null })).body.user_api_key_ttl).toBeNull();
    });

    test('a default lifetime above the maximum is refused, also when the maximum was set before', async () => {
      await put({ user_api_key_ttl: { max_ttl: 100 } });
      const reply = await put({ user_api_key_ttl: { default_ttl: 101 } });
      expect([reply.status, reply.body.data.errors[0].path]).toEqual([400, 'user_api_key_ttl.default_ttl']);
      await put({ user_api_key_ttl: null });
    });

    test.each([
      ['an unknown setting', { allow_everything: true }, 'allow_everything'],
      [
        'an unknown security setting',
        { security_settings: { ownersViewLogs: true } },
        'security_settings.ownersViewLogs',
      ],
      ['an unknown field of a setting', { session_settings: { idle: 1 } }, 'session_settings.idle'],
      ['an unknown section', { workspace_overrides: { billing: true } }, 'workspace_overrides.billing'],
      ['a rotation of 0 days', { user_api_key_rotation_period: 0 }, 'user_api_key_rotation_period'],
      ['a rotation of 366 days', { user_api_key_rotation_period: 366 }, 'user_api_key_rotation_period'],
      ['a yearly rotation', { user_api_key_rotation_period: 'yearly' }, 'user_api_key_rotation_period'],
      ['a session of 899 seconds', { session_settings: { max_session_ttl: 899 } }, 'session_settings.max_session_ttl'],
      ['another kind of logging', { request_logging: 'none' }, 'request_logging'],
      [
        'a switch that is no boolean',
        { security_settings: { membersViewPrompts: 'no' } },
        'security_settings.membersViewPrompts',
      ],
      ['a negative key limit', { user_api_key_limit: -1 }, 'user_api_key_limit'],
      ['a lifetime that is no number', { user_api_key_ttl: 'long' }, 'user_api_key_ttl'],
      ['a cache age of 0', { default_cache_max_age: 0 }, 'default_cache_max_age'],
    ])('%s is refused with 400 and named', async (_case, body, path) => {
      const reply = await put(body);
      expect([reply.status, reply.body.data.errorCode]).toEqual([400, 'AB01']);
      expect(reply.body.data.errors.map((error: { path: string }) => error.path)).toContain(path);
    });

    test('updates that are made at the same time all count', async () => {
      const updates = [
        { user_api_key_limit: 4 },
        { default_cache_max_age: 60 },
        { enforce_debug_log_setting: true },
        { security_settings: { membersViewGuardrails: false } },
      ];
      const replies = await Promise.all(updates.map((update) => put(update)));
      expect(replies.map((reply) => reply.status)).toEqual([200, 200, 200, 200]);
      expect((await gateway.get(settingsPath)).body).toMatchObject(Object.assign({}, ...updates));
    });

    test('the audit row says what changed, from what, to what', async () => {
      await put({ security_settings: { membersViewPrompts: false } });
      const row = await storeOf(gateway)
        .db.selectFrom('audit_logs')
        .selectAll()
        .where('organisation_id', '=', place.organisationId)
        .where('response_status_code', '=', 200)
        .orderBy('timestamp', 'desc')
        .orderBy('id', 'desc')
        .executeTakeFirstOrThrow();
      expect(row).toMatchObject({ resource_type: 'organisation', action: 'update', resource_id: place.organisationId });
      expect(JSON.parse(row.details ?? '')).toEqual({
        changed: { 'security_settings.membersViewPrompts': { old: true, new: false } },
      });
    });

    test("another tenant's settings are not touched", async () => {
      const other = await addOrganisation(gateway);
      await put({ disable_getting_started: true });
      const reply = await gateway.get(settingsPath, { key: other.adminKey });
      expect(reply.body.disable_getting_started).toBe(false);
      const named = await put({ disable_getting_started: true, organisation_id: other.organisationId });
      expect(named.status).toBe(403);
    });
  });

  describe('effects', () => {
    const restrictions = () => `/v1/logs/exports/field-restrictions?workspace_id=${place.workspaceId}`;

    test('a security setting binds sessions and user keys at once, and leaves service keys alone', async () => {
      const { organisationId, workspaceId } = place;
      const userKey = await addKey(gateway, {
        organisationId,
        workspaceId,
        userId: manager.userId,
        type: 'workspace-user',
        scopes: ['logs.export'],
      });
      const ask = async () =>
        Promise.all(
          [manager.session, userKey.secret, gateway.workspaceKey, admin.session].map(
            async (key) => (await gateway.get(restrictions(), { key })).status,
          ),
        );
      expect(await ask()).toEqual([200, 200, 200, 200]);
      await put({ security_settings: { managersViewLogMetadata: false } });
      expect(await ask()).toEqual([403, 403, 200, 200]);
      await put({ security_settings: { managersViewLogMetadata: true } });
      expect(await ask()).toEqual([200, 200, 200, 200]);
    });

    test('membersViewApiKeys decides whether members may list their keys', async () => {
      const { organisationId, workspaceId } = place;
      const member = await addPerson(gateway, organisationId, 'member', { workspaces: { [workspaceId]: 'member' } });
      const list = async () =>
        (await gateway.get(`/v1/api-keys?workspace_id=${workspaceId}`, { key: member.session })).status;
      expect(await list()).toBe(200);
      await put({ security_settings: { membersViewApiKeys: false } });
      expect(await list()).toBe(403);
      await put({ security_settings: { membersViewApiKeys: true } });
      expect(await list()).toBe(200);
    });

    test('organisationAdminsViewLogMetadata binds admins, not owners', async () => {
      await put({ security_settings: { organisationAdminsViewLogMetadata: false } });
      expect((await gateway.get(restrictions(), { key: admin.session })).status).toBe(403);
      expect((await gateway.get(restrictions(), { key: place.owner.session })).status).toBe(200);
      await put({ security_settings: { organisationAdminsViewLogMetadata: true } });
    });

    test('lowering max_session_ttl ends sessions that are older, however they were opened', async () => {
      const early = await signIn(gateway, place.organisationId, admin.userId);
      gateway.clock.advance({ seconds: 901 });
      const late = await signIn(gateway, place.organisationId, admin.userId);
      expect((await gateway.get(settingsPath, { key: early })).status).toBe(200);
      expect((await put({ session_settings: { max_session_ttl: 900 } })).status).toBe(200);
      expect((await gateway.get(settingsPath, { key: early })).status).toBe(401);
      expect((await gateway.get(settingsPath, { key: late })).status).toBe(200);
      await put({ session_settings: { max_session_ttl: null } });
    });
  });

  describe('PUT workspace-overrides', () => {
    const open = (sections: Record<string, boolean>) => gateway.put(overridesPath, sections);

    test('opening a plain section copies the present values down to every workspace of the organisation', async () => {
      const other = await addOrganisation(gateway);
      const second = await addWorkspace(gateway, place.organisationId, 'Second');
      await put({ request_logging: 'full', export_settings: { deniedFields: ['request'] } });
      const reply = await open({ request_logging: true, export_settings: true });
      expect(reply.status).toBe(200);
      expect(reply.body).toMatchObject({ request_logging: true, export_settings: true, logs: false });
      for (const id of [place.workspaceId, second.id]) {
        expect(await ownValues(id)).toEqual({
          request_logging: 'full',
          export_settings: { deniedFields: ['request'] },
        });
      }
      expect(await ownValues(other.workspaceId)).toEqual({});
      await put({ export_settings: { deniedFields: ['response'] } });
      const path = '/v1/logs/exports/field-restrictions';
      expect((await gateway.get(`${path}?workspace_id=${second.slug}`)).body.deniedFields).toEqual(['request']);
      expect((await gateway.get(path)).body.deniedFields).toEqual(['response']);
    });

    test('opening a section that is open changes nothing in the workspaces', async () => {
      await setOwnValues(place.workspaceId, { request_logging: 'metrics_only' });
      await open({ request_logging: true });
      expect(await ownValues(place.workspaceId)).toEqual({ request_logging: 'metrics_only' });
    });

    test('a workspace that is made while a section is open starts with the present values', async () => {
      const fresh = await addWorkspace(gateway, place.organisationId, 'Fresh');
      expect(await ownValues(fresh.id)).toEqual({
        request_logging: 'full',
        export_settings: { deniedFields: ['response'] },
      });
    });

    test('closing a section discards the values of the workspaces, and those of no other section', async () => {
      const reply = await open({ request_logging: false });
      expect(reply.body).toMatchObject({ request_logging: false, export_settings: true });
      await setOwnValues(place.workspaceId, {
        export_settings: { deniedFields: ['x'] },
        security_settings: { membersViewPrompts: true, membersViewAnalytics: false },
      });
      await open({ prompts: true, analytics: true });
      await open({ export_settings: false, prompts: false });
      expect(await ownValues(place.workspaceId)).toEqual({ security_settings: { membersViewAnalytics: false } });
      await open({ analytics: false });
      expect(await ownValues(place.workspaceId)).toEqual({});
      const denied = await gateway.get(`/v1/logs/exports/field-restrictions?workspace_id=${place.workspaceId}`);
      expect(denied.body.deniedFields).toEqual(['response']);
    });

    test('a security section is not copied down: workspaces follow the organisation until they differ', async () => {
      const session = manager.session;
      const path = `/v1/logs/exports/field-restrictions?workspace_id=${place.workspaceId}`;
      await open({ logs: true });
      expect(await ownValues(place.workspaceId)).toEqual({});
      await put({ security_settings: { managersViewLogMetadata: false } });
      expect((await gateway.get(path, { key: session })).status).toBe(403);
      await setOwnValues(place.workspaceId, { security_settings: { managersViewLogMetadata: true } });
      expect((await gateway.get(path, { key: session })).status).toBe(200);
      await open({ logs: false });
      expect((await gateway.get(path, { key: session })).status).toBe(403);
      await put({ security_settings: { managersViewLogMetadata: true } });
    });

    test('opening a section with the settings copies the values of the same call', async () => {
      await put({ user_api_key_limit: 3, workspace_overrides: { user_api_key_settings: true } });
      expect((await ownValues(place.workspaceId)).user_api_key_limit).toBe(3);
      expect((await gateway.get(overridesPath)).body.user_api_key_settings).toBe(true);
    });

    test.each([
      ['an unknown section', { billing: true }],
      ['a switch that is no boolean', { logs: 'yes' }],
    ])('%s is refused with 400', async (_case, body) => {
      const reply = await gateway.put(overridesPath, body);
      expect([reply.status, reply.body.data.errorCode]).toEqual([400, 'AB01']);
    });
  });
});
