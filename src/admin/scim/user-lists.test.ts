/** SCIM users in lists, by filters, and changed by PATCH. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { onEachEngine, type TestGateway } from '../../../test/harness.ts';
import { storeOf } from '../../../test/people.ts';
import { openScim, type ScimDoor, scimPeople } from '../../../test/scim-world.ts';

const filtered = (filter: string) => `/Users?filter=${encodeURIComponent(filter)}`;

onEachEngine('SCIM users in lists and by PATCH', (start) => {
  let gateway: TestGateway;
  let door: ScimDoor;
  beforeAll(async () => {
    gateway = await start();
    door = await openScim(gateway);
  });
  afterAll(() => gateway.stopWithoutFaults());

  const { create, patch } = scimPeople(() => door);

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
