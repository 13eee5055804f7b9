/** Invites, as the answers of the routes for those who run the organisation. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { onEachEngine, type TestGateway } from '../../../test/harness.ts';
import {
  addKey,
  addOrganisation,
  addPerson,
  addWorkspace,
  archiveWorkspace,
  type Home,
  home,
  type Person,
  storeOf,
  type Tenant,
} from '../../../test/people.ts';
import { grantableTo } from '../../identity/scopes.ts';
import { openFields } from '../notices/outbox.ts';

let addresses = 0;
const newAddress = () => `invited-${addresses++}@example.com`;

onEachEngine('invites', (start) => {
  let gateway: TestGateway;
  let place: Home;
  let elsewhere: Tenant;
  let member: Person;

  beforeAll(async () => {
    gateway = await start();
    place = await home(gateway);
    elsewhere = await addOrganisation(gateway);
    member = await addPerson(gateway, place.organisationId, 'member');
  });

  afterAll(() => gateway.stopWithoutFaults());

  const invite = (more: object = {}, key?: string) =>
    gateway.post('/v1/admin/users/invites', { email: newAddress(), role: 'member', ...more }, key ? { key } : {});
  const read = (id: string) => gateway.get(`/v1/users/invites/${id}`);
  const tokenOf = (link: string) => link.split('/').at(-1) ?? '';

  describe('creating', () => {
    test('answers the id and a link with the address under which the caller reached us', async () => {
      const { status, body } = await invite();
      expect(status).toBe(200);
      expect(body).toEqual({ id: expect.any(String), invite_link: expect.any(String) });
      expect(body.invite_link).toStartWith(`${gateway.url}/invites/`);
      expect((await gateway.get(`/v1/invites/${tokenOf(body.invite_link)}`)).status).toBe(200);
    });

    test('keeps only a digest of the token', async () => {
      const { body } = await invite();
      const token = tokenOf(body.invite_link);
      const { db } = storeOf(gateway);
      const stored = [
        ...(await db.selectFrom('invites').selectAll().execute()),
        ...(await db.selectFrom('notices').selectAll().execute()),
        ...(await db.selectFrom('audit_logs').selectAll().execute()),
      ];
      expect(JSON.stringify(stored)).not.toContain(token);
    });

    test('queues a notice to the invited address that names who invites', async () => {
      const email = newAddress();
      const { body } = await invite({ email }, place.owner.session);
      const notices = await storeOf(gateway).db.selectFrom('notices').selectAll().execute();
      const notice = notices.find((row) => row.recipients === JSON.stringify([email]));
      expect(notice).toMatchObject({ template: 'user-invite', status: 'queued' });
      expect(openFields(gateway.app.services.vault, notice?.fields_sealed ?? '')).toEqual({
        organisationName: 'My organisation',
        inviterUserName: 'First Owner',
        inviterEmail: place.owner.email,
        inviteLink: body.invite_link,
      });
    });

    test('leaves an audit row with address and role', async () => {
      const email = newAddress();
      const { body } = await invite({ email, role: 'admin' });
      const row = await storeOf(gateway)
        .db.selectFrom('audit_logs')
        .selectAll()
        .where('resource_id', '=', body.id)
        .executeTakeFirstOrThrow();
      expect(row).toMatchObject({ resource_type: 'invite', action: 'create', user_type: 'api_key' });
      expect(JSON.parse(row.details ?? '')).toEqual({ email, role: 'admin' });
    });

    test('takes workspaces by id or slug and roles in any spelling', async () => {
      const other = await addWorkspace(gateway, place.organisationId, 'Other');
      const workspaces = [{ id: place.workspaceId, role: 'ws-Manager' }, { id: other.slug }];
      const { body } = await invite({ workspaces });
      expect((await read(body.id)).body.workspaces).toEqual([
        { id: place.workspaceId, workspace_id: place.workspaceId, role: 'manager' },
        { id: other.id, workspace_id: other.id, role: 'member' },
      ]);
    });

    test("a workspace that is unknown, archived, another tenant's or named twice is refused with 400", async () => {
      const archived = await addWorkspace(gateway, place.organisationId, 'Archived');
      await archiveWorkspace(gateway, archived.id);
      for (const id of ['ws-unknown', archived.slug, elsewhere.workspaceId]) {
        const { status, body } = await invite({ workspaces: [{ id, role: 'member' }] });
        expect(status).toBe(400);
        expect(body.data.errors[0].path).toBe('workspaces.0.id');
      }
      const twice = await invite({ workspaces: [{ id: place.workspaceId }, { id: place.workspaceId }] });
      expect(twice.body.data.errors[0].path).toBe('workspaces.1.id');
    });

    test('scopes that no user key may hold are refused with 400 and named', async () => {
      for (const scope of ['workspace_user_api_keys.create', 'nothing.read', '']) {
        const { status, body } = await invite({ workspace_api_key_details: { scopes: [scope] } });
        expect(status).toBe(400);
        expect(body.data.errors[0].path).toBe('workspace_api_key_details.scopes.0');
        expect(body.data.message).toContain(scope);
      }
      expect((await invite({ workspace_api_key_details: { scopes: [] } })).status).toBe(400);
      expect((await invite({ workspace_api_key_details: {} })).status).toBe(400);
    });

    test('every scope of a user key is accepted, in all spellings', async () => {
      const scopes = [...grantableTo('U'), 'completions:write', 'mcp-servers.read'];
      expect((await invite({ workspace_api_key_details: { scopes } })).status).toBe(200);
    });

    test('a person may not give away a scope that a setting keeps from them', async () => {
      const { db } = storeOf(gateway);
      const { settings } = await db
        .selectFrom('organisations')
        .select('settings')
        .where('id', '=', place.organisationId)
        .executeTakeFirstOrThrow();
      const admin = await addPerson(gateway, place.organisationId, 'admin');
      const save = (value: string) =>
        db.updateTable('organisations').set({ settings: value }).where('id', '=', place.organisationId).execute();
      await save(settings.replace('"organisationAdminsViewLogs":true', '"organisationAdminsViewLogs":false'));
      const wish = { workspaces: [{ id: place.workspaceId }], workspace_api_key_details: { scopes: ['logs.view'] } };
      const { status, body } = await invite(wish, admin.session);
      expect(status).toBe(403);
      expect(body.data.message).toContain('logs.view');
      expect((await invite(wish)).status).toBe(200);
      await save(settings);
    });

    test.each([
      ['an address that is none', { email: 'nobody' }, 'email'],
      ['no address', { email: undefined }, 'email'],
      ['a role that does not exist', { role: 'boss' }, 'role'],
      ['the role of owner', { role: 'owner' }, 'role'],
      ['no role', { role: undefined }, 'role'],
      ['a workspace role that does not exist', { workspaces: [{ id: 'x', role: 'owner' }] }, 'workspaces.0.role'],
    ])('%s is refused with 400', async (_, wrong, path) => {
      const { status, body } = await invite(wrong);
      expect(status).toBe(400);
      expect(body.data.errors[0].path).toBe(path);
    });

    test('an active member is refused with 409', async () => {
      const { status, body } = await invite({ email: member.email.toUpperCase() });
      expect({ status, code: body.data.errorCode }).toEqual({ status: 409, code: 'AB07' });
    });

    test('a second invite while one is pending is refused with 409, in another organisation it is not', async () => {
      const email = newAddress();
      expect((await invite({ email })).status).toBe(200);
      const { status, body } = await invite({ email });
      expect({ status, code: body.data.errorCode }).toEqual({ status: 409, code: 'AB07' });
      expect((await invite({ email }, elsewhere.adminKey)).status).toBe(200);
    });

    test('of two invites sent at once to one address one is refused', async () => {
      const email = newAddress();
      const replies = await Promise.all([invite({ email }), invite({ email })]);
      expect(replies.map((reply) => reply.status).sort()).toEqual([200, 409]);
    });

    test('after the first one was cancelled or ran out, the address may be invited again', async () => {
      const email = newAddress();
      const first = await invite({ email });
      await gateway.delete(`/v1/users/invites/${first.body.id}`);
      expect((await invite({ email })).status).toBe(200);
      gateway.clock.advance({ days: 2 });
      expect((await invite({ email })).status).toBe(200);
      place.owner.session = (await home(gateway)).owner.session;
    });
  });

  describe('listing and reading', () => {
    test('shows the whole record and never the link', async () => {
      const { body } = await invite({ email: 'Read.Me@Example.com' }, place.owner.session);
      const reply = await read(body.id);
      expect(reply.status).toBe(200);
      expect(reply.body).toEqual({
        object: 'invite',
        id: body.id,
        email: 'read.me@example.com',
        role: 'member',
        status: 'pending',
        workspaces: [],
        invited_by: place.owner.userId,
        created_at: expect.any(String),
        expires_at: expect.any(String),
        accepted_at: null,
      });
      const hours = (Date.parse(reply.body.expires_at) - Date.parse(reply.body.created_at)) / 3_600_000;
      expect(hours).toBe(48);
    });

    test('filters by role, address and status; nothing of another organisation', async () => {
      const email = newAddress();
      const { body } = await invite({ email, role: 'admin' });
      const idsOf = async (query: string, key?: string) =>
        (await gateway.get(`/v1/users/invites${query}`, key ? { key } : {})).body.data.map((i: { id: string }) => i.id);
      expect(await idsOf(`?email=${email.toUpperCase()}`)).toEqual([body.id]);
      expect(await idsOf(`?email=${email}&role=member`)).toEqual([]);
      expect(await idsOf(`?email=${email}&status=pending`)).toEqual([body.id]);
      expect(await idsOf(`?email=${email}&status=accepted`)).toEqual([]);
      expect(await idsOf('', elsewhere.adminKey)).not.toContain(body.id);
      expect((await gateway.get('/v1/users/invites?status=lost')).status).toBe(400);
    });

    test('pages newest first', async () => {
      const { body } = await invite();
      const page = await gateway.get('/v1/admin/users/invites?pageSize=1');
      expect(page.body.data.map((row: { id: string }) => row.id)).toEqual([body.id]);
      expect(page.body.total).toBeGreaterThan(1);
    });

    test("an unknown id, another tenant's or no id at all is answered with 404", async () => {
      const theirs = await invite({}, elsewhere.adminKey);
      for (const id of [Bun.randomUUIDv7(), theirs.body.id]) {
        expect((await read(id)).body.data.errorCode).toBe('AB08');
        expect((await gateway.delete(`/v1/users/invites/${id}`)).status).toBe(404);
        expect((await gateway.post(`/v1/users/invites/${id}/resend`)).status).toBe(404);
      }
      expect((await read('not-an-id')).status).toBe(404);
    });
  });

  describe('cancelling', () => {
    test('makes the invite cancelled and its link gone', async () => {
      const { body } = await invite();
      expect(await gateway.delete(`/v1/admin/users/invites/${body.id}`)).toMatchObject({ status: 200, body: {} });
      expect((await read(body.id)).body.status).toBe('cancelled');
      expect((await gateway.get(`/v1/invites/${tokenOf(body.invite_link)}`)).status).toBe(410);
      const row = await storeOf(gateway)
        .db.selectFrom('audit_logs')
        .select(['resource_type', 'action'])
        .where('resource_id', '=', body.id)
        .where('method', '=', 'DELETE')
        .executeTakeFirstOrThrow();
      expect(row).toEqual({ resource_type: 'invite', action: 'delete' });
    });

    test('an accepted invite is refused with 400', async () => {
      const { body } = await invite();
      const details = { password: 'a long enough one', first_name: 'A', last_name: 'B' };
      await gateway.post(`/v1/invites/${tokenOf(body.invite_link)}/accept`, details, { key: '' });
      expect((await gateway.delete(`/v1/users/invites/${body.id}`)).status).toBe(400);
      expect((await gateway.post(`/v1/users/invites/${body.id}/resend`)).status).toBe(400);
    });
  });

  describe('sending again', () => {
    test('makes a new link, kills the old one and restarts the two days', async () => {
      const { body } = await invite();
      const before = await read(body.id);
      gateway.clock.advance({ hours: 5 });
      const again = await gateway.post(`/v1/admin/users/invites/${body.id}/resend`);
      expect(again.status).toBe(200);
      expect(Object.keys(again.body).sort()).toEqual(['inviteLink', 'invite_link']);
      expect(again.body.inviteLink).toBe(again.body.invite_link);
      expect(again.body.invite_link).not.toBe(body.invite_link);
      expect((await gateway.get(`/v1/invites/${tokenOf(body.invite_link)}`)).status).toBe(404);
      expect((await gateway.get(`/v1/invites/${tokenOf(again.body.inviteLink)}`)).status).toBe(200);
      const moved = Date.parse((await read(body.id)).body.expires_at) - Date.parse(before.body.expires_at);
      expect(moved / 3_600_000).toBeGreaterThanOrEqual(5);
    });

    test('queues a second notice and leaves an audit row', async () => {
      const email = newAddress();
      const { body } = await invite({ email });
      await gateway.post(`/v1/users/invites/${body.id}/resend`);
      const { db } = storeOf(gateway);
      const notices = await db
        .selectFrom('notices')
        .select('id')
        .where('recipients', '=', JSON.stringify([email]))
        .execute();
      expect(notices).toHaveLength(2);
      const actions = await db.selectFrom('audit_logs').select('action').where('resource_id', '=', body.id).execute();
      expect(actions.map((row) => row.action).sort()).toEqual(['create', 'update']);
    });

    test('revives an expired invite', async () => {
      const { body } = await invite();
      gateway.clock.advance({ days: 3 });
      await gateway.app.jobs.runOnce('invite-expiry');
      expect((await gateway.post(`/v1/users/invites/${body.id}/resend`)).status).toBe(200);
      expect((await read(body.id)).body.status).toBe('pending');
    });

    test('a cancelled invite is refused with 400', async () => {
      const { body } = await invite();
      await gateway.delete(`/v1/users/invites/${body.id}`);
      const { status, body: refusal } = await gateway.post(`/v1/users/invites/${body.id}/resend`);
      expect(status).toBe(400);
      expect(refusal.data.message).toContain('cancelled');
    });

    test('is refused with 409 when the address was invited anew or belongs to a member by now', async () => {
      const email = newAddress();
      const { body } = await invite({ email });
      gateway.clock.advance({ days: 3 });
      const second = await invite({ email });
      expect((await gateway.post(`/v1/users/invites/${body.id}/resend`)).status).toBe(409);
      expect((await gateway.post(`/v1/users/invites/${second.body.id}/resend`)).status).toBe(200);
      await addPerson(gateway, place.organisationId, 'member', { email });
      expect((await gateway.post(`/v1/users/invites/${second.body.id}/resend`)).status).toBe(409);
    });
  });

  describe('expiry', () => {
    test('counts from the second it is due, and the job writes it down', async () => {
      const email = newAddress();
      const { body } = await invite({ email });
      const statusIn = (status: string) => gateway.get(`/v1/users/invites?email=${email}&status=${status}`);
      gateway.clock.advance({ hours: 47, minutes: 59 });
      expect((await read(body.id)).body.status).toBe('pending');
      gateway.clock.advance({ minutes: 1 });
      expect((await read(body.id)).body.status).toBe('expired');
      expect((await statusIn('pending')).body.total).toBe(0);
      expect((await statusIn('expired')).body.total).toBe(1);
      expect((await gateway.get(`/v1/invites/${tokenOf(body.invite_link)}`)).status).toBe(410);
      const stored = () =>
        storeOf(gateway).db.selectFrom('invites').select('status').where('id', '=', body.id).executeTakeFirstOrThrow();
      expect((await stored()).status).toBe('pending');
      await gateway.app.jobs.runOnce('invite-expiry');
      expect((await stored()).status).toBe('expired');
      expect((await statusIn('expired')).body.total).toBe(1);
    });

    test('the job leaves pending, accepted and cancelled invites alone', async () => {
      const pending = await invite();
      const cancelled = await invite();
      await gateway.delete(`/v1/users/invites/${cancelled.body.id}`);
      await gateway.app.jobs.runOnce('invite-expiry');
      expect((await read(pending.body.id)).body.status).toBe('pending');
      gateway.clock.advance({ days: 3 });
      await gateway.app.jobs.runOnce('invite-expiry');
      expect((await read(cancelled.body.id)).body.status).toBe('cancelled');
    });
  });

  describe('who may call', () => {
    const nobody = '00000000-0000-4000-8000-000000000000';
    test.each([
      ['POST', '/v1/admin/users/invites'],
      ['GET', '/v1/users/invites'],
      ['GET', `/v1/users/invites/${nobody}`],
      ['DELETE', `/v1/users/invites/${nobody}`],
      ['POST', `/v1/admin/users/invites/${nobody}/resend`],
    ])('%s %s is refused to workspace keys, members and admin keys without the scope', async (method, path) => {
      const organisationId = place.organisationId;
      const scopeless = await addKey(gateway, {
        organisationId,
        type: 'organisation-service',
        scopes: ['audit_logs.list'],
      });
      const someone = await addPerson(gateway, organisationId, 'member', {
        workspaces: { [place.workspaceId]: 'admin' },
      });
      for (const key of [gateway.workspaceKey, someone.session, scopeless.secret]) {
        expect((await gateway.ask(method, path, { key })).body.data.errorCode).toBe('AB03');
      }
      expect((await gateway.ask(method, path, { key: '' })).body.data.errorCode).toBe('AB05');
    });
  });
});
