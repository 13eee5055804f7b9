/** SCIM groups, and the workspaces that they lead to by mappings and by their names. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { onEachEngine, type TestGateway } from '../../../test/harness.ts';
import {
  addKey,
  addOrganisation,
  addPerson,
  addTeam,
  addWorkspace,
  archiveWorkspace,
  storeOf,
} from '../../../test/people.ts';
import { openScim, type ScimDoor } from '../../../test/scim-world.ts';

const path = '/v1/scim/workspaces';

onEachEngine('SCIM groups', (start) => {
  let gateway: TestGateway;
  let door: ScimDoor;
  let count = 0;
  beforeAll(async () => {
    gateway = await start();
    door = await openScim(gateway);
  });
  afterAll(() => gateway.stopWithoutFaults());

  const person = async (): Promise<string> =>
    (await door.ask('POST', '/Users', { userName: `member-${count++}@acme.test` })).body.id;
  const group = async (displayName: string, ...members: string[]) =>
    door.ask('POST', '/Groups', { displayName, members: members.map((value) => ({ value })) });
  const workspace = () => addWorkspace(gateway, door.organisationId, `Room ${count++}`);
  const map = (body: object, key?: string) => gateway.post(path, body, key === undefined ? {} : { key });
  const roleOf = async (workspaceId: string, userId: string): Promise<string | null> => {
    const { status, body } = await gateway.get(`/v1/workspaces/${workspaceId}/users/${userId}`);
    return status === 200 ? body.role : null;
  };
  const members = (id: string, op: string, ...ids: string[]) =>
    door.ask('PATCH', `/Groups/${id}`, {
      Operations: [{ op, path: 'members', value: ids.map((value) => ({ value })) }],
    });

  describe('groups', () => {
    test('names are unique in any case, members must be people of this organisation', async () => {
      expect((await group('Twice')).status).toBe(201);
      expect((await group('TWICE')).body).toMatchObject({ status: '409', scimType: 'uniqueness' });
      const { adminKey, ...elsewhere } = await addOrganisation(gateway);
      expect((await group('Strangers', elsewhere.ownerId)).body.scimType).toBe('invalidValue');
      expect((await group('Nobody', 'no-id')).body.scimType).toBe('invalidValue');
      const theirs = await openScim(gateway, 'else.test', { ...elsewhere, adminKey });
      const { body } = await theirs.ask('POST', '/Groups', { displayName: 'Twice' });
      for (const method of ['GET', 'DELETE']) expect((await door.ask(method, `/Groups/${body.id}`)).status).toBe(404);
      expect((await members(body.id, 'add', await person())).status).toBe(404);
    });

    test('wrong bodies are refused', async () => {
      for (const body of [
        {},
        { displayName: '' },
        { displayName: 7, members: 'x' },
        { displayName: 'x'.repeat(300) },
      ]) {
        expect((await door.ask('POST', '/Groups', body)).status).toBe(400);
      }
      expect((await door.ask('GET', `/Groups?filter=${encodeURIComponent('colour eq "red"')}`)).body.scimType).toBe(
        'invalidFilter',
      );
    });

    test('a deleted user is in no group any more', async () => {
      const id = await person();
      const { body } = await group('Leavers', id);
      await door.ask('DELETE', `/Users/${id}`);
      expect((await door.ask('GET', `/Groups/${body.id}`)).body.members).toBeUndefined();
    });
  });

  describe('mappings', () => {
    test('give the people of a group a workspace at once, and take it with their keys when they leave the group', async () => {
      const [stays, leaves] = [await person(), await person()];
      const room = await workspace();
      const { body: circle } = await group('Movers', stays, leaves);
      const { status, body } = await map({ workspace_id: room.slug, role: 'MANAGER', scim_group_id: circle.id });
      expect([status, body]).toEqual([
        200,
        expect.objectContaining({
          workspace_id: room.id,
          scim_group: 'Movers',
          scim_group_id: circle.id,
          role: 'manager',
        }),
      ]);
      expect(await roleOf(room.id, leaves)).toBe('manager');
      const key = await addKey(gateway, {
        organisationId: door.organisationId,
        workspaceId: room.id,
        userId: leaves,
        type: 'workspace-user',
        scopes: ['completions.write'],
      });
      expect((await gateway.get('/v1/users', { key: key.secret })).status).toBe(403);
      await members(circle.id, 'remove', leaves);
      expect([await roleOf(room.id, leaves), await roleOf(room.id, stays)]).toEqual([null, 'manager']);
      expect((await gateway.get('/v1/users', { key: key.secret })).status).toBe(401);
      const rows = await storeOf(gateway)
        .db.selectFrom('audit_logs')
        .select(['action', 'user_type'])
        .where('resource_type', '=', 'workspace_user')
        .where('resource_id', '=', leaves)
        .orderBy('id')
        .execute();
      expect(rows).toEqual([
        { action: 'create', user_type: 'system' },
        { action: 'delete', user_type: 'scim' },
      ]);
    });

    test('the highest role of several groups counts, and what is left of them when one goes', async () => {
      const id = await person();
      const room = await workspace();
      const low = (await group('Low', id)).body;
      const high = (await group('High', id)).body;
      await map({ workspace_id: room.id, role: 'member', scim_group_id: low.id });
      await map({ workspace_id: room.id, role: 'admin', scim_group_id: high.id });
      expect(await roleOf(room.id, id)).toBe('admin');
      await members(high.id, 'remove', id);
      expect(await roleOf(room.id, id)).toBe('member');
      expect((await door.ask('DELETE', `/Groups/${high.id}`)).status).toBe(204);
      expect((await gateway.get(`/v1/workspaces/${room.id}`)).body.status).toBe('active');
    });

    test('a deleted group takes the memberships and archives a workspace to which no group leads, but never the default one', async () => {
      const id = await person();
      const room = await workspace();
      const circle = (await group('Doomed', id)).body;
      await map({ workspace_id: room.id, role: 'member', scim_group_id: circle.id });
      await map({ workspace_id: door.workspaceId, role: 'member', scim_group_id: circle.id });
      expect((await door.ask('DELETE', `/Groups/${circle.id}`)).status).toBe(204);
      expect((await gateway.get(`/v1/workspaces/${room.id}`)).body.status).toBe('archived');
      expect((await gateway.get(`/v1/workspaces/${door.workspaceId}`)).body.status).toBe('active');
      expect(await roleOf(door.workspaceId, id)).toBeNull();
      expect((await gateway.get(`${path}?scim_group_id=${circle.id}`)).body).toMatchObject({
        mappings: [],
        total_count: 0,
      });
    });

    test('a deleted mapping leaves its people members', async () => {
      const id = await person();
      const room = await workspace();
      const circle = (await group('Unlinked', id)).body;
      const mapping = (await map({ workspace_id: room.id, role: 'member', scim_group_id: circle.id })).body;
      expect((await gateway.delete(`${path}/${mapping.id}`)).body).toEqual({ success: true });
      expect((await gateway.delete(`${path}/${mapping.id}`)).status).toBe(404);
      await members(circle.id, 'remove', id);
      expect(await roleOf(room.id, id)).toBe('member');
      const other = (await map({ workspace_id: room.id, role: 'manager', scim_group_id: circle.id })).body;
      expect((await gateway.delete(path, { id: other.id })).body).toEqual({ success: true });
      const third = (await map({ workspace_id: room.id, role: 'member', scim_group_id: circle.id })).body;
      expect((await gateway.delete(`${path}?id=${third.id}`)).status).toBe(200);
      expect((await gateway.delete(path)).status).toBe(400);
    });

    test('a group may be named before it is pushed; the push attaches to it', async () => {
      const room = await workspace();
      const mapping = (await map({ workspace_id: room.id, role: 'member', scim_group_name: 'Awaited' })).body;
      const again = await map({ workspace_id: room.id, role: 'member', scim_group_name: 'awaited' });
      expect([again.status, again.body.id]).toEqual([200, mapping.id]);
      const id = await person();
      const pushed = await group('Awaited', id);
      expect([pushed.status, pushed.body.id]).toEqual([201, mapping.scim_group_id]);
      expect(await roleOf(room.id, id)).toBe('member');
    });

    test('one role a group, exactly one name of it, and no name of the pattern', async () => {
      const [one, two] = [await workspace(), await workspace()];
      const circle = (await group('One role')).body;
      await map({ workspace_id: one.id, role: 'member', scim_group_id: circle.id });
      const other = await map({ workspace_id: two.id, role: 'admin', scim_group_id: circle.id });
      expect(other.status).toBe(400);
      expect(other.body.data.message).toContain('member');
      for (const [body, status] of [
        [{ workspace_id: one.id, role: 'member' }, 400],
        [{ workspace_id: one.id, role: 'member', scim_group_id: circle.id, scim_group_name: 'x' }, 400],
        [{ workspace_id: one.id, role: 'owner', scim_group_id: circle.id }, 400],
        [{ role: 'member', scim_group_id: circle.id }, 400],
        [{ workspace_id: one.id, role: 'member', scim_group_name: 'ws-Lab-role-admin' }, 400],
        [{ workspace_id: one.id, role: 'member', scim_group_id: Bun.randomUUIDv7() }, 404],
        [{ workspace_id: 'ws-nothing', role: 'member', scim_group_id: circle.id }, 404],
      ] as const) {
        expect([body, (await map(body)).status]).toEqual([body, status]);
      }
    });

    test('a workspace that is gone is skipped', async () => {
      const room = await workspace();
      const circle = (await group('Skipping')).body;
      await map({ workspace_id: room.id, role: 'member', scim_group_id: circle.id });
      await archiveWorkspace(gateway, room.id);
      expect((await members(circle.id, 'add', await person())).status).toBe(200);
      expect((await gateway.get(`${path}?workspaceId=${room.slug}`)).body.total_count).toBe(0);
    });

    test('are listed with their groups, page by page, and for those who run the organisation alone', async () => {
      const room = await workspace();
      const circle = (await group('Listed group', await person())).body;
      const mapping = (await map({ workspace_id: room.id, role: 'member', scim_group_id: circle.id })).body;
      const list = await gateway.get(`${path}?workspace_id=${room.slug}&role=member&page=0&page_size=1`);
      expect(list.body).toEqual({ mappings: [mapping], page: 0, page_size: 1, total_count: 1 });
      const groups = await gateway.get('/v1/scim/groups?search=LISTED&include_mapped_groups=true');
      expect(groups.body).toMatchObject({
        groups: [{ id: circle.id, display_name: 'Listed group', member_count: 1, mappings: [mapping] }],
        page: 0,
        page_size: 100,
        total_count: 1,
      });
      const { admin } = await addTeam(gateway, { organisationId: door.organisationId, workspaceId: room.id });
      const { adminKey } = await addOrganisation(gateway);
      for (const key of [admin.session, gateway.workspaceKey]) {
        expect((await gateway.get(path, { key })).status).toBe(403);
        expect((await map({ workspace_id: room.id, role: 'member', scim_group_name: 'x' }, key)).status).toBe(403);
      }
      expect((await gateway.delete(`${path}/${mapping.id}`, undefined, { key: adminKey })).status).toBe(404);
      expect((await gateway.get('/v1/scim/groups', { key: adminKey })).body.total_count).toBe(0);
    });
  });

  describe('names that lead to a workspace', () => {
    test('find it, or make it, and follow a rename', async () => {
      const id = await person();
      const { body } = await group('ws-Research Lab-role-Manager', id);
      const made = (await gateway.get('/v1/workspaces?exact_name=Research Lab')).body.data;
      expect(made).toHaveLength(1);
      expect(await roleOf(made[0].id, id)).toBe('manager');
      const other = await person();
      await group('ws-Research Lab-role-member', other);
      expect((await gateway.get('/v1/workspaces?exact_name=Research Lab')).body.total).toBe(1);
      expect(await roleOf(made[0].id, other)).toBe('member');
      const renamed = { Operations: [{ op: 'replace', path: 'displayName', value: 'ws-Research Lab-role-admin' }] };
      await door.ask('PATCH', `/Groups/${body.id}`, renamed);
      expect(await roleOf(made[0].id, id)).toBe('admin');
      await door.ask('PATCH', `/Groups/${body.id}`, {
        Operations: [{ op: 'replace', value: { displayName: 'Plain' } }],
      });
      expect(await roleOf(made[0].id, id)).toBeNull();
    });

    test('a name of another form waits', async () => {
      for (const name of ['ws-Lab-role-wizard', 'ws--role-admin', 'Lab-role-admin', 'ws-Lab']) {
        const { body } = await group(name);
        expect((await gateway.get(`${path}?scim_group_id=${body.id}`)).body.total_count).toBe(0);
      }
    });
  });

  describe('people who are archived', () => {
    test('stay so in a full list of members, unless the settings say otherwise; active again, they get their workspaces back', async () => {
      const id = await person();
      const room = await workspace();
      const circle = (await group('Sleepers', id)).body;
      await map({ workspace_id: room.id, role: 'member', scim_group_id: circle.id });
      await door.ask('PATCH', `/Users/${id}`, { Operations: [{ op: 'replace', value: { active: false } }] });
      const put = () => door.ask('PUT', `/Groups/${circle.id}`, { displayName: 'Sleepers', members: [{ value: id }] });
      expect((await put()).status).toBe(200);
      expect((await door.ask('GET', `/Users/${id}`)).body.active).toBe(false);
      await door.ask('PATCH', `/Users/${id}`, { Operations: [{ op: 'replace', value: { active: true } }] });
      expect(await roleOf(room.id, id)).toBe('member');
      await door.ask('PATCH', `/Users/${id}`, { Operations: [{ op: 'replace', value: { active: false } }] });
      const settings = '/v1/admin/organisation/auth-settings';
      await gateway.put(settings, { scim: { group_based_user_provisioning: true } });
      expect((await put()).status).toBe(200);
      await gateway.put(settings, { scim: { group_based_user_provisioning: false } });
      expect((await door.ask('GET', `/Users/${id}`)).body.active).toBe(true);
      expect(await roleOf(room.id, id)).toBe('member');
    });
  });

  describe('settings and token', () => {
    const settings = '/v1/admin/organisation/auth-settings';

    test('a new token replaces the old one at once, a revoked one is refused, and neither is shown again', async () => {
      const tenant = await addOrganisation(gateway);
      const theirs = await openScim(gateway, 'tokens.test', tenant);
      const key = tenant.adminKey;
      const next = await gateway.post(`${settings}/scim/token`, undefined, { key });
      expect(next.body).toMatchObject({
        object: 'scim_token',
        base_url: expect.stringContaining(tenant.organisationId),
      });
      expect((await theirs.ask('GET', '/Users')).status).toBe(401);
      const ask = (token: string) =>
        gateway.ask('GET', '/v1/scim/Users', { key: '', headers: { authorization: `Bearer ${token}` } });
      expect((await ask(next.body.token)).status).toBe(200);
      const shown = await gateway.get(settings, { key });
      expect(shown.body.scim.token).toBe(`gws*******${next.body.token.slice(-3)}`);
      const stored = JSON.stringify(await storeOf(gateway).db.selectFrom('scim_settings').selectAll().execute());
      expect(stored).not.toContain(next.body.token);
      expect((await gateway.delete(`${settings}/scim/token`, undefined, { key })).status).toBe(200);
      expect((await ask(next.body.token)).status).toBe(401);
      expect((await gateway.delete(`${settings}/scim/token`, undefined, { key })).status).toBe(404);
    });

    test('switched off, the token opens nothing', async () => {
      await gateway.put(settings, { scim: { enabled: false } });
      expect((await door.ask('GET', '/Users')).body).toMatchObject({ status: '403' });
      await gateway.put(settings, { scim: { enabled: true } });
      expect((await door.ask('GET', '/Users')).status).toBe(200);
    });

    test('users change only through SCIM where the organisation says so; workspaces stay open', async () => {
      const someone = await addPerson(gateway, door.organisationId, 'member');
      await gateway.put(settings, { scim: { organisation_management_only: true } });
      const refused = [
        await gateway.put(`/v1/users/${someone.userId}`, { role: 'admin' }),
        await gateway.delete(`/v1/users/${someone.userId}`),
        await gateway.post('/v1/users/invites', { email: 'new@acme.test', role: 'member' }),
      ];
      expect(refused.map(({ status }) => status)).toEqual([403, 403, 403]);
      const added = await gateway.post(`/v1/workspaces/${door.workspaceId}/users`, { users: [{ id: someone.userId }] });
      expect(added.status).toBe(200);
      const off = await gateway.put(settings, { scim: { enabled: false } });
      expect([off.status, off.body.data.errors[0].path]).toEqual([400, 'scim.organisation_management_only']);
      await gateway.put(settings, { scim: { organisation_management_only: false } });
      expect((await gateway.put(`/v1/users/${someone.userId}`, { role: 'admin' })).status).toBe(200);
    });

    test('wrong settings are refused by name', async () => {
      for (const scim of [{ enabled: 'yes' }, { colour: 'red' }, { pattern: { prefix: '' } }]) {
        expect((await gateway.put(settings, { scim })).status).toBe(400);
      }
    });
  });
});

onEachEngine('SCIM memberships through users', (start) => {
  test('are written by groups of users, and members of groups are passed over', async () => {
    const gateway = await start({ SCIM_MEMBERSHIP_USER_MODE: 'ON' });
    const door = await openScim(gateway);
    const one = (await door.ask('POST', '/Groups', { displayName: 'One' })).body;
    const two = (await door.ask('POST', '/Groups', { displayName: 'Two' })).body;
    await gateway.post(path, { workspace_id: door.workspaceId, role: 'manager', scim_group_id: one.id });
    const { body } = await door.ask('POST', '/Users', { userName: 'ada@acme.test', groups: [{ value: one.id }] });
    expect(body.groups).toMatchObject([{ value: one.id, display: 'One' }]);
    const member = `/v1/workspaces/${door.workspaceId}/users/${body.id}`;
    expect((await gateway.get(member)).body.role).toBe('manager');
    const skipped = await door.ask('PATCH', `/Groups/${one.id}`, { Operations: [{ op: 'remove', path: 'members' }] });
    expect([skipped.status, skipped.body.members]).toMatchObject([200, [{ value: body.id }]]);
    const moved = await door.ask('PATCH', `/Users/${body.id}`, {
      Operations: [
        { op: 'remove', path: `groups[value eq "${one.id}"]` },
        { op: 'add', path: 'groups', value: [{ value: 'two' }] },
      ],
    });
    expect(moved.body.groups).toMatchObject([{ value: two.id }]);
    expect((await gateway.get(member)).status).toBe(404);
    const unknown = await door.ask('PUT', `/Users/${body.id}`, { userName: 'ada@acme.test', groups: [{ value: 'x' }] });
    expect(unknown.body.scimType).toBe('invalidValue');
    await gateway.stopWithoutFaults();
  });

  test('SCIM_ENABLED=OFF takes everything away', async () => {
    const gateway = await start({ SCIM_ENABLED: 'OFF' });
    expect((await gateway.get('/v1/scim/Users')).body).toMatchObject({ status: '404' });
    expect((await gateway.get(path)).status).toBe(404);
    expect((await gateway.get('/v1/scim/groups')).status).toBe(404);
    expect((await gateway.post('/v1/admin/organisation/auth-settings/scim/token')).status).toBe(404);
    await gateway.stopWithoutFaults();
  });
});
