/** A workspace's own settings over HTTP: which sections are open to it, and what then holds. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { onEachEngine, type TestGateway } from '../../../test/harness.ts';
import { addOrganisation, addTeam, home, type Person, storeOf } from '../../../test/people.ts';
import type { OverrideSection } from '../../identity/settings.ts';
import { encode } from '../../store/json.ts';

onEachEngine('settings of a workspace', (start) => {
  let gateway: TestGateway;
  let organisationId: string;
  let id: string;
  let admin: Person;
  let manager: Person;
  let member: Person;

  beforeAll(async () => {
    gateway = await start();
    ({ organisationId } = await home(gateway));
    ({ id } = (await gateway.post('/v1/workspaces', { name: 'Team' })).body);
    ({ admin, manager, member } = await addTeam(gateway, { organisationId, workspaceId: id }));
  });
  afterAll(() => gateway.stop());
  beforeEach(() => open());

  const open = (...sections: OverrideSection[]) =>
    storeOf(gateway)
      .db.updateTable('organisations')
      .set({ workspace_overrides: encode(Object.fromEntries(sections.map((section) => [section, true]))) })
      .where('id', '=', organisationId)
      .execute();

  const read = (key?: string) => gateway.get(`/v1/admin/workspaces/${id}/settings`, key === undefined ? {} : { key });
  const put = (body: unknown, key?: string) =>
    gateway.put(`/v1/admin/workspaces/${id}/settings`, body, key === undefined ? {} : { key });

  test('every value in force is told with its source', async () => {
    const { status, body } = await read();
    expect(status).toBe(200);
    const own = { source: 'organisation', overridable: false };
    expect(body.request_logging).toEqual({ value: 'full', ...own });
    expect(body.security_settings.membersWritePrompts).toEqual({ value: false, ...own });
    expect((await gateway.get(`/v2/workspaces/${id}/settings`)).body).toEqual(body);
  });

  test('a section that the organisation keeps to itself is refused by its name', async () => {
    for (const [body, path, section] of [
      [{ security_settings: { membersViewLogs: false } }, 'security_settings.membersViewLogs', 'logs'],
      [{ request_logging: 'metrics_only' }, 'request_logging', 'request_logging'],
      [{ user_api_key_limit: 3 }, 'user_api_key_limit', 'user_api_key_settings'],
    ] as const) {
      const reply = await put(body);
      expect([reply.status, reply.body.data.errorCode, reply.body.data.errors[0].path]).toEqual([400, 'AB01', path]);
      expect(reply.body.data.message).toContain(`section ${section}`);
    }
    const viaWorkspace = await gateway.put(`/v2/workspaces/${id}`, {
      settings: { request_logging: 'metrics_only' },
      security_settings: { membersViewLogs: false },
    });
    expect(viaWorkspace.status).toBe(400);
    expect(viaWorkspace.body.data.errors.map((error: { path: string }) => error.path)).toEqual([
      'settings.request_logging',
      'security_settings.membersViewLogs',
    ]);
  });

  test('in an open section the workspace has the last word, as long as it is open', async () => {
    await open('logs', 'user_attribution');
    const reply = await put({ security_settings: { membersViewLogs: false }, user_attribution: { enabled: true } });
    expect(reply.status).toBe(200);
    const ours = { source: 'workspace', overridable: true };
    expect(reply.body.security_settings.membersViewLogs).toEqual({ value: false, ...ours });
    expect(reply.body.security_settings.managersViewLogs).toMatchObject({ value: true, source: 'organisation' });
    expect(reply.body.user_attribution).toEqual({ value: { enabled: true, allow_override: false }, ...ours });
    expect((await read()).body).toEqual(reply.body);
    await open();
    expect((await read()).body.security_settings.membersViewLogs).toMatchObject({
      value: true,
      source: 'organisation',
    });
  });

  test('the workspace record takes and shows the same values', async () => {
    await open('analytics', 'request_logging');
    const reply = await gateway.put(`/v2/workspaces/${id}`, {
      settings: { request_logging: 'metrics_only' },
      security_settings: { membersViewAnalytics: false },
    });
    expect(reply.body.settings.request_logging).toBe('metrics_only');
    expect(reply.body.security_settings.membersViewAnalytics).toBe(false);
  });

  test('a setting in force changes what members may do at once', async () => {
    await open('prompts');
    const scopes = async () =>
      (await gateway.get(`/v1/workspaces/${id}/users/${member.userId}`)).body.scopes.includes('prompts.create');
    expect(await scopes()).toBe(false);
    await put({ security_settings: { membersWritePrompts: true } });
    expect(await scopes()).toBe(true);
  });

  test('unknown settings, organisation-wide ones and an empty body are refused', async () => {
    await open('user_api_key_settings');
    for (const body of [
      { nonsense: true },
      { session_settings: { max_session_ttl: 900 } },
      { user_api_key_rotation_period: 400 },
      { user_api_key_ttl: { default_ttl: 20, max_ttl: 10 } },
      {},
      undefined,
    ]) {
      expect((await put(body)).status).toBe(400);
    }
  });

  test('are read by admins and managers, and changed by admins and by managers who may manage', async () => {
    await open('analytics', 'workspace_management');
    const change = { security_settings: { managersViewAnalytics: true } };
    for (const key of [admin.session, manager.session]) expect((await read(key)).status).toBe(200);
    for (const key of [member.session, gateway.workspaceKey]) expect((await read(key)).status).toBe(403);
    for (const key of [manager.session, member.session, gateway.workspaceKey]) {
      expect((await put(change, key)).status).toBe(403);
      expect((await gateway.put(`/v1/workspaces/${id}`, change, { key })).status).toBe(403);
    }
    expect((await put({ security_settings: { managersManageWorkspace: true } }, admin.session)).status).toBe(200);
    expect((await put(change, manager.session)).status).toBe(200);
    expect((await read('')).status).toBe(401);
  });

  test('of an unknown workspace or another tenant are 404', async () => {
    const elsewhere = await addOrganisation(gateway);
    for (const unknown of ['ws-nothing', elsewhere.workspaceId]) {
      expect((await gateway.get(`/v1/workspaces/${unknown}/settings`)).status).toBe(404);
      expect((await gateway.put(`/v1/workspaces/${unknown}/settings`, { request_logging: 'full' })).status).toBe(404);
    }
  });
});
