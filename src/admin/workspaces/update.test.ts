/** Changing a workspace over HTTP: who may change what, and what becomes of its limits. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { onEachEngine, type TestGateway } from '../../../test/harness.ts';
import {
  addConfig,
  addKey,
  addOrganisation,
  addPerson,
  addTeam,
  archiveWorkspace,
  home,
  type Person,
  storeOf,
} from '../../../test/people.ts';
import { defaultSettings } from '../../identity/settings.ts';
import { applyUsageLimit, type StoredUsageLimit } from '../../limits/entries.ts';
import { encode } from '../../store/json.ts';

onEachEngine('changing a workspace', (start) => {
  let gateway: TestGateway;
  let organisationId: string;
  let id: string;
  let admin: Person;
  let manager: Person;
  let member: Person;

  beforeAll(async () => {
    gateway = await start();
    gateway.clock.moveTo('2031-03-05T10:00:00.000Z');
    ({ organisationId } = await home(gateway));
    ({ id } = (await gateway.post('/v1/workspaces', { name: 'Team' })).body);
    ({ admin, manager, member } = await addTeam(gateway, { organisationId, workspaceId: id }));
  });
  afterAll(() => gateway.stop());

  const put = (body: unknown, key?: string) =>
    gateway.put(`/v1/admin/workspaces/${id}`, body, key === undefined ? {} : { key });

  /** What the gateway would have counted by now. */
  const spend = async (usage: Partial<StoredUsageLimit>) => {
    const limit = applyUsageLimit({ type: 'cost', credit_limit: 10 }, null, gateway.clock.now());
    await storeOf(gateway)
      .db.updateTable('workspaces')
      .set({ usage_limits: encode([{ ...limit, ...usage }]) })
      .where('id', '=', id)
      .execute();
  };

  const letManagersManage = (on: boolean) =>
    storeOf(gateway)
      .db.updateTable('organisations')
      .set({
        settings: encode({
          ...defaultSettings,
          security_settings: { ...defaultSettings.security_settings, managersManageWorkspace: on },
        }),
      })
      .where('id', '=', organisationId)
      .execute();

  test('only what is sent changes, and the reply is the updated record', async () => {
    const reply = await put({ description: 'Ours' });
    expect(reply.status).toBe(200);
    expect(reply.body).toMatchObject({ id, object: 'workspace', name: 'Team', description: 'Ours' });
    expect((await put({ description: null })).body.description).toBeNull();
    expect((await gateway.get(`/v1/workspaces/${id}`)).body.description).toBeNull();
  });

  test('answers by slug on every spelling of the path, and ignores what clients repeat in the body', async () => {
    const { slug } = (await gateway.get(`/v1/workspaces/${id}`)).body;
    for (const path of [`/v2/workspaces/${slug}`, `/v1/workspaces/${id}`, `/v2/admin/workspaces/${id}`]) {
      expect((await gateway.put(path, { name: 'Team', id, workspaceId: slug })).status).toBe(200);
    }
  });

  test('the icon is changed apart from the name', async () => {
    expect((await put({ icon: '🚀' })).body).toMatchObject({ name: '🚀 Team', icon: '🚀' });
    expect((await put({ name: 'Squad' })).body).toMatchObject({ name: '🚀 Squad', icon: '🚀' });
    expect((await put({ name: '🇩🇪 Squad' })).body).toMatchObject({ name: '🇩🇪 Squad', icon: '🇩🇪' });
    expect((await put({ icon: '' })).body).toMatchObject({ name: 'Squad', icon: null });
    expect((await put({ name: 'Team\u00a0\u2003A' })).body.name).toBe('Team\u00a0\u2003A');
  });

  test('defaults are merged one level deep, metadata is replaced as a whole', async () => {
    const config = await addConfig(gateway, id);
    gateway.app.services.guardrails = {
      find: async (_db, _organisation, workspaceId, ref) => (workspaceId === id ? { id: ref, slug: 'pg-check' } : null),
    };
    await put({ defaults: { metadata: { team: 'red', floor: '1' } } });
    const reply = await put({ defaults: { user_api_key_config: config.id, input_guardrails: ['a', 'pg-check'] } });
    expect(reply.body.defaults).toEqual({
      metadata: { team: 'red', floor: '1' },
      input_guardrails: ['pg-check'],
      output_guardrails: [],
      user_api_key_config: config.slug,
    });
    const replaced = await put({ defaults: { metadata: { team: 'blue' }, user_api_key_config: null } });
    expect(replaced.body.defaults).toMatchObject({ metadata: { team: 'blue' }, user_api_key_config: null });
    const unknown = await put({ defaults: { user_api_key_config: 'pc-other' } });
    expect(unknown.status).toBe(400);
    expect(unknown.body.data.errors[0].path).toBe('defaults.user_api_key_config');
  });

  test('raising a limit reactivates an exhausted budget and clears both alerts', async () => {
    await spend({
      current_usage: 10,
      status: 'exhausted',
      is_threshold_alerts_sent: true,
      is_exhausted_alerts_sent: true,
    });
    const [limit] = (await put({ usage_limits: [{ credit_limit: 20 }] })).body.usage_limits;
    expect(limit).toMatchObject({
      credit_limit: 20,
      current_usage: 10,
      status: 'active',
      is_threshold_alerts_sent: false,
      is_exhausted_alerts_sent: false,
    });
  });

  test('lowering a limit below what was used exhausts it at once', async () => {
    await spend({ current_usage: 5 });
    const [limit] = (await put({ usage_limits: [{ credit_limit: 4 }] })).body.usage_limits;
    expect(limit).toMatchObject({ current_usage: 5, status: 'exhausted' });
  });

  test('reset_usage sets usage back and keeps the schedule', async () => {
    await spend({
      current_usage: 10,
      status: 'exhausted',
      periodic_reset: 'monthly',
      next_usage_reset_at: '2031-04-01T00:00:00.000Z',
    });
    const reply = await put({ reset_usage: true });
    expect(reply.body.usage_limits).toMatchObject([
      { current_usage: 0, status: 'active', next_usage_reset_at: '2031-04-01T00:00:00.000Z' },
    ]);
    expect(reply.body.last_reset_at).toMatch(/^2031-03-05/);
    expect(reply.body.usage_limits[0].last_reset_at).toBe(reply.body.last_reset_at);
    expect(reply.body.reset_usage).toBeUndefined();
  });

  test('limits that were read may be sent back, and null or an empty list removes them', async () => {
    await spend({ current_usage: 3, periodic_reset: 'weekly', next_usage_reset_at: '2031-03-09T00:00:00.000Z' });
    const { usage_limits } = (await gateway.get(`/v1/workspaces/${id}`)).body;
    expect((await put({ usage_limits })).body.usage_limits).toEqual(usage_limits);
    expect((await put({ usage_limits: null })).body.usage_limits).toEqual([]);
    await put({ rate_limits: [{ type: 'tokens', unit: 'rpw', value: 9 }] });
    expect((await put({ rate_limits: [] })).body.rate_limits).toEqual([]);
  });

  test('a manager changes name and defaults, but budgets only where the setting allows it', async () => {
    expect((await put({ name: 'Managed', defaults: { metadata: {} } }, manager.session)).status).toBe(200);
    for (const budget of [
      { usage_limits: null },
      { rate_limits: [] },
      { reset_usage: true },
      { name: 'No', usage_limits: [{ credit_limit: 1 }] },
    ]) {
      const reply = await put(budget, manager.session);
      expect([reply.status, reply.body.data.errorCode]).toEqual([403, 'AB03']);
    }
    expect((await gateway.get(`/v1/workspaces/${id}`)).body.name).toBe('Managed');
    await letManagersManage(true);
    const allowed = await put({ usage_limits: [{ credit_limit: 7 }] }, manager.session);
    await letManagersManage(false);
    expect(allowed.body.usage_limits[0].credit_limit).toBe(7);
    expect((await put({ usage_limits: [] }, admin.session)).status).toBe(200);
  });

  test('members, outsiders and workspace keys are refused', async () => {
    const other = (await gateway.post('/v1/workspaces', { name: 'Other' })).body;
    const outsider = await addPerson(gateway, organisationId, 'member', { workspaces: { [other.id]: 'admin' } });
    const own = await addKey(gateway, {
      organisationId,
      workspaceId: id,
      type: 'workspace-service',
      scopes: ['workspaces.update'],
    });
    for (const key of [member.session, outsider.session, own.secret, gateway.workspaceKey]) {
      expect((await put({ name: 'Mine' }, key)).status).toBe(403);
    }
    expect((await put({ name: 'Mine' }, '')).status).toBe(401);
  });

  test('a body without anything to change is refused', async () => {
    for (const body of [{}, { unknown: 1 }, [], 'not json', undefined]) {
      const reply = await put(body);
      expect([reply.status, reply.body.data.errorCode]).toEqual([400, 'AB01']);
    }
  });

  test('an unknown workspace and one of another tenant are 404, an archived one is 409', async () => {
    const elsewhere = await addOrganisation(gateway);
    const gone = (await gateway.post('/v1/workspaces', { name: 'Gone' })).body;
    await archiveWorkspace(gateway, gone.id);
    const status = async (workspace: string) =>
      (await gateway.put(`/v1/workspaces/${workspace}`, { name: 'X' })).status;
    expect(await status('ws-nothing')).toBe(404);
    expect(await status(elsewhere.workspaceId)).toBe(404);
    expect(await status(gone.id)).toBe(409);
  });
});
