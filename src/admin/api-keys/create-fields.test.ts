/** What a new key may be given: scopes, configs, metadata, limits and a life, each within its rules. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { onEachEngine, type TestGateway } from '../../../test/harness.ts';
import {
  addConfig,
  addTeam,
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

onEachEngine('the fields of a new API key', (start) => {
  let gateway: TestGateway;
  let place: Home;
  let manager: Person;
  let member: Person;

  beforeAll(async () => {
    gateway = await start();
    place = await home(gateway);
    ({ manager, member } = await addTeam(gateway, place));
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
    ['an expiry past the calendar', { expires_at: '9999-12-31T23:59:59-01:00' }, 'expires_at'],
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
