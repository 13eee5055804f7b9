/** The key that a person gets by joining: when it is made, and what it holds. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { onEachEngine, type TestGateway } from '../../../test/harness.ts';
import { addConfig, addKey, addPerson, addWorkspace, type Home, home, type Person } from '../../../test/people.ts';
import type { Scope } from '../../identity/scopes.ts';
import { autoCreateUserKey } from './auto-create.ts';

onEachEngine('auto-created user keys', (start) => {
  let gateway: TestGateway;
  let place: Home;
  let team: { id: string };
  let person: Person;

  beforeAll(async () => {
    gateway = await start();
    place = await home(gateway);
    team = await addWorkspace(gateway, place.organisationId, 'Team');
  });
  afterAll(() => gateway.stop());
  beforeEach(async () => {
    await settings({
      user_api_key_auto_create: false,
      default_workspace_user_api_key_auto_create: false,
      user_api_key_limit: null,
      user_api_key_ttl: null,
      user_api_key_rotation_period: null,
    });
    const workspaces = { [team.id]: 'member', [place.workspaceId]: 'member' } as const;
    person = await addPerson(gateway, place.organisationId, 'member', { workspaces });
  });

  const settings = async (values: object) => {
    expect((await gateway.put('/v1/admin/organisation/settings', values)).status).toBe(200);
  };
  const join = async (workspaceId = team.id, scopes?: readonly Scope[]) => {
    const { services } = gateway.app;
    const changes = await services.store.atomically((tx) =>
      autoCreateUserKey(tx, services, gateway.clock.now(), {
        organisationId: place.organisationId,
        workspaceId,
        userId: person.userId,
        ...(scopes && { scopes }),
      }),
    );
    const [change] = changes;
    return change ? (await gateway.get(`/v1/api-keys/${change.id}`)).body : null;
  };

  test('nothing is made while the switch is off', async () => {
    expect(await join()).toBeNull();
  });

  test('with the switch on, a key holds what its owner may do, and its secret waits to be revealed', async () => {
    await settings({ user_api_key_auto_create: true });
    const key = await join();
    expect(key).toMatchObject({
      type: 'workspace-user',
      creation_mode: 'auto',
      user_id: person.userId,
      workspace_id: team.id,
      created_by: null,
      expires_at: null,
      rotation_policy: null,
    });
    expect(key.scopes).toContain('completions.write');
    expect(key.scopes).toContain('configs.list');
    expect(key.scopes).not.toContain('configs.create');
    expect(key.scopes).not.toContain('workspace_user_api_keys.list');
    const { db } = gateway.app.services.store;
    const secret = await db
      .selectFrom('api_key_secrets')
      .selectAll()
      .where('api_key_id', '=', key.id)
      .executeTakeFirstOrThrow();
    expect(secret.sealed).toStartWith('v2.');
    const event = await db
      .selectFrom('audit_logs')
      .selectAll()
      .where('resource_id', '=', key.id)
      .executeTakeFirstOrThrow();
    expect(event).toMatchObject({ user_type: 'system', action: 'create', workspace_id: team.id });
  });

  test('the default workspace listens to its own switch alone', async () => {
    await settings({ user_api_key_auto_create: true });
    expect(await join(place.workspaceId)).toBeNull();
    await settings({ user_api_key_auto_create: false, default_workspace_user_api_key_auto_create: true });
    expect(await join(place.workspaceId)).not.toBeNull();
    expect(await join(team.id)).toBeNull();
  });

  test('whoever has a live user key there gets no second one', async () => {
    await settings({ user_api_key_auto_create: true });
    const first = await join();
    expect(await join()).toBeNull();
    await gateway.delete(`/v1/api-keys/${first.id}`);
    expect(await join()).not.toBeNull();
  });

  test('a limit of 0 means none, whoever asks', async () => {
    await settings({ user_api_key_auto_create: true, user_api_key_limit: 0 });
    expect(await join()).toBeNull();
    expect(await join(team.id, ['completions.write'])).toBeNull();
  });

  test('someone who does not belong to the workspace gets none', async () => {
    await settings({ user_api_key_auto_create: true });
    person = await addPerson(gateway, place.organisationId, 'member');
    expect(await join()).toBeNull();
  });

  test('life and rotation come from the settings', async () => {
    await settings({ user_api_key_auto_create: true, user_api_key_ttl: 3600, user_api_key_rotation_period: 'monthly' });
    const key = await join();
    expect(key.rotation_policy).toMatchObject({ rotation_period_days: 30, status: 'ACTIVE' });
    expect(Math.abs(Date.parse(key.expires_at) - gateway.clock.now().getTime() - 3_600_000)).toBeLessThan(30_000);
  });

  test('the config of the workspace is pinned', async () => {
    await settings({ user_api_key_auto_create: true });
    const { db } = gateway.app.services.store;
    const config = await addConfig(gateway, team.id);
    const row = await db
      .selectFrom('workspaces')
      .select('defaults')
      .where('id', '=', team.id)
      .executeTakeFirstOrThrow();
    const defaults = JSON.stringify({ ...JSON.parse(row.defaults), user_api_key_config: config.slug });
    await db.updateTable('workspaces').set({ defaults }).where('id', '=', team.id).execute();
    expect((await join()).defaults).toMatchObject({ config_id: config.id, config_slug: config.slug });
    await db.updateTable('workspaces').set({ defaults: row.defaults }).where('id', '=', team.id).execute();
  });

  test('an invite that names scopes gets exactly these, beside any other key', async () => {
    await addKey(gateway, {
      ...place,
      workspaceId: team.id,
      type: 'workspace-user',
      userId: person.userId,
      scopes: ['completions.write'],
    });
    expect((await join(team.id, ['logs.write', 'configs.create']))?.scopes).toEqual(['logs.write', 'configs.create']);
  });
});
