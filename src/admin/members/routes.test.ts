/** Members of a workspace, as the answers of their routes. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { onEachEngine, type TestGateway } from '../../../test/harness.ts';
import {
  addKey,
  addOrganisation,
  addPerson,
  addWorkspace,
  home,
  keyRows,
  type Person,
  storeOf,
} from '../../../test/people.ts';
import { grantableTo } from '../../identity/scopes.ts';
import { defaultSettings } from '../../identity/settings.ts';
import { encode } from '../../store/json.ts';

const nobody = '019ef5c2-0000-7000-8000-000000000000';

onEachEngine('members of a workspace', (start) => {
  let gateway: TestGateway;
  let organisationId: string;
  let owner: Person;
  let workspace: { id: string; slug: string };
  let admin: Person;
  let manager: Person;
  let member: Person;

  beforeAll(async () => {
    gateway = await start();
    ({ organisationId, owner } = await home(gateway));
  });
  afterAll(() => gateway.stop());

  beforeEach(async () => {
    workspace = await addWorkspace(gateway, organisationId, 'Team');
    const join = (role: 'admin' | 'manager' | 'member') =>
      addPerson(gateway, organisationId, 'member', { workspaces: { [workspace.id]: role } });
    [admin, manager, member] = [await join('admin'), await join('manager'), await join('member')];
  });

  const path = (rest = '') => `/v1/admin/workspaces/${workspace.id}/users${rest}`;
  const as = (person: Person) => ({ key: person.session });
  const newcomer = () => addPerson(gateway, organisationId, 'member');
  const roleOf = async (person: Person) => (await gateway.get(path(`/${person.userId}`))).body.role;
  const add = (users: unknown, ask?: { key: string }) => gateway.post(path(), { users }, ask);
  const workspaceKey = async () =>
    (
      await addKey(gateway, {
        organisationId,
        workspaceId: workspace.id,
        type: 'workspace-service',
        scopes: grantableTo('S'),
      })
    ).secret;

  describe('add', () => {
    test('people join with the role given, or as members', async () => {
      const [ada, bob] = [await newcomer(), await newcomer()];
      const reply = await add([{ id: ada.userId, role: 'ws-ADMIN' }, { id: bob.userId }]);
      expect([reply.status, reply.body]).toEqual([200, {}]);
      expect([await roleOf(ada), await roleOf(bob)]).toEqual(['admin', 'member']);
    });

    test('answers by slug and on every spelling of the path', async () => {
      for (const prefix of ['/v1/workspaces', '/v2/admin/workspaces', '/v2/workspaces']) {
        const { userId } = await newcomer();
        const reply = await gateway.post(`${prefix}/${workspace.slug}/users`, { users: [{ id: userId }] });
        expect(reply.status).toBe(200);
      }
    });

    test('members keep their role; when everyone is one already, that is a conflict', async () => {
      const ada = await newcomer();
      const users = [{ id: manager.userId, role: 'member' }, { id: ada.userId }];
      expect((await add(users)).status).toBe(200);
      expect(await roleOf(manager)).toBe('manager');
      const again = await add(users);
      expect([again.status, again.body.data.errorCode]).toEqual([409, 'AB07']);
    });

    test('a manager adds people up to manager', async () => {
      const ada = await newcomer();
      expect((await add([{ id: ada.userId, role: 'admin' }], as(manager))).status).toBe(403);
      expect((await add([{ id: ada.userId, role: 'manager' }], as(manager))).status).toBe(200);
    });

    test('someone who left comes back with the new role', async () => {
      await gateway.delete(path(`/${member.userId}`));
      expect((await add([{ id: member.userId, role: 'manager' }])).status).toBe(200);
      expect(await roleOf(member)).toBe('manager');
    });

    test('refuses what is wrong and names the field', async () => {
      const elsewhere = await addOrganisation(gateway);
      const { userId } = await newcomer();
      const wrong: [string, unknown][] = [
        ['users', []],
        ['users', undefined],
        ['users', Array.from({ length: 101 }, () => ({ id: userId }))],
        ['users.0.id', [{ id: 'nobody' }]],
        ['users.0.role', [{ id: userId, role: 'owner' }]],
        ['users.0', [{ id: nobody }]],
        ['users.1', [{ id: userId }, { id: elsewhere.ownerId }]],
        ['users.1', [{ id: userId }, { id: userId, role: 'admin' }]],
      ];
      for (const [field, users] of wrong) {
        const reply = await add(users);
        expect([field, reply.status, reply.body.data.errorCode]).toEqual([field, 400, 'AB01']);
        expect(reply.body.data.errors[0].path).toBe(field);
      }
    });

    test('a newcomer gets a user key where the settings say so', async () => {
      const settings = (on: boolean) =>
        storeOf(gateway)
          .db.updateTable('organisations')
          .set({ settings: encode({ ...defaultSettings, user_api_key_auto_create: on }) })
          .where('id', '=', organisationId)
          .execute();
      const ada = await newcomer();
      await settings(true);
      await add([{ id: ada.userId }]);
      await settings(false);
      const keys = await storeOf(gateway)
        .db.selectFrom('api_keys')
        .select(['type', 'creation_mode', 'workspace_id'])
        .where('user_id', '=', ada.userId)
        .execute();
      expect(keys).toEqual([{ type: 'workspace-user', creation_mode: 'auto', workspace_id: workspace.id }]);
    });

    test('leaves an audit row that names who joined', async () => {
      const ada = await newcomer();
      await add([{ id: ada.userId }]);
      const row = await storeOf(gateway)
        .db.selectFrom('audit_logs')
        .selectAll()
        .where('resource_id', '=', ada.userId)
        .executeTakeFirstOrThrow();
      expect(row).toMatchObject({ resource_type: 'workspace_user', action: 'create', workspace_id: workspace.id });
      expect(JSON.parse(row.details ?? '{}')).toEqual({
        users: [{ id: ada.userId, role: 'member' }],
        source: 'api',
      });
    });
  });

  describe('list', () => {
    test('shows active members, newest first, with what they may do', async () => {
      const reply = await gateway.get(path());
      expect(reply.body).toMatchObject({ object: 'list', total: 3 });
      expect(new Set(reply.body.data.map((user: { id: string }) => user.id))).toEqual(
        new Set([admin.userId, manager.userId, member.userId]),
      );
      const times = reply.body.data.map((user: { created_at: string; id: string }) => `${user.created_at} ${user.id}`);
      expect(times).toEqual([...times].sort().reverse());
      const shown = reply.body.data.find((user: { id: string }) => user.id === member.userId);
      expect(shown).toMatchObject({
        object: 'workspace-user',
        user_id: member.userId,
        first_name: 'Ada',
        email: member.email,
        org_role: 'member',
        role: 'member',
        status: 'active',
        workspace_id: workspace.id,
        settings: null,
      });
      expect(shown.scopes).toContain('workspace_users.list');
      expect(shown.scopes).not.toContain('workspace_users.create');
    });

    test('owners and admins of the organisation are listed only when they were added', async () => {
      expect((await gateway.get(path(`/${owner.userId}`))).status).toBe(404);
      await add([{ id: owner.userId, role: 'member' }]);
      const added = (await gateway.get(path(`/${owner.userId}`))).body;
      expect(added).toMatchObject({ org_role: 'owner', role: 'member' });
      expect(added.scopes).toContain('workspaces.delete');
    });

    test('pages with the whole total', async () => {
      const pages = [
        await gateway.get(path('?page_size=2')),
        await gateway.get(path('?page_size=2&current_page=1')),
        await gateway.get(path('?page_size=2&current_page=5')),
      ];
      expect(pages.map((reply) => [reply.body.data.length, reply.body.total])).toEqual([
        [2, 3],
        [1, 3],
        [0, 3],
      ]);
      expect((await gateway.get(path('?page_size=0'))).status).toBe(400);
    });

    test('filters by role, by address and by any part of name or address', async () => {
      const email = `Zoé.${workspace.slug}@example.com`.normalize('NFC').toLowerCase();
      const zoe = await addPerson(gateway, organisationId, 'member', {
        email,
        workspaces: { [workspace.id]: 'member' },
      });
      const ids = async (query: string) =>
        (await gateway.get(path(query))).body.data.map((user: { id: string }) => user.id);
      expect(await ids('?role=manager')).toEqual([manager.userId]);
      expect(await ids(`?email=${manager.email.toUpperCase()}`)).toEqual([manager.userId]);
      expect(await ids(`?search=${encodeURIComponent('zoé')}`)).toEqual([zoe.userId]);
      expect(await ids('?search=ADA%20no')).toHaveLength(4);
      expect(await ids('?search=nothing')).toEqual([]);
      await gateway.put('/v1/auth/profile', { last_name: 'Renamed' }, { key: zoe.session });
      expect(await ids('?search=renam')).toEqual([zoe.userId]);
      expect((await gateway.get(path('?role=king'))).status).toBe(400);
      expect((await gateway.get(path('?email=x'))).status).toBe(400);
    });

    test('is open to every member', async () => {
      expect((await gateway.get(path(), as(member))).status).toBe(200);
      expect((await gateway.get(path(`/${admin.userId}`), as(member))).status).toBe(200);
    });
  });

  describe('change a role', () => {
    const change = (person: Person, role: unknown, ask?: { key: string }) =>
      gateway.put(path(`/${person.userId}`), { role }, ask);

    test('takes effect at once', async () => {
      const reply = await change(member, 'manager', as(admin));
      expect([reply.status, reply.body]).toEqual([200, {}]);
      expect(await roleOf(member)).toBe('manager');
      expect((await add([{ id: (await newcomer()).userId }], as(member))).status).toBe(200);
    });

    test('to the same role is refused', async () => {
      const reply = await change(member, 'member');
      expect([reply.status, reply.body.data.errorCode]).toEqual([400, 'AB01']);
      expect((await change(member, 'king')).status).toBe(400);
      expect((await gateway.put(path(`/${member.userId}`), {})).status).toBe(400);
    });

    test('a manager neither makes nor touches admins', async () => {
      expect((await change(member, 'admin', as(manager))).status).toBe(403);
      expect((await change(manager, 'admin', as(manager))).status).toBe(403);
      expect((await change(admin, 'member', as(manager))).status).toBe(403);
      expect((await change(member, 'manager', as(manager))).status).toBe(200);
    });

    test('of someone who is no member is 404', async () => {
      expect((await change(await newcomer(), 'member')).status).toBe(404);
      expect((await gateway.put(path('/not-an-id'), { role: 'member' })).status).toBe(404);
    });
  });

  describe('remove', () => {
    const remove = (person: Person, ask?: { key: string }) => gateway.delete(path(`/${person.userId}`), undefined, ask);

    test('takes the person out, with the keys they hold there', async () => {
      const key = await addKey(gateway, {
        organisationId,
        workspaceId: workspace.id,
        userId: manager.userId,
        type: 'workspace-user',
        scopes: ['workspaces.read'],
      });
      const reads = async () => (await gateway.get(`/v1/workspaces/${workspace.id}`, { key: key.secret })).status;
      expect(await reads()).toBe(200);
      const reply = await remove(manager, as(admin));
      expect([reply.status, reply.body]).toEqual([200, {}]);
      expect(await reads()).toBe(401);
      expect((await gateway.get(path(`/${manager.userId}`))).status).toBe(404);
      expect((await gateway.get(path(), as(manager))).status).toBe(403);
      expect((await remove(manager)).status).toBe(404);
      expect(await keyRows(gateway, key.id)).toMatchObject([
        { action: 'delete', user_type: 'system', workspace_id: workspace.id },
      ]);
    });

    test('a body, as client libraries send one, does no harm', async () => {
      expect((await gateway.delete(path(`/${member.userId}`), { userId: member.userId })).status).toBe(200);
    });

    test('a manager removes managers and members, not admins', async () => {
      expect((await remove(admin, as(manager))).status).toBe(403);
      expect((await remove(member, as(manager))).status).toBe(200);
    });

    test('a member leaves by themselves and takes nobody along', async () => {
      expect((await remove(manager, as(member))).status).toBe(403);
      expect((await remove(await newcomer(), as(member))).status).toBe(403);
      expect((await remove(member, as(member))).status).toBe(200);
      expect((await remove(member, as(member))).status).toBe(404);
      expect((await remove(admin, as(admin))).status).toBe(200);
    });

    test('needs the scope with an admin key', async () => {
      const weak = await addKey(gateway, {
        organisationId,
        type: 'organisation-service',
        scopes: ['workspace_users.list'],
      });
      expect((await remove(member, { key: weak.secret })).status).toBe(403);
    });
  });

  test('workspace keys are refused on members, whatever their scopes', async () => {
    const key = await workspaceKey();
    const calls = [
      gateway.post(path(), { users: [{ id: owner.userId }] }, { key }),
      gateway.get(path(), { key }),
      gateway.get(path(`/${member.userId}`), { key }),
      gateway.put(path(`/${member.userId}`), { role: 'admin' }, { key }),
      gateway.delete(path(`/${member.userId}`), undefined, { key }),
    ];
    for (const reply of await Promise.all(calls)) {
      expect([reply.status, reply.body.data.errorCode]).toEqual([403, 'AB03']);
    }
  });

  test('members only look, outsiders are refused, and nobody is let in without a credential', async () => {
    const elsewhere = await addWorkspace(gateway, organisationId, 'Elsewhere');
    const outsider = await addPerson(gateway, organisationId, 'member', { workspaces: { [elsewhere.id]: 'admin' } });
    for (const person of [member, outsider]) {
      expect((await add([{ id: owner.userId }], as(person))).status).toBe(403);
      expect((await gateway.put(path(`/${manager.userId}`), { role: 'member' }, as(person))).status).toBe(403);
      expect((await gateway.delete(path(`/${manager.userId}`), undefined, as(person))).status).toBe(403);
    }
    expect((await gateway.get(path(), as(outsider))).status).toBe(403);
    expect((await gateway.get(path(`/${member.userId}`), as(outsider))).status).toBe(403);
    expect((await gateway.get(path(), { key: '' })).status).toBe(401);
  });

  test('another tenant finds nothing here', async () => {
    const { adminKey: key } = await addOrganisation(gateway);
    const calls = [
      gateway.post(path(), { users: [{ id: owner.userId }] }, { key }),
      gateway.get(path(), { key }),
      gateway.get(path(`/${member.userId}`), { key }),
      gateway.put(path(`/${member.userId}`), { role: 'admin' }, { key }),
      gateway.delete(path(`/${member.userId}`), undefined, { key }),
    ];
    for (const reply of await Promise.all(calls)) {
      expect([reply.status, reply.body.data.errorCode]).toEqual([404, 'AB08']);
    }
  });
});
