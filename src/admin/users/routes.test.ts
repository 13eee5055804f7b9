/** Users of an organisation, as the answers of their routes. */
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
  keyRows,
  type Person,
  storeOf,
  type Tenant,
} from '../../../test/people.ts';
import { createKeyring } from '../../identity/keyring.ts';
import { joinOrganisation } from './membership.ts';

onEachEngine('users', (start) => {
  let gateway: TestGateway;
  let place: Home;
  let elsewhere: Tenant;
  let admin: Person;
  let member: Person;

  beforeAll(async () => {
    gateway = await start();
    place = await home(gateway);
    elsewhere = await addOrganisation(gateway);
    admin = await addPerson(gateway, place.organisationId, 'admin');
    member = await addPerson(gateway, place.organisationId, 'member', {
      workspaces: { [place.workspaceId]: 'member' },
    });
  });

  afterAll(() => gateway.stopWithoutFaults());

  const person = (role: 'owner' | 'admin' | 'member') => addPerson(gateway, place.organisationId, role);

  describe('listing', () => {
    test('shows every active user of the organisation and nobody of another', async () => {
      const { status, body } = await gateway.get('/v1/admin/users');
      expect(status).toBe(200);
      expect(body.object).toBe('list');
      expect(body.total).toBe(body.data.length);
      const emails = body.data.map((user: { email: string }) => user.email);
      expect(emails).toContain(place.owner.email);
      expect(emails).toContain(member.email);
      expect(emails).not.toContain(elsewhere.ownerEmail);
    });

    test('shows the record without workspaces and without anything secret', async () => {
      const { body } = await gateway.get(`/v1/users?email=${member.email.toUpperCase()}`);
      expect(body.total).toBe(1);
      expect(body.data[0]).toEqual({
        object: 'user',
        id: member.userId,
        first_name: 'Ada',
        last_name: expect.any(String),
        email: member.email,
        role: 'member',
        status: 'active',
        provisioned_by: 'signup',
        last_login_at: null,
        created_at: expect.any(String),
        last_updated_at: expect.any(String),
        updated_at: expect.any(String),
      });
    });

    test('filters by role', async () => {
      const { body } = await gateway.get('/v1/users?role=owner');
      expect(body.data.map((user: { id: string }) => user.id)).toEqual([place.owner.userId]);
    });

    test('an address that belongs to nobody here matches nothing', async () => {
      expect((await gateway.get('/v1/users?email=nobody@example.com')).body).toMatchObject({ total: 0, data: [] });
      expect((await gateway.get(`/v1/users?email=${elsewhere.ownerEmail}`)).body.total).toBe(0);
    });

    test('shows archived users only when asked for them', async () => {
      const gone = await person('member');
      await gateway.delete(`/v1/users/${gone.userId}`);
      const idsOf = async (query: string) =>
        (await gateway.get(`/v1/users${query}`)).body.data.map((user: { id: string }) => user.id);
      expect(await idsOf('')).not.toContain(gone.userId);
      expect(await idsOf('?status=archived')).toContain(gone.userId);
    });

    test('pages in both spellings, newest first, with the total of all', async () => {
      const last = await person('member');
      const { body } = await gateway.get('/v1/users?currentPage=0&pageSize=1');
      expect(body.data.map((user: { id: string }) => user.id)).toEqual([last.userId]);
      expect(body.total).toBeGreaterThan(1);
      const next = await gateway.get('/v1/users?current_page=1&page_size=1');
      expect(next.body.data[0].id).not.toBe(last.userId);
      const past = await gateway.get('/v1/users?current_page=1000&page_size=10');
      expect(past.body).toMatchObject({ data: [], total: body.total });
    });

    test('a role that does not exist is refused with 400', async () => {
      const { status, body } = await gateway.get('/v1/users?role=boss');
      expect(status).toBe(400);
      expect(body.data).toMatchObject({ errorCode: 'AB01', errors: [{ path: 'role', location: 'query' }] });
    });
  });

  describe('reading', () => {
    test('a member has the slugs of the workspaces they belong to, archived ones left out', async () => {
      const [one, two] = [
        await addWorkspace(gateway, place.organisationId, 'One'),
        await addWorkspace(gateway, place.organisationId, 'Two'),
      ];
      const someone = await addPerson(gateway, place.organisationId, 'member', {
        workspaces: { [one.id]: 'member', [two.id]: 'manager' },
      });
      await archiveWorkspace(gateway, two.id);
      const { status, body } = await gateway.get(`/v1/admin/users/${someone.userId}`);
      expect(status).toBe(200);
      expect(body).toMatchObject({ object: 'user', id: someone.userId, role: 'member', workspace_ids: [one.slug] });
    });

    test('an admin has all active workspaces of the organisation and none of another', async () => {
      const { body } = await gateway.get(`/v1/users/${admin.userId}`);
      const slugs = await storeOf(gateway)
        .db.selectFrom('workspaces')
        .select('slug')
        .where('organisation_id', '=', place.organisationId)
        .where('status', '=', 'active')
        .execute();
      expect(body.workspace_ids.sort()).toEqual(slugs.map((row) => row.slug).sort());
    });

    test("an id that nobody has, another tenant's, or no id at all is answered with 404", async () => {
      expect((await gateway.get(`/v1/users/${Bun.randomUUIDv7()}`)).body.data.errorCode).toBe('AB08');
      expect((await gateway.get(`/v1/users/${elsewhere.ownerId}`)).body.data.errorCode).toBe('AB08');
      expect((await gateway.get('/v1/users/not-an-id')).status).toBe(404);
    });
  });

  describe('changing the role', () => {
    test('takes effect at once and leaves an audit row with the old and the new role', async () => {
      const someone = await person('member');
      expect((await gateway.get('/v1/users', { key: someone.session })).status).toBe(403);
      const { status, body } = await gateway.put(`/v1/admin/users/${someone.userId}`, { role: 'admin' });
      expect({ status, body }).toEqual({ status: 200, body: {} });
      expect((await gateway.get('/v1/users', { key: someone.session })).status).toBe(200);
      const row = await storeOf(gateway)
        .db.selectFrom('audit_logs')
        .selectAll()
        .where('resource_id', '=', someone.userId)
        .executeTakeFirstOrThrow();
      expect(row).toMatchObject({ resource_type: 'user', action: 'update', response_status_code: 200 });
      expect(JSON.parse(row.details ?? '')).toMatchObject({ old_role: 'member', role: 'admin' });
    });

    test("takes the rights of a demoted admin's keys along", async () => {
      const someone = await person('admin');
      const key = await addKey(gateway, {
        ...place,
        userId: someone.userId,
        type: 'workspace-user',
        scopes: ['workspaces.list'],
      });
      const { store, feed } = gateway.app.services;
      const keyring = createKeyring(store.db, feed, gateway.clock);
      expect((await keyring.find(key.secret))?.rights.workspaces.get(place.workspaceId)?.size).toBe(1);
      expect((await gateway.put(`/v1/users/${someone.userId}`, { role: 'member' })).status).toBe(200);
      expect((await keyring.find(key.secret))?.rights.workspaces.get(place.workspaceId)?.size).toBe(0);
    });

    test('the same role again is refused with 400', async () => {
      const { status, body } = await gateway.put(`/v1/users/${member.userId}`, { role: 'member' });
      expect(status).toBe(400);
      expect(body.data.errors[0].path).toBe('role');
    });

    test('to owner is refused with 400 and a word where owners are made', async () => {
      const { status, body } = await gateway.put(`/v1/users/${member.userId}`, { role: 'owner' });
      expect(status).toBe(400);
      expect(body.data.message).toContain('transferring ownership');
    });

    test('a missing role is refused with 400, other keys in the body are ignored', async () => {
      expect((await gateway.put(`/v1/users/${member.userId}`, {})).status).toBe(400);
      const someone = await person('member');
      const body = { role: 'admin', userId: someone.userId, anything: 1 };
      expect((await gateway.put(`/v1/users/${someone.userId}`, body)).status).toBe(200);
    });

    test('of an owner is refused to an admin with 403', async () => {
      const other = await person('owner');
      const ask = { key: admin.session };
      expect((await gateway.put(`/v1/users/${other.userId}`, { role: 'member' }, ask)).body.data.errorCode).toBe(
        'AB03',
      );
      expect((await gateway.put(`/v1/users/${other.userId}`, { role: 'admin' })).status).toBe(200);
    });

    test('of the last owner is refused with 400', async () => {
      const { status, body } = await gateway.put(`/v1/users/${place.owner.userId}`, { role: 'admin' });
      expect(status).toBe(400);
      expect(body.data.message).toContain('last owner');
    });

    test('two owners who demote each other at once leave one', async () => {
      const other = await person('owner');
      const replies = await Promise.all([
        gateway.put(`/v1/users/${other.userId}`, { role: 'admin' }),
        gateway.put(`/v1/users/${place.owner.userId}`, { role: 'admin' }),
      ]);
      expect(replies.map((reply) => reply.status).sort()).toEqual([200, 400]);
      await storeOf(gateway)
        .db.updateTable('organisation_members')
        .set({ role: 'owner' })
        .where('user_id', '=', place.owner.userId)
        .execute();
      await storeOf(gateway)
        .db.updateTable('organisation_members')
        .set({ role: 'admin' })
        .where('user_id', '=', other.userId)
        .execute();
    });

    test("of another tenant's user is answered with 404", async () => {
      expect((await gateway.put(`/v1/users/${elsewhere.ownerId}`, { role: 'member' })).status).toBe(404);
    });
  });

  describe('removing', () => {
    test('archives memberships and keys, ends sessions and cancels open invites', async () => {
      const email = 'leaver@example.com';
      const invited = await gateway.post('/v1/users/invites', { email, role: 'member' });
      const someone = await addPerson(gateway, place.organisationId, 'member', {
        email,
        workspaces: { [place.workspaceId]: 'manager' },
      });
      const key = await addKey(gateway, {
        ...place,
        userId: someone.userId,
        type: 'workspace-user',
        scopes: ['completions.write'],
      });
      expect((await gateway.get('/v1/users', { key: key.secret })).status).toBe(403);
      const { status, body } = await gateway.delete(`/v1/admin/users/${someone.userId}`, { id: someone.userId });
      expect({ status, body }).toEqual({ status: 200, body: {} });
      expect((await gateway.get('/v1/users', { key: key.secret })).status).toBe(401);
      expect((await gateway.get('/v1/users', { key: someone.session })).status).toBe(401);
      expect((await gateway.get(`/v1/users/${someone.userId}`)).body).toMatchObject({
        status: 'archived',
        workspace_ids: [],
      });
      const { db } = storeOf(gateway);
      const standing = await db
        .selectFrom('workspace_members')
        .select('status')
        .where('user_id', '=', someone.userId)
        .execute();
      expect(standing).toEqual([{ status: 'archived' }]);
      expect((await gateway.get(`/v1/users/invites/${invited.body.id}`)).body.status).toBe('cancelled');
      expect((await gateway.delete(`/v1/users/${someone.userId}`)).status).toBe(404);
      const [row, ...more] = await keyRows(gateway, key.id);
      expect([row?.action, more]).toEqual(['delete', []]);
      expect(JSON.parse(row?.details ?? '')).toMatchObject({ user_id: someone.userId, reason: 'owner removed' });
    });

    test('keeps the person in their other organisations', async () => {
      const both = await addPerson(gateway, elsewhere.organisationId, 'member');
      await joinOrganisation(storeOf(gateway).db, gateway.clock.now(), {
        organisationId: place.organisationId,
        userId: both.userId,
        role: 'member',
        provisionedBy: 'invite',
      });
      expect((await gateway.delete(`/v1/users/${both.userId}`)).status).toBe(200);
      const there = await gateway.get(`/v1/users/${both.userId}`, { key: elsewhere.adminKey });
      expect(there.body).toMatchObject({ status: 'active' });
    });

    test('of oneself is refused with 400', async () => {
      const { status, body } = await gateway.delete(`/v1/users/${admin.userId}`, undefined, { key: admin.session });
      expect(status).toBe(400);
      expect(body.data.message).toContain('yourself');
    });

    test('of an owner is refused to an admin with 403 and open to an owner', async () => {
      const other = await person('owner');
      expect((await gateway.delete(`/v1/users/${other.userId}`, undefined, { key: admin.session })).status).toBe(403);
      expect((await gateway.delete(`/v1/users/${other.userId}`, undefined, { key: place.owner.session })).status).toBe(
        200,
      );
    });

    test('of the last owner is refused with 400, to the owner as to an admin key', async () => {
      for (const key of [gateway.adminKey, place.owner.session]) {
        const { status, body } = await gateway.delete(`/v1/users/${place.owner.userId}`, undefined, { key });
        expect(status).toBe(400);
        expect(body.data.message).toContain('last owner');
      }
    });

    test("of another tenant's user is answered with 404 and changes nothing there", async () => {
      expect((await gateway.delete(`/v1/users/${elsewhere.ownerId}`)).status).toBe(404);
      const there = await gateway.get(`/v1/users/${elsewhere.ownerId}`, { key: elsewhere.adminKey });
      expect(there.body.status).toBe('active');
    });
  });

  describe('who may call', () => {
    const nobody = '00000000-0000-4000-8000-000000000000';
    const calls: [string, string][] = [
      ['GET', '/v1/admin/users'],
      ['GET', `/v1/admin/users/${nobody}`],
      ['PUT', `/v1/admin/users/${nobody}`],
      ['DELETE', `/v1/admin/users/${nobody}`],
    ];

    test.each(calls)(
      '%s %s is refused to workspace keys, members and admin keys without the scope',
      async (method, path) => {
        const ask = (key: string) =>
          gateway.ask(method, path, { key, body: method === 'PUT' ? { role: 'admin' } : undefined });
        const scopeless = await addKey(gateway, {
          organisationId: place.organisationId,
          type: 'organisation-service',
          scopes: ['audit_logs.list'],
        });
        for (const key of [gateway.workspaceKey, member.session, scopeless.secret]) {
          const { status, body } = await ask(key);
          expect({ status, code: body.data.errorCode }).toEqual({ status: 403, code: 'AB03' });
        }
        expect((await ask('')).body.data.errorCode).toBe('AB05');
        expect((await ask('wrong')).status).toBe(401);
      },
    );
  });
});
