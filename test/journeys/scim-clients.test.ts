/** What Entra and Okta send while they provision, in the bodies that their public documentation shows. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { onEachEngine, type TestGateway } from '../harness.ts';
import { openScim, type ScimDoor } from '../scim-world.ts';

const userSchema = 'urn:ietf:params:scim:schemas:core:2.0:User';
const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const groupSchema = 'urn:ietf:params:scim:schemas:core:2.0:Group';
const patchOp = ['urn:ietf:params:scim:api:messages:2.0:PatchOp'];

onEachEngine('SCIM clients', (start) => {
  let gateway: TestGateway;
  let door: ScimDoor;
  beforeAll(async () => {
    gateway = await start();
    door = await openScim(gateway, 'contoso.test');
  });
  afterAll(() => gateway.stopWithoutFaults());

  const patch = (path: string, ...Operations: unknown[]) => door.ask('PATCH', path, { schemas: patchOp, Operations });

  describe('Entra', () => {
    let id: string;
    let groupId: string;

    const newUser = {
      schemas: [userSchema, enterprise],
      externalId: '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef',
      userName: 'Test_User_ab6490ee-1e48-479e-a20b-2d77186b5dd1',
      active: true,
      emails: [{ primary: true, type: 'work', value: 'Test_User_fd0ea19b@contoso.test' }],
      meta: { resourceType: 'User' },
      name: { formatted: 'givenName familyName', familyName: 'familyName', givenName: 'givenName' },
      roles: [],
      [enterprise]: { department: 'Research', employeeNumber: '4711' },
    };

    test('looks for a user who is not there and gets an empty list', async () => {
      const filter = encodeURIComponent('userName eq "non-existent user"');
      expect(await door.ask('GET', `/Users?filter=${filter}`)).toMatchObject({
        status: 200,
        body: { totalResults: 0, Resources: [], startIndex: 1, itemsPerPage: 0 },
      });
    });

    test('creates a user', async () => {
      const { status, body, headers } = await door.ask('POST', '/Users', newUser);
      expect(status).toBe(201);
      ({ id } = body);
      expect(headers.get('content-type')).toContain('application/scim+json');
      expect(headers.get('location')).toBe(body.meta.location);
      expect(body).toMatchObject({
        schemas: [userSchema],
        externalId: newUser.externalId,
        userName: newUser.userName,
        active: true,
        emails: newUser.emails,
        name: { familyName: 'familyName', givenName: 'givenName' },
      });
      expect(body).not.toHaveProperty(enterprise);
    });

    test('finds the user by userName, externalId and work address, in any case', async () => {
      for (const filter of [
        `userName eq "${newUser.userName}"`,
        `USERNAME EQ "${newUser.userName.toUpperCase()}"`,
        `externalId eq "${newUser.externalId}"`,
        `emails[type eq "work"].value eq "test_user_FD0EA19B@contoso.test"`,
        `emails.value eq "Test_User_fd0ea19b@contoso.test" and active eq true`,
        `${userSchema}:userName eq "${newUser.userName}"`,
      ]) {
        const { body } = await door.ask('GET', `/Users?filter=${encodeURIComponent(filter)}`);
        expect([filter, body.Resources?.map((user: { id: string }) => user.id)]).toEqual([filter, [id]]);
      }
    });

    test('replaces a value of a list and a part of the name', async () => {
      const reply = await patch(
        `/Users/${id}`,
        { op: 'Replace', path: 'emails[type eq "work"].value', value: 'updatedEmail@contoso.test' },
        { op: 'Replace', path: 'name.familyName', value: 'updatedFamilyName' },
      );
      expect(reply).toMatchObject({
        status: 200,
        body: {
          emails: [{ primary: true, type: 'work', value: 'updatedEmail@contoso.test' }],
          name: { familyName: 'updatedFamilyName', givenName: 'givenName' },
        },
      });
      const { body } = await gateway.get('/v1/users?email=updatedemail@contoso.test');
      expect(body.data).toMatchObject([{ id, last_name: 'updatedFamilyName', provisioned_by: 'scim' }]);
    });

    test('adds attributes without a path, by dotted names, and ones that are not kept', async () => {
      const { status, body } = await patch(
        `/Users/${id}`,
        { op: 'Add', value: { 'name.givenName': 'Ada', title: 'Engineer', [`${enterprise}:department`]: 'Sales' } },
        { op: 'Add', path: `${enterprise}:manager`, value: [{ $ref: '../Users/1', value: '1' }] },
        { op: 'Add', path: 'phoneNumbers[type eq "work"].value', value: '+1 555 0100' },
        { op: 'Add', path: 'emails[type eq "other"].value', value: 'other@contoso.test' },
      );
      expect(status).toBe(200);
      expect(body).toMatchObject({ title: 'Engineer', name: { givenName: 'Ada', familyName: 'updatedFamilyName' } });
      expect(body.emails).toContainEqual({ type: 'other', value: 'other@contoso.test' });
    });

    test('assigns an app role by path, as plain text and as JSON text', async () => {
      const byPath = await patch(`/Users/${id}`, {
        op: 'Replace',
        path: 'roles[primary eq "True"].value',
        value: 'Admin',
      });
      expect(byPath.body.roles).toEqual([{ value: 'admin' }]);
      const complex = JSON.stringify({ id: '18d14569', value: 'Member', displayName: 'User' });
      const replaced = await patch(`/Users/${id}`, {
        op: 'Replace',
        path: 'roles[primary eq "True"].value',
        value: complex,
      });
      expect(replaced.body.roles).toEqual([{ value: 'member' }]);
      const many = [
        { primary: false, type: 'WindowsAzureActiveDirectoryRole', display: 'User', value: complex },
        { primary: false, type: 'WindowsAzureActiveDirectoryRole', value: '{"value":"ADMIN"}' },
      ];
      expect((await patch(`/Users/${id}`, { op: 'Add', path: 'roles', value: many })).body.roles).toEqual([
        { value: 'admin' },
      ]);
      expect((await patch(`/Users/${id}`, { op: 'Remove', path: 'roles' })).body.roles).toBeUndefined();
    });

    test('disables and enables a user with words for booleans', async () => {
      const off = await patch(`/Users/${id}`, { op: 'Replace', path: 'active', value: 'False' });
      expect(off).toMatchObject({ status: 200, body: { active: false } });
      expect((await gateway.get(`/v1/users/${id}`)).body.status).toBe('archived');
      const on = await patch(`/Users/${id}`, { op: 'Add', path: 'active', value: 'True' });
      expect(on.body.active).toBe(true);
      const wrapped = await patch(`/Users/${id}`, { op: 'Replace', path: 'active', value: [{ value: 'False' }] });
      expect(wrapped.body.active).toBe(false);
      await patch(`/Users/${id}`, { op: 'Replace', value: { active: true } });
    });

    test('creates a group without members and finds it without reading its members', async () => {
      const { status, body } = await door.ask('POST', '/Groups', {
        schemas: [groupSchema, 'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group'],
        externalId: '8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159',
        displayName: 'displayName',
        meta: { resourceType: 'Group' },
      });
      expect([status, body.members]).toEqual([201, undefined]);
      groupId = body.id;
      const filter = encodeURIComponent('displayName eq "displayName"');
      const found = await door.ask('GET', `/Groups?excludedAttributes=members&filter=${filter}`);
      expect(found.body).toMatchObject({ totalResults: 1, Resources: [{ id: groupId }] });
    });

    test('adds and removes members by lists of values', async () => {
      const added = await patch(`/Groups/${groupId}`, {
        op: 'Add',
        path: 'members',
        value: [{ $ref: null, value: id }],
      });
      expect(added).toMatchObject({ status: 200, body: { members: [{ value: id, type: 'User' }] } });
      const member = encodeURIComponent(`id eq "${groupId}" and members eq "${id}"`);
      expect((await door.ask('GET', `/Groups?attributes=id&filter=${member}`)).body.Resources).toEqual([
        { schemas: [groupSchema], id: groupId },
      ]);
      expect((await door.ask('GET', `/Users/${id}`)).body.groups).toMatchObject([
        { value: groupId, display: 'displayName' },
      ]);
      const removed = await patch(`/Groups/${groupId}`, {
        op: 'Remove',
        path: 'members',
        value: [{ $ref: null, value: id }],
      });
      expect([removed.status, removed.body.members]).toEqual([200, undefined]);
    });

    test('renames and deletes the group, then deletes the user', async () => {
      const renamed = await patch(`/Groups/${groupId}`, { op: 'Replace', path: 'displayName', value: 'Renamed' });
      expect(renamed.body.displayName).toBe('Renamed');
      expect((await door.ask('DELETE', `/Groups/${groupId}`)).status).toBe(204);
      expect((await door.ask('GET', `/Groups/${groupId}`)).status).toBe(404);
      expect((await door.ask('DELETE', `/Users/${id}`)).status).toBe(204);
      expect((await door.ask('GET', `/Users/${id}`)).status).toBe(404);
      expect((await door.ask('DELETE', `/Users/${id}`)).status).toBe(404);
      const filter = encodeURIComponent(`userName eq "${newUser.userName}"`);
      expect((await door.ask('GET', `/Users?filter=${filter}`)).body.totalResults).toBe(0);
    });

    test('creates the deleted user again under the same id', async () => {
      const { status, body } = await door.ask('POST', '/Users', {
        ...newUser,
        emails: [{ primary: true, type: 'work', value: 'updatedEmail@contoso.test' }],
      });
      expect([status, body.id, body.active]).toEqual([201, id, true]);
    });
  });

  describe('Okta', () => {
    let id: string;
    let groupId: string;
    const newUser = {
      schemas: [userSchema],
      userName: 'test.user@contoso.test',
      name: { givenName: 'Test', familyName: 'User' },
      emails: [{ primary: true, value: 'test.user@contoso.test', type: 'work' }],
      displayName: 'Test User',
      locale: 'en-US',
      externalId: '00ujl29u0le5T6Aj10h7',
      groups: [],
      password: '1mz050nq',
      active: true,
    };

    test('checks the connection with a page of users and of groups', async () => {
      expect((await door.ask('GET', '/Users?startIndex=1&count=2')).status).toBe(200);
      expect((await door.ask('GET', '/Groups?startIndex=1&count=100')).status).toBe(200);
    });

    test('looks a user up, creates them, and the password is kept nowhere', async () => {
      const filter = encodeURIComponent('userName eq "test.user@contoso.test"');
      const path = `/Users?filter=${filter}&startIndex=1&count=100`;
      expect((await door.ask('GET', path)).body.totalResults).toBe(0);
      const { status, body } = await door.ask('POST', '/Users', newUser);
      expect(status).toBe(201);
      ({ id } = body);
      expect(JSON.stringify(body)).not.toContain('1mz050nq');
      expect(body).toMatchObject({ userName: newUser.userName, displayName: 'Test User', active: true });
      expect((await door.ask('GET', path)).body.Resources).toMatchObject([{ id }]);
      const { db } = gateway.app.services.store;
      const row = await db
        .selectFrom('audit_logs')
        .selectAll()
        .where('resource_id', '=', id)
        .where('action', '=', 'create')
        .executeTakeFirstOrThrow();
      expect(row).toMatchObject({ user_type: 'scim', method: 'POST', resource_type: 'user' });
      expect(row.request_body).not.toContain('1mz050nq');
      expect(row.request_headers).not.toContain(door.token);
    });

    test('replaces the whole profile with PUT', async () => {
      const { status, body } = await door.ask('PUT', `/Users/${id}`, {
        schemas: [userSchema],
        id,
        userName: 'test.user@contoso.test',
        name: { givenName: 'Another', middleName: 'Excited', familyName: 'User' },
        emails: [{ primary: true, value: 'test.user@contoso.test', type: 'work', display: 'test.user@contoso.test' }],
        active: true,
        groups: [],
        meta: { resourceType: 'User' },
      });
      expect([status, body.name]).toEqual([200, { givenName: 'Another', familyName: 'User' }]);
      expect(body.displayName).toBeUndefined();
    });

    test('deactivates and reactivates with a value that has no path', async () => {
      expect((await patch(`/Users/${id}`, { op: 'replace', value: { active: false } })).body.active).toBe(false);
      expect((await patch(`/Users/${id}`, { op: 'replace', value: { active: true } })).body.active).toBe(true);
    });

    test('pushes a group, renames it with its id in the value, and changes members in one call', async () => {
      const made = await door.ask('POST', '/Groups', {
        schemas: [groupSchema],
        displayName: 'Test SCIMv2',
        members: [{ value: id, display: 'test.user@contoso.test' }],
      });
      expect(made.status).toBe(201);
      groupId = made.body.id;
      const renamed = await patch(`/Groups/${groupId}`, {
        op: 'replace',
        value: { id: groupId, displayName: 'Test SCIMv2 renamed' },
      });
      expect(renamed.body).toMatchObject({ displayName: 'Test SCIMv2 renamed', members: [{ value: id }] });
      const other = (await door.ask('POST', '/Users', { ...newUser, userName: 'b@contoso.test', emails: [] })).body;
      const swapped = await patch(
        `/Groups/${groupId}`,
        { op: 'remove', path: `members[value eq "${id}"]` },
        { op: 'add', path: 'members', value: [{ value: other.id, display: 'b@contoso.test' }] },
      );
      expect(swapped.body.members).toMatchObject([{ value: other.id }]);
      const replaced = await patch(`/Groups/${groupId}`, { op: 'replace', path: 'members', value: [{ value: id }] });
      expect(replaced.body.members).toMatchObject([{ value: id }]);
      const put = await door.ask('PUT', `/Groups/${groupId}`, {
        schemas: [groupSchema],
        id: groupId,
        displayName: 'Test SCIMv2',
        members: [{ value: id }, { value: other.id }],
      });
      expect(put.body.members).toHaveLength(2);
    });
  });
});
