/** SCIM users: accounts, roles, the end of access, and everything that is refused. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onEachEngine, startGateway, type TestGateway } from '../../../test/harness.ts';
import { addKey, addOrganisation, addPerson, type Home, home, signIn, storeOf } from '../../../test/people.ts';
import { openScim, type ScimDoor, verifyDomain } from '../../../test/scim-world.ts';
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

  const fresh = () => `person-${count++}@acme.test`;
  const create = async (fields: object = {}) => {
    const userName = fresh();
    return (await door.ask('POST', '/Users', { userName, ...fields })).body;
  };
  const patch = (id: string, ...Operations: unknown[]) => door.ask('PATCH', `/Users/${id}`, { Operations });

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

  describe('lists', () => {
    beforeAll(async () => {
      for (const name of ['Zoe', 'alan', 'Mia']) {
        await door.ask('POST', '/Users', {
          userName: `${name}-sorted@acme.test`,
          externalId: `ext-${name}`,
          name: { givenName: name, familyName: 'Sorted' },
          title: name === 'Mia' ? 'Lead 100%' : undefined,
          emails: [
            { value: `${name}-sorted@acme.test`, type: 'work', primary: true },
            { value: `${name}@home.test`, type: 'home' },
          ],
        });
      }
    });

    const namesOf = async (query: Record<string, string>) => {
      const { body } = await door.ask('GET', `/Users?${new URLSearchParams(query)}`);
      return body.Resources.map((user: { name: { givenName: string } }) => user.name.givenName);
    };
    const sorted = 'name.familyName eq "sorted"';

    test('are sorted and paged, with exact totals', async () => {
      expect(await namesOf({ filter: sorted, sortBy: 'userName' })).toEqual(['alan', 'Mia', 'Zoe']);
      expect(await namesOf({ filter: sorted, sortBy: 'name.givenName', sortOrder: 'descending' })).toEqual([
        'Zoe',
        'Mia',
        'alan',
      ]);
      const page = await door.ask(
        'GET',
        `/Users?${new URLSearchParams({ filter: sorted, sortBy: 'userName', startIndex: '2', count: '1' })}`,
      );
      expect(page.body).toMatchObject({
        totalResults: 3,
        startIndex: 2,
        itemsPerPage: 1,
        Resources: [{ externalId: 'ext-Mia' }],
      });
      const none = await door.ask(
        'GET',
        `/Users?${new URLSearchParams({ filter: sorted, count: '0', startIndex: '-5' })}`,
      );
      expect(none.body).toMatchObject({ totalResults: 3, startIndex: 1, Resources: [] });
      const past = await door.ask('GET', `/Users?${new URLSearchParams({ filter: sorted, startIndex: '99' })}`);
      expect(past.body).toMatchObject({ totalResults: 3, Resources: [] });
    });

    test.each([
      ['userName pr and title co "100%"', ['Mia']],
      ['title pr', ['Mia']],
      ['not (title pr)', ['Zoe', 'alan']],
      ['name.givenName sw "z" or name.givenName ew "LAN"', ['Zoe', 'alan']],
      ['emails[type eq "home" and value ew "@home.test"] and name.givenName ne "Mia"', ['Zoe', 'alan']],
      ['emails[type eq "home"].value eq "MIA@home.test"', ['Mia']],
      ['externalId eq "ext-Zoe"', ['Zoe']],
      ['externalId eq "ext-zoe"', []],
      ['externalId gt "ext-M" and externalId lt "ext-N"', ['Mia']],
      ['meta.created gt "2020-01-01T00:00:00Z" and userName sw "alan"', ['alan']],
      ['meta.lastModified lt "2020-01-01T00:00:00Z"', []],
      ['active eq "True" and externalId eq null', []],
      ['title co "%" and title co "_"', []],
    ])('%s', async (filter, expected) => {
      const names = await namesOf({ filter: `${sorted} and (${filter})` });
      expect(names.sort()).toEqual([...expected].sort());
    });

    test('what cannot be filtered or sorted by is refused', async () => {
      for (const filter of [
        'favourite eq "x"',
        'active gt true',
        'active eq "maybe"',
        'meta.created gt "soon"',
        'userName[a eq "b"]',
        'emails.colour eq "red"',
        'userName eq "',
      ]) {
        const { status, body } = await door.ask('GET', filtered(filter));
        expect([filter, status, body.scimType]).toEqual([filter, 400, 'invalidFilter']);
      }
      await gateway.app.services.trail.flush();
      const told = await storeOf(gateway)
        .db.selectFrom('audit_logs')
        .select('user_type')
        .where('action', '=', 'invoke')
        .where('resource_type', '=', 'user')
        .where('response_status_code', '=', 400)
        .where('query_params', 'like', '%favourite eq%')
        .execute();
      expect(told).toMatchObject([{ user_type: 'scim' }]);
      expect((await door.ask('GET', '/Users?sortBy=favourite')).body.scimType).toBe('invalidValue');
      expect((await door.ask('GET', '/Users?count=many')).body.scimType).toBe('invalidValue');
    });

    test('show only the attributes that were asked for', async () => {
      const query = new URLSearchParams({
        filter: 'externalId eq "ext-Mia"',
        attributes: 'userName,name.givenName,emails.value',
      });
      const { body } = await door.ask('GET', `/Users?${query}`);
      expect(body.Resources).toEqual([
        {
          schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
          id: expect.any(String),
          userName: 'Mia-sorted@acme.test',
          name: { givenName: 'Mia' },
          emails: [{ value: 'Mia-sorted@acme.test' }, { value: 'Mia@home.test' }],
        },
      ]);
      const { id } = body.Resources[0];
      const less = await door.ask('GET', `/Users/${id}?excludedAttributes=emails,name.familyName,id`);
      expect(less.body).toMatchObject({ id, name: { givenName: 'Mia' } });
      expect(less.body.emails).toBeUndefined();
      expect(less.body.name.familyName).toBeUndefined();
    });

    test('are searched by POST too', async () => {
      const { body } = await door.ask('POST', '/Users/.search', {
        filter: sorted,
        sortBy: 'userName',
        count: 1,
        attributes: ['userName'],
      });
      expect(body).toMatchObject({
        totalResults: 3,
        itemsPerPage: 1,
        Resources: [{ userName: 'alan-sorted@acme.test' }],
      });
    });
  });

  describe('PATCH', () => {
    test.each([
      [{ op: 'replace', path: 'favourite', value: 'x' }, 'invalidPath'],
      [{ op: 'replace', path: 'name.nickname', value: 'x' }, 'invalidPath'],
      [{ op: 'replace', path: 'emails[type eq', value: 'x' }, 'invalidPath'],
      [{ op: 'replace', path: 'userName[a eq "b"]', value: 'x' }, 'invalidPath'],
      [{ op: 'remove', path: 'emails[colour eq "red"]' }, 'invalidPath'],
      [{ op: 'replace', path: 'emails[type eq "fax"]', value: { value: 'x@acme.test' } }, 'noTarget'],
      [{ op: 'remove' }, 'noTarget'],
      [{ op: 'replace', path: 'id', value: 'x' }, 'mutability'],
      [{ op: 'replace', value: { id: 'x' } }, 'mutability'],
      [{ op: 'add', path: 'groups', value: [{ value: 'x' }] }, 'mutability'],
      [{ op: 'replace', path: 'meta.created', value: 'x' }, 'mutability'],
      [{ op: 'move', path: 'title', value: 'x' }, 'invalidSyntax'],
      [{ op: 'replace', path: 'active', value: 7 }, 'invalidValue'],
      [{ op: 'replace', value: 'x' }, 'invalidValue'],
      [{ op: 'remove', path: 'userName' }, 'invalidValue'],
    ])('%j is %s', async (operation, type) => {
      const { id } = await create();
      const before = (await door.ask('GET', `/Users/${id}`)).body;
      const reply = await patch(id, { op: 'replace', path: 'title', value: 'New' }, operation);
      expect([reply.status, reply.body.scimType]).toEqual([400, type]);
      expect((await door.ask('GET', `/Users/${id}`)).body).toEqual(before);
    });

    test('a new primary value takes the place of the old one', async () => {
      const { id } = await create({ emails: [{ value: 'one@acme.test', type: 'work', primary: true }] });
      const { body } = await patch(id, {
        op: 'add',
        path: 'emails',
        value: [{ value: 'two@acme.test', primary: true }],
      });
      expect(body.emails).toEqual([
        { value: 'one@acme.test', type: 'work', primary: false },
        { value: 'two@acme.test', primary: true },
      ]);
    });

    test('without operations is invalidSyntax', async () => {
      const { id } = await create();
      for (const body of [{}, { Operations: [] }, { Operations: {} }, [], { Operations: ['x'] }]) {
        expect((await door.ask('PATCH', `/Users/${id}`, body)).body.scimType).toBe('invalidSyntax');
      }
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
