/** Nobody grants beyond what they hold: keys and people create, widen, rotate, reveal, invite and promote within their own scopes and role. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Scope } from '../../src/identity/scopes.ts';
import { startGateway, type TestGateway } from '../harness.ts';
import { addKey, addPerson, addTeam, type Home, home, type Person, storeOf } from '../people.ts';

let gateway: TestGateway;
let place: Home;
let team: Record<'admin' | 'manager' | 'member', Person>;
let addresses = 0;

beforeAll(async () => {
  gateway = await startGateway();
  place = await home(gateway);
  team = await addTeam(gateway, place);
});

afterAll(() => gateway.stopWithoutFaults());

const adminKey = async (...scopes: Scope[]) =>
  (await addKey(gateway, { organisationId: place.organisationId, type: 'organisation-service', scopes })).secret;
const workspaceKey = (...scopes: Scope[]) =>
  addKey(gateway, {
    organisationId: place.organisationId,
    workspaceId: place.workspaceId,
    type: 'workspace-service',
    scopes,
  });
const userKey = (owner: Person, ...scopes: Scope[]) =>
  addKey(gateway, {
    organisationId: place.organisationId,
    workspaceId: place.workspaceId,
    userId: owner.userId,
    type: 'workspace-user',
    scopes,
  });

const mint = (key: string, type: string, scopes: Scope[], more: object = {}) =>
  gateway.post(
    `/v1/api-keys/${type}`,
    { name: 'made', scopes, ...(type.startsWith('workspace') && { workspace_id: place.workspaceId }), ...more },
    { key },
  );
const widen = (key: string, id: string, scopes: Scope[]) => gateway.put(`/v1/api-keys/${id}`, { scopes }, { key });
const rotate = (key: string, id: string) => gateway.post(`/v1/api-keys/${id}/rotate`, {}, { key });
const invite = (key: string, more: object = {}) =>
  gateway.post(
    '/v1/admin/users/invites',
    { email: `granted-${addresses++}@example.com`, role: 'member', ...more },
    { key },
  );

describe('a key that may write settings', () => {
  const token = '/v1/admin/organisation/auth-settings/scim/token';

  test('makes no SCIM token, which could act for every admin', async () => {
    const key = await adminKey('organisation_settings.update', 'organisation_settings.read');
    const refused = await gateway.post(token, undefined, { key });
    expect([refused.status, refused.body.data?.errorCode]).toEqual([403, 'AB03']);
    expect((await gateway.post(token)).status).toBe(200);
    // Nor does it replace one that is there.
    expect((await gateway.post(token, undefined, { key })).status).toBe(403);
  });
});

describe('a key that makes keys', () => {
  test('gives an admin key only scopes of its own', async () => {
    const key = await adminKey('organisation_service_api_keys.create', 'audit_logs.list');
    expect((await mint(key, 'organisation/service', ['audit_logs.list'])).status).toBe(200);
    const refused = await mint(key, 'organisation/service', ['audit_logs.list', 'organisation_users.create']);
    expect(refused.status).toBe(403);
    expect(refused.body.data).toMatchObject({
      errorCode: 'AB03',
      message: expect.stringContaining('organisation_users.create'),
    });
  });

  test('gives a workspace key the scopes of model traffic, which follow from the right to make keys', async () => {
    const key = await adminKey('workspace_service_api_keys.create');
    const traffic: Scope[] = ['completions.write', 'prompts.render', 'guardrails.invoke', 'mcp.invoke', 'logs.write'];
    expect((await mint(key, 'workspace/service', traffic)).status).toBe(200);
    expect((await mint(key, 'workspace/service', ['completions.write', 'configs.create'])).status).toBe(403);
  });

  test('which is a workspace key itself, is bound in the same way', async () => {
    const { secret } = await workspaceKey('workspace_service_api_keys.create', 'configs.read');
    expect((await mint(secret, 'workspace/service', ['configs.read', 'completions.write'])).status).toBe(200);
    expect((await mint(secret, 'workspace/service', ['configs.delete'])).status).toBe(403);
    const byUserKeys = await workspaceKey('workspace_user_api_keys.create');
    const body = { user_id: team.member.userId };
    expect((await mint(byUserKeys.secret, 'workspace/user', ['completions.write'], body)).status).toBe(200);
    expect((await mint(byUserKeys.secret, 'workspace/user', ['logs.view'], body)).status).toBe(403);
  });
});

describe('a key that changes keys', () => {
  test('widens neither another key nor itself', async () => {
    const target = await workspaceKey('configs.read');
    const key = await adminKey('workspace_service_api_keys.update', 'configs.list');
    expect((await widen(key, target.id, ['configs.read', 'configs.list'])).status).toBe(200);
    expect((await widen(key, target.id, ['configs.read', 'configs.list', 'providers.create'])).status).toBe(403);
    const self = await workspaceKey('workspace_service_api_keys.update');
    expect((await widen(self.secret, self.id, ['workspace_service_api_keys.update', 'logs.view'])).status).toBe(403);
  });

  test('without the right to make keys adds no model traffic', async () => {
    const target = await workspaceKey('configs.read');
    const key = await adminKey('workspace_service_api_keys.update', 'configs.read');
    expect((await widen(key, target.id, ['configs.read', 'completions.write'])).status).toBe(403);
  });

  test('may leave a wider key what it has, and narrow it', async () => {
    const target = await workspaceKey('configs.read', 'providers.create');
    const key = await adminKey('workspace_service_api_keys.update');
    expect((await widen(key, target.id, ['configs.read'])).status).toBe(200);
  });
});

describe('a key that rotates keys', () => {
  test('does not take over a wider one', async () => {
    const wide = await addKey(gateway, {
      organisationId: place.organisationId,
      type: 'organisation-service',
      scopes: ['organisation_users.create', 'audit_logs.list'],
    });
    const refused = await rotate(await adminKey('organisation_service_api_keys.rotate', 'audit_logs.list'), wide.id);
    expect(refused.status).toBe(403);
    expect(JSON.stringify(refused.body)).not.toContain('"key"');
    const equal = await adminKey(
      'organisation_service_api_keys.rotate',
      'audit_logs.list',
      'organisation_users.create',
    );
    expect((await rotate(equal, wide.id)).status).toBe(200);
  });

  test('may rotate itself', async () => {
    const self = await workspaceKey('workspace_service_api_keys.rotate', 'completions.write', 'logs.view');
    expect((await rotate(self.secret, self.id)).status).toBe(200);
  });

  test('needs the right to make keys for one that calls models', async () => {
    const target = await workspaceKey('completions.write');
    expect((await rotate(await adminKey('workspace_service_api_keys.rotate'), target.id)).status).toBe(403);
    const maker = await adminKey('workspace_service_api_keys.rotate', 'workspace_service_api_keys.create');
    expect((await rotate(maker, target.id)).status).toBe(200);
  });
});

describe('people', () => {
  test('rotate no key that holds what a setting keeps from them', async () => {
    const target = await workspaceKey('configs.create');
    const settings = { security_settings: { managersWriteConfigs: false } };
    expect((await gateway.put('/v1/admin/organisation/settings', settings)).status).toBe(200);
    expect((await rotate(team.manager.session, target.id)).status).toBe(403);
    expect((await rotate(team.admin.session, target.id)).status).toBe(200);
    await gateway.put('/v1/admin/organisation/settings', { security_settings: { managersWriteConfigs: true } });
  });

  test('make and rotate no user key of somebody who stands above them', async () => {
    const body = { user_id: team.admin.userId };
    expect((await mint(team.manager.session, 'workspace/user', ['logs.view'], body)).status).toBe(403);
    const theirs = await userKey(team.admin, 'logs.view');
    expect((await rotate(team.manager.session, theirs.id)).status).toBe(403);
    const below = await userKey(team.member, 'logs.view');
    expect((await rotate(team.manager.session, below.id)).status).toBe(200);
  });

  test('rotate their own user key, whatever was put into it', async () => {
    const own = await userKey(team.member, 'completions.write', 'configs.create');
    expect((await rotate(team.member.session, own.id)).status).toBe(200);
  });

  test('reveal no secret of a key that holds more than they do', async () => {
    const admin = await addPerson(gateway, place.organisationId, 'admin');
    const wide = await addKey(gateway, {
      organisationId: place.organisationId,
      workspaceId: place.workspaceId,
      type: 'workspace-service',
      scopes: ['logs.view'],
    });
    await gateway.put('/v1/admin/organisation/settings', { security_settings: { organisationAdminsViewLogs: false } });
    const { body, status } = await gateway.post(`/v1/api-keys/${wide.id}/reveal`, {}, { key: admin.session });
    expect([status, body.data.message]).toEqual([403, expect.stringContaining('logs.view')]);
    await gateway.put('/v1/admin/organisation/settings', { security_settings: { organisationAdminsViewLogs: true } });
  });
});

describe('a key that invites', () => {
  test('makes no admin unless it holds what an admin may do', async () => {
    const key = await adminKey('organisation_users.create');
    expect((await invite(key)).status).toBe(200);
    const refused = await invite(key, { role: 'admin' });
    expect([refused.status, refused.body.data.errorCode]).toEqual([403, 'AB03']);
    expect((await invite(gateway.adminKey, { role: 'admin' })).status).toBe(200);
  });

  test('gives no workspace role and no user key beyond its scopes', async () => {
    const key = await adminKey('organisation_users.create');
    const workspaces = [{ id: place.workspaceId, role: 'member' }];
    expect((await invite(key, { workspaces })).status).toBe(403);
    const maker = await adminKey('organisation_users.create', 'workspace_user_api_keys.create');
    const keyed = { workspaces, workspace_api_key_details: { scopes: ['logs.view'] } };
    expect((await invite(maker, keyed)).status).toBe(403);
    expect((await invite(gateway.adminKey, keyed)).status).toBe(200);
  });

  test('sends no wider invite of somebody else again', async () => {
    const { body } = await invite(gateway.adminKey, { role: 'admin' });
    const resend = (key: string) => gateway.post(`/v1/admin/users/invites/${body.id}/resend`, undefined, { key });
    expect((await resend(await adminKey('organisation_users.create'))).status).toBe(403);
    expect((await resend(place.owner.session)).status).toBe(200);
    expect((await gateway.get(`/v1/admin/users/invites/${body.id}`)).body.invited_by).toBe(place.owner.userId);
  });
});

describe('a key that appoints', () => {
  const member = () => addPerson(gateway, place.organisationId, 'member');

  test('makes nobody an admin of the organisation beyond its scopes', async () => {
    const { userId } = await member();
    const promote = (key: string) => gateway.put(`/v1/admin/users/${userId}`, { role: 'admin' }, { key });
    expect((await promote(await adminKey('organisation_users.update'))).status).toBe(403);
    expect((await promote(gateway.adminKey)).status).toBe(200);
  });

  test('makes nobody an admin of a workspace beyond its scopes', async () => {
    const { userId } = await member();
    const key = await adminKey('workspace_users.create', 'workspace_users.update', 'workspaces.create');
    const users = [{ id: userId, role: 'admin' }];
    const path = `/v1/admin/workspaces/${place.workspaceId}/users`;
    expect((await gateway.post(path, { users }, { key })).status).toBe(403);
    expect((await gateway.post('/v1/admin/workspaces', { name: 'Theirs', users }, { key })).status).toBe(403);
    expect((await gateway.post(path, { users: [{ id: userId }] })).status).toBe(200);
    expect((await gateway.put(`${path}/${userId}`, { role: 'manager' }, { key })).status).toBe(403);
    expect((await gateway.put(`${path}/${userId}`, { role: 'manager' })).status).toBe(200);
  });
});

describe('an invite lives as long as its inviter’s right', () => {
  const accept = (link: string) =>
    gateway.post(
      `/v1/invites/${link.split('/').at(-1)}/accept`,
      { password: 'a password of my own', first_name: 'New', last_name: 'Comer' },
      { key: '' },
    );
  const look = (link: string) => gateway.get(`/v1/invites/${link.split('/').at(-1)}`, { key: '' });

  test('one of an admin who was removed makes nobody an admin', async () => {
    const admin = await addPerson(gateway, place.organisationId, 'admin');
    const { body } = await invite(admin.session, { role: 'admin' });
    expect((await look(body.invite_link)).status).toBe(200);
    await gateway.delete(`/v1/admin/users/${admin.userId}`);
    expect((await look(body.invite_link)).status).toBe(410);
    expect((await accept(body.invite_link)).status).toBe(410);
    const joined = await storeOf(gateway)
      .db.selectFrom('organisation_members')
      .select('user_id')
      .where('provisioned_by', '=', 'invite')
      .execute();
    expect(joined).toEqual([]);
  });

  test('one of an admin who was demoted neither', async () => {
    const admin = await addPerson(gateway, place.organisationId, 'admin');
    const { body } = await invite(admin.session, { role: 'admin' });
    await gateway.put(`/v1/admin/users/${admin.userId}`, { role: 'member' });
    expect((await accept(body.invite_link)).status).toBe(410);
  });

  test('one of a key that was deleted or narrowed neither, until somebody who may sends it again', async () => {
    const key = await addKey(gateway, {
      organisationId: place.organisationId,
      type: 'organisation-service',
      scopes: ['organisation_users.create', 'organisation_users.list'],
    });
    const narrowed = await invite(key.secret);
    await gateway.put(`/v1/api-keys/${key.id}`, { scopes: ['organisation_users.list'] });
    expect((await accept(narrowed.body.invite_link)).status).toBe(410);
    await gateway.delete(`/v1/api-keys/${key.id}`);
    expect((await accept(narrowed.body.invite_link)).status).toBe(410);
    const again = await gateway.post(`/v1/admin/users/invites/${narrowed.body.id}/resend`);
    expect((await accept(again.body.invite_link)).status).toBe(200);
  });
});
