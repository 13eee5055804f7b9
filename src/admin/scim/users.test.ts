/** SCIM users: accounts, roles, the end of access, and everything that is refused. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onEachEngine, startGateway, type TestGateway } from '../../../test/harness.ts';
import { addKey, addOrganisation, addPerson, type Home, home, signIn, storeOf } from '../../../test/people.ts';
import { openScim, type ScimDoor, scimPeople, verifyDomain } from '../../../test/scim-world.ts';
import { newMigratedDatabase, postgresInstalled } from '../../../test/servers/postgres.ts';
import { startApp } from '../../app.ts';
import { readEnvironment } from '../../environment.ts';

const filtered = (filter: string) => `/Users?filter=${encodeURIComponent(filter)}`;

onEachEngine('SCIM users', (start) => {
  let gateway: TestGateway;
  let here: Home;
  let door: ScimDoor;
  let count = 0;
  beforeAll(async () => {
    gateway = await start();
    here = await home(gateway);
    door = await openScim(gateway);
  });
  afterAll(() => gateway.stopWithoutFaults());

  const { fresh, create, patch } = scimPeople(() => door);

  describe('the door', () => {
    test('opens to the token alone, on both bases', async () => {
      const ask = (path: string, authorization?: string) =>
        gateway.ask('GET', path, { key: '', headers: authorization ? { authorization } : {} });
      const token = `Bearer ${door.token}`;
      expect((await ask('/v1/scim/Users', token)).status).toBe(200);
      expect((await ask(`${door.base}/Users`, token)).status).toBe(200);
      expect((await ask(`/v1/scim/${door.organisationId}/Users`, token)).status).toBe(200);
      for (const wrong of [undefined, 'Bearer nothing', token.slice(0, -1), `Bearer ${gateway.adminKey}`]) {
        const reply = await ask('/v1/scim/Users', wrong);
        expect(reply).toMatchObject({
          status: 401,
          body: { schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'], status: '401' },
        });
      }
      const withKey = await gateway.get('/v1/scim/Users');
      expect(withKey.status).toBe(401);
      expect((await gateway.get('/v1/users', { key: door.token })).status).toBe(401);
    });

    test('another organisation in the path is 403, a path that is none 404, a method that is none 405', async () => {
      const headers = { authorization: `Bearer ${door.token}` };
      const ask = (method: string, path: string) => gateway.ask(method, path, { key: '', headers });
      expect((await ask('GET', `/v2/scim/${Bun.randomUUIDv7()}/Users`)).status).toBe(403);
      expect((await ask('GET', `${door.base}/users`)).body.status).toBe('404');
      expect((await ask('GET', '/v1/scim/nothing')).body.status).toBe('404');
      expect((await ask('DELETE', `${door.base}/Users`)).status).toBe(405);
      expect((await ask('POST', `${door.base}/Bulk`)).status).toBe(501);
    });

    test('a tenant never sees another one’s people', async () => {
      const elsewhere = await addOrganisation(gateway);
      const theirs = await openScim(gateway, 'else.test', elsewhere);
      const { body } = await theirs.ask('POST', '/Users', { userName: 'eve@else.test' });
      for (const method of ['GET', 'DELETE']) expect((await door.ask(method, `/Users/${body.id}`)).status).toBe(404);
      expect((await patch(body.id, { op: 'replace', path: 'active', value: false })).status).toBe(404);
      expect((await door.ask('GET', filtered('userName eq "eve@else.test"'))).body.totalResults).toBe(0);
      const list = (await theirs.ask('GET', '/Users')).body.Resources.map(
        (user: { userName: string }) => user.userName,
      );
      expect(list.sort()).toEqual(['eve@else.test', elsewhere.ownerEmail].sort());
    });
  });

  describe('making', () => {
    test('an address of a domain that is not verified here is refused and leaves nobody', async () => {
      await addOrganisation(gateway);
      const reply = await door.ask('POST', '/Users', { userName: 'mallory@stranger.test' });
      expect(reply).toMatchObject({ status: 400, body: { scimType: 'invalidValue', status: '400' } });
      const known = await storeOf(gateway)
        .db.selectFrom('users')
        .select('id')
        .where('email', '=', 'mallory@stranger.test')
        .execute();
      expect(known).toEqual([]);
      const rowsOfRefusal = () =>
        storeOf(gateway)
          .db.selectFrom('audit_logs')
          .select(['user_type', 'response_status_code', 'resource_type'])
          .where('request_body', 'like', '%mallory@stranger.test%')
          .execute();
      let refusal = await rowsOfRefusal();
      // Rows of refusals are stored by themselves, soon after the answer.
      for (const end = Date.now() + 5_000; refusal.length === 0 && Date.now() < end; refusal = await rowsOfRefusal());
      expect(refusal).toEqual([{ user_type: 'scim', response_status_code: 400, resource_type: 'user' }]);
    });

    test('an address that belongs here already is 409 uniqueness, in any case', async () => {
      const { userName } = await create();
      const again = await door.ask('POST', '/Users', { userName: userName.toUpperCase() });
      expect(again).toMatchObject({ status: 409, body: { scimType: 'uniqueness' } });
      const other = await create();
      const renamed = await patch(other.id, { op: 'replace', path: 'userName', value: userName });
      expect(renamed).toMatchObject({ status: 409, body: { scimType: 'uniqueness' } });
    });

    test('somebody of another organisation becomes a member with the same account', async () => {
      const elsewhere = await addOrganisation(gateway);
      const email = fresh();
      const person = await addPerson(gateway, elsewhere.organisationId, 'member', { email });
      const { status, body } = await door.ask('POST', '/Users', { userName: email });
      expect([status, body.id]).toEqual([201, person.userId]);
      expect((await gateway.get(`/v1/users/${person.userId}`)).body.provisioned_by).toBe('scim');
    });

    test('names are split from displayName where there is no name', async () => {
      const { body } = await door.ask('POST', '/Users', { userName: fresh(), displayName: 'Ada King Lovelace' });
      expect(body.name).toEqual({ givenName: 'Ada', familyName: 'King Lovelace' });
    });

    test('roles come in every form; unknown words are member, the marker of groups says nothing', async () => {
      const roleOf = async (roles: unknown) => (await create({ roles })).roles;
      expect(await roleOf(['Admin'])).toEqual([{ value: 'admin' }]);
      expect(await roleOf([{ value: 'member' }, { value: 'ADMIN' }])).toEqual([{ value: 'admin' }]);
      expect(await roleOf('[{"value":"admin"}]')).toEqual([{ value: 'admin' }]);
      expect(await roleOf(['Wizard'])).toEqual([{ value: 'member' }]);
      expect(await roleOf([{ value: 'group' }])).toBeUndefined();
      expect(await roleOf(undefined)).toBeUndefined();
    });

    test('wrong values are 400 invalidValue that names the attribute', async () => {
      for (const [fields, named] of [
        [{ userName: '' }, 'userName'],
        [{ userName: 'no-address' }, 'emails'],
        [{ emails: [{ value: 'no address' }] }, 'emails.0.value'],
        [{ active: 'perhaps' }, 'active'],
        [{ title: 'x'.repeat(300) }, 'title'],
        [{ name: 'Ada' }, 'name'],
        [{ emails: Array.from({ length: 21 }, () => ({ value: 'a@acme.test' })) }, 'emails'],
      ] as const) {
        const { status, body } = await door.ask('POST', '/Users', { userName: fresh(), ...fields });
        expect([status, body.scimType]).toEqual([400, 'invalidValue']);
        expect(body.detail).toContain(named);
      }
      const { body } = await door.ask('POST', '/Users', '{"userName":');
      expect(body).toMatchObject({ status: '400', scimType: 'invalidSyntax' });
      expect((await door.ask('POST', '/Users', '[]')).body.scimType).toBe('invalidSyntax');
      expect((await door.ask('POST', '/Users', { userName: 'a\u0000b' })).status).toBe(400);
    });
  });

  describe('the end of access', () => {
    const equip = async () => {
      const { id, userName } = await create();
      const session = await signIn(gateway, here.organisationId, id);
      const { store, clock } = gateway.app.services;
      await store.db
        .insertInto('workspace_members')
        .values({
          workspace_id: here.workspaceId,
          user_id: id,
          organisation_id: here.organisationId,
          role: 'member',
          status: 'active',
          created_at: clock.now().toISOString(),
          last_updated_at: clock.now().toISOString(),
        })
        .execute();
      const key = await addKey(gateway, { ...here, userId: id, type: 'workspace-user', scopes: ['completions.write'] });
      expect((await gateway.get('/v1/auth/self', { key: session })).status).toBe(200);
      expect((await gateway.get('/v1/users', { key: key.secret })).status).toBe(403);
      return { id, userName, session, key };
    };
    const expectGone = async ({ session, key }: { session: string; key: { id: string; secret: string } }) => {
      expect((await gateway.get('/v1/auth/self', { key: session })).status).toBe(401);
      expect((await gateway.get('/v1/users', { key: key.secret })).status).toBe(401);
      const rows = await storeOf(gateway).db.selectFrom('api_keys').select('status').where('id', '=', key.id).execute();
      expect(rows).toEqual([{ status: 'archived' }]);
    };

    test('whoever is suspended invites nobody any more', async () => {
      const admin = await addPerson(gateway, here.organisationId, 'admin', { email: fresh() });
      const email = `invited-${count++}@elsewhere.test`;
      const invited = await gateway.post('/v1/admin/users/invites', { email, role: 'admin' }, { key: admin.session });
      expect(invited.status).toBe(200);
      const link = `/v1/invites/${invited.body.invite_link.split('/').at(-1)}`;
      expect((await gateway.get(link, { key: '' })).status).toBe(200);
      expect((await patch(admin.userId, { op: 'replace', path: 'active', value: false })).status).toBe(200);
      expect((await gateway.get(link, { key: '' })).status).toBe(410);
      const accepted = { password: 'a password of my own', first_name: 'New', last_name: 'Comer' };
      expect((await gateway.post(`${link}/accept`, accepted, { key: '' })).status).toBe(410);
    });

    test('active: false ends sessions, keys and memberships at once, and the person can come back', async () => {
      const person = await equip();
      const { body } = await patch(person.id, { op: 'replace', value: { active: false } });
      expect(body.active).toBe(false);
      await expectGone(person);
      expect(
        (await door.ask('GET', filtered(`userName eq "${person.userName}" and active eq false`))).body.totalResults,
      ).toBe(1);
      const put = await door.ask('PUT', `/Users/${person.id}`, { userName: person.userName, active: true });
      expect(put.body.active).toBe(true);
      expect((await gateway.get('/v1/auth/self', { key: person.session })).status).toBe(401);
      expect((await gateway.get('/v1/users', { key: person.key.secret })).status).toBe(401);
    });

    test('DELETE does the same, and a POST brings the person back with 201', async () => {
      const person = await equip();
      expect((await door.ask('DELETE', `/Users/${person.id}`)).status).toBe(204);
      await expectGone(person);
      const again = await door.ask('POST', '/Users', { userName: person.userName });
      expect([again.status, again.body.id, again.body.active]).toEqual([201, person.id, true]);
    });

    test('a user made inactive has no way in', async () => {
      const { id, active } = await create({ active: false });
      expect(active).toBe(false);
      expect((await gateway.get(`/v1/users/${id}`)).body.status).toBe('archived');
    });

    test('the last owner can neither be taken out nor demoted', async () => {
      const { userId } = here.owner;
      for (const reply of [
        await patch(userId, { op: 'replace', path: 'active', value: false }),
        await patch(userId, { op: 'replace', path: 'roles', value: [{ value: 'member' }] }),
        await door.ask('DELETE', `/Users/${userId}`),
      ]) {
        expect(reply).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
        expect(reply.body.detail).toContain('last owner');
      }
      const { id } = await create({ roles: ['owner'] });
      expect((await patch(id, { op: 'remove', path: 'roles' })).status).toBe(200);
    });

    test('the last owner who can sign in can neither be taken out nor demoted, an owner who cannot may', async () => {
      const { userId } = here.owner;
      const { id } = await create({ roles: ['owner'] });
      const { body: owner } = await door.ask('GET', `/Users/${userId}`);
      for (const reply of [
        await patch(userId, { op: 'replace', path: 'active', value: false }),
        await patch(userId, { op: 'replace', path: 'roles', value: [{ value: 'member' }] }),
        await door.ask('PUT', `/Users/${userId}`, { ...owner, active: false }),
        await door.ask('DELETE', `/Users/${userId}`),
      ]) {
        expect(reply).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
        expect(reply.body.detail).toContain('last owner who can sign in');
      }
      expect((await door.ask('GET', `/Users/${userId}`)).body).toMatchObject({
        active: true,
        roles: [{ value: 'owner' }],
      });
      expect((await door.ask('DELETE', `/Users/${id}`)).status).toBe(204);
    });

    test('a PUT without roles leaves the role, a change of it is in the audit row', async () => {
      const { id, userName } = await create({ roles: ['admin'] });
      const put = await door.ask('PUT', `/Users/${id}`, { userName });
      expect(put.body.roles).toEqual([{ value: 'admin' }]);
      await door.ask('PUT', `/Users/${id}`, { userName, roles: [] });
      const row = await storeOf(gateway)
        .db.selectFrom('audit_logs')
        .select(['details', 'method'])
        .where('resource_id', '=', id)
        .where('details', 'like', '%old_role%')
        .executeTakeFirstOrThrow();
      expect([row.method, JSON.parse(row.details ?? '')]).toMatchObject([
        'PUT',
        { old_role: 'admin', role: 'member', source: 'scim' },
      ]);
    });
  });

  describe('somebody whose address is not ours', () => {
    test('can be taken out, but not renamed or moved', async () => {
      const guest = await addPerson(gateway, here.organisationId, 'member', { email: 'guest@partner.test' });
      const { body } = await door.ask('GET', `/Users/${guest.userId}`);
      expect(body).toMatchObject({
        userName: 'guest@partner.test',
        emails: [{ value: 'guest@partner.test', type: 'work' }],
      });
      expect(
        (await door.ask('GET', filtered('emails[type eq "work"].value eq "guest@partner.test"'))).body.totalResults,
      ).toBe(1);
      for (const value of [{ name: { givenName: 'Mallory' } }, { userName: 'stolen@acme.test' }]) {
        expect(await patch(guest.userId, { op: 'replace', value })).toMatchObject({
          status: 400,
          body: { scimType: 'invalidValue' },
        });
      }
      expect((await patch(guest.userId, { op: 'replace', value: { active: false } })).body.active).toBe(false);
    });

    test('an address cannot be moved onto somebody else’s', async () => {
      await verifyDomain(gateway, here.organisationId, 'acme.example');
      const elsewhere = await addOrganisation(gateway);
      await addPerson(gateway, elsewhere.organisationId, 'member', { email: 'known@acme.example' });
      const { id } = await create();
      expect((await patch(id, { op: 'replace', value: { userName: 'known@acme.example' } })).body.scimType).toBe(
        'uniqueness',
      );
    });
  });
});

test.if(postgresInstalled)('a person deactivated on one node is refused on the other within a second', async () => {
  const env = {
    DATABASE_URL: await newMigratedDatabase(),
    GW_MASTER_KEY: 'one key for both nodes, as the manual says',
  };
  const one = await startGateway(env);
  const folder = mkdtempSync(join(tmpdir(), 'gw-second-node-'));
  const two = await startApp(readEnvironment({ ...env, PORT: '0', GW_DATA_DIR: folder }), { clock: one.clock });
  try {
    const here = await home(one);
    const door = await openScim(one);
    const { id } = (await door.ask('POST', '/Users', { userName: 'ada@acme.test', roles: ['admin'] })).body;
    const session = await signIn(one, here.organisationId, id);
    const key = await addKey(one, { ...here, userId: id, type: 'workspace-user', scopes: ['completions.write'] });
    const onTwo = async (credential: string) =>
      (await fetch(`${two.url}/v1/users`, { headers: { 'x-gw-api-key': credential } })).status;
    expect([await onTwo(session), await onTwo(key.secret)]).toEqual([200, 403]);
    await door.ask('PATCH', `/Users/${id}`, { Operations: [{ op: 'Replace', path: 'active', value: 'False' }] });
    const end = performance.now() + 1_000;
    expect(await onTwo(session)).toBe(401);
    let status = await onTwo(key.secret);
    while (status !== 401 && performance.now() < end) status = await onTwo(key.secret);
    expect(status).toBe(401);
  } finally {
    await two.stop();
    await one.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});
