/** Listing keys: what each caller sees, and how they narrow, order and page it. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { onEachEngine, type TestGateway } from '../../../test/harness.ts';
import {
  addKey,
  addOrganisation,
  addPerson,
  addWorkspace,
  type Home,
  home,
  type Person,
  storeOf,
  type Tenant,
} from '../../../test/people.ts';
import type { Scope } from '../../identity/scopes.ts';
import type { ApiKeyType } from '../../store/schema.ts';
import { mintKey } from './mint.ts';

const write: Scope[] = ['completions.write'];

onEachEngine('listing API keys', (start) => {
  let gateway: TestGateway;
  let place: Home;
  let other: { id: string; slug: string };
  let manager: Person;
  let member: Person;
  const ids: Record<string, string> = {};

  const make = async (name: string, type: ApiKeyType, workspaceId: string | null, userId: string | null = null) => {
    const scopes: Scope[] = type === 'organisation-service' ? ['audit_logs.list'] : write;
    const { organisationId } = place;
    ids[name] = (await addKey(gateway, { organisationId, name, type, workspaceId, userId, scopes })).id;
  };

  beforeAll(async () => {
    gateway = await start();
    place = await home(gateway);
    const { organisationId, workspaceId } = place;
    other = await addWorkspace(gateway, organisationId, 'Other');
    manager = await addPerson(gateway, organisationId, 'member', {
      workspaces: { [workspaceId]: 'manager', [other.id]: 'member' },
    });
    member = await addPerson(gateway, organisationId, 'member', { workspaces: { [workspaceId]: 'member' } });
    await make('alpha service', 'workspace-service', workspaceId);
    await make('beta service', 'workspace-service', other.id);
    await make('gamma of member', 'workspace-user', workspaceId, member.userId);
    await make('delta of manager', 'workspace-user', workspaceId, manager.userId);
    await make('epsilon of manager', 'workspace-user', other.id, manager.userId);
    await make('zeta of owner', 'workspace-user', other.id, place.owner.userId);
    await make('eta admin', 'organisation-service', null);
    await make('theta gone', 'workspace-service', workspaceId);
    await gateway.delete(`/v1/api-keys/${ids['theta gone']}`);
  });
  afterAll(() => gateway.stopWithoutFaults());

  const list = (query = '', key = gateway.adminKey) => gateway.get(`/v1/api-keys${query}`, { key });
  const names = async (query = '', key = gateway.adminKey): Promise<string[]> => {
    const { status, body } = await list(query, key);
    expect(status).toBe(200);
    return body.data.map((record: { name: string }) => record.name).filter((name: string) => name in ids);
  };
  const everything = [
    'eta admin',
    'zeta of owner',
    'epsilon of manager',
    'delta of manager',
    'gamma of member',
    'beta service',
    'alpha service',
  ];

  describe('what each caller sees', () => {
    test('admin keys and owners see the whole organisation, newest first, deleted keys left out', async () => {
      expect(await names()).toEqual(everything);
      expect(await names('', place.owner.session)).toEqual(everything);
      const { body } = await list();
      expect(body.object).toBe('list');
      expect(body.total).toBe(body.data.length);
      expect(JSON.stringify(body)).not.toContain(gateway.adminKey);
    });

    test('a workspace key sees its workspace', async () => {
      expect(await names('', gateway.workspaceKey)).toEqual(['delta of manager', 'gamma of member', 'alpha service']);
      const refused = await list(`?workspace_id=${other.id}`, gateway.workspaceKey);
      expect([refused.status, refused.body.data.errorCode]).toEqual([403, 'AB03']);
    });

    test('a manager sees their workspace, and their own keys where they are a member', async () => {
      expect(await names('', manager.session)).toEqual([
        'epsilon of manager',
        'delta of manager',
        'gamma of member',
        'alpha service',
      ]);
      expect(await names(`?workspace_id=${other.slug}`, manager.session)).toEqual(['epsilon of manager']);
    });

    test('a member sees their own user keys', async () => {
      expect(await names('', member.session)).toEqual(['gamma of member']);
      expect(await names(`?user_id=${manager.userId}`, member.session)).toEqual([]);
      expect((await list(`?workspace_id=${other.id}`, member.session)).status).toBe(403);
    });

    test('a caller sees only the types whose list scope it holds', async () => {
      const { secret } = await addKey(gateway, {
        ...place,
        workspaceId: null,
        type: 'organisation-service',
        scopes: ['workspace_user_api_keys.list'],
      });
      expect(await names('', secret)).toEqual(everything.filter((name) => name.includes(' of ')));
      const { secret: without } = await addKey(gateway, {
        ...place,
        workspaceId: null,
        type: 'organisation-service',
        scopes: ['workspace_user_api_keys.read'],
      });
      expect((await list('', without)).status).toBe(403);
    });

    test('the settings managersViewApiKeys and membersViewApiKeys close the list', async () => {
      const close = { managersViewApiKeys: false, membersViewApiKeys: false };
      await gateway.put('/v1/admin/organisation/settings', { security_settings: close });
      expect((await list('', manager.session)).status).toBe(403);
      expect((await list('', member.session)).status).toBe(403);
      const open = { managersViewApiKeys: true, membersViewApiKeys: true };
      await gateway.put('/v1/admin/organisation/settings', { security_settings: open });
    });

    test('another tenant sees its own alone, and no credential nothing', async () => {
      const stranger = await addOrganisation(gateway);
      expect(await names('', stranger.adminKey)).toEqual([]);
      expect(await names(`?ids=${ids['alpha service']}`, stranger.adminKey)).toEqual([]);
      expect((await list(`?workspace_id=${place.workspaceId}`, stranger.adminKey)).status).toBe(404);
      expect((await list('', '')).status).toBe(401);
    });
  });

  describe('narrowing', () => {
    test('by workspace, type, person, status and name', async () => {
      expect(await names(`?workspace_id=${other.id}`)).toEqual(['zeta of owner', 'epsilon of manager', 'beta service']);
      expect(await names('?type=workspace-user')).toHaveLength(4);
      expect(await names('?type=user')).toHaveLength(4);
      expect(await names('?type=service')).toEqual(['eta admin', 'beta service', 'alpha service']);
      expect(await names('?type=organisation-service')).toEqual(['eta admin']);
      expect(await names(`?user_id=${manager.userId}`)).toEqual(['epsilon of manager', 'delta of manager']);
      expect((await list(`?workspace_id=${other.id}&type=organisation-service`)).body).toMatchObject({
        total: 0,
        data: [],
      });
      expect(await names('?status=expired')).toEqual([]);
      expect(await names('?status=active,exhausted')).toEqual(everything);
      expect(await names('?search=OF%20man')).toEqual(['epsilon of manager', 'delta of manager']);
      expect(await names('?search=%25')).toEqual([]);
    });

    test('by a name in any case and script, and by what it was changed to', async () => {
      const { id } = await addKey(gateway, { ...place, name: 'Überwachung', type: 'workspace-service', scopes: write });
      const found = async (search: string) =>
        (await list(`?search=${encodeURIComponent(search)}`)).body.data.map((record: { id: string }) => record.id);
      expect(await found('ÜBERWACH')).toEqual([id]);
      await gateway.put(`/v1/api-keys/${id}`, { name: 'Наблюдение' });
      expect([await found('überwach'), await found('НАБЛЮД')]).toEqual([[], [id]]);
      await gateway.delete(`/v1/api-keys/${id}`);
      expect(await found('наблюд')).toEqual([]);
    });

    test.each([
      '?ids=nonsense',
      '?status=archived',
      '?type=robot',
      '?sort_by=key',
      '?order=up',
      '?user_id=me',
      '?page_size=0',
    ])('%s is refused', async (query) => {
      const { status, body } = await list(query);
      expect([status, body.data.errorCode]).toEqual([400, 'AB01']);
    });
  });

  describe('ids', () => {
    test('come back in the order asked, deleted keys included, unknown and invisible ones left out', async () => {
      const asked = ['gamma of member', 'theta gone', 'eta admin'].map((name) => ids[name]);
      const query = `?ids=${asked[0]},${Bun.randomUUIDv7()},${asked[1]},${asked[2]},${asked[0]}`;
      for (const version of ['v1', 'v2']) {
        const { body } = await gateway.get(`/${version}/api-keys${query}`);
        expect(body.data.map((record: { id: string }) => record.id)).toEqual(asked);
        expect(body.total).toBe(3);
        expect(body.data[1]).toMatchObject({ name: 'theta gone', type: 'workspace-service', status: 'archived' });
      }
      expect(await names(query, member.session)).toEqual(['gamma of member']);
    });

    test('may be a hundred at most', async () => {
      const many = Array.from({ length: 101 }, () => Bun.randomUUIDv7()).join(',');
      expect((await list(`?ids=${many}`)).status).toBe(400);
    });
  });

  describe('order and pages', () => {
    test('by name, either way', async () => {
      const sorted = [...everything].sort();
      expect(await names('?sort_by=name&order=asc')).toEqual(sorted);
      expect(await names('?sort_by=name&order=desc')).toEqual(sorted.reverse());
    });

    test('by expiry: keys that never expire come last', async () => {
      const at = (hours: number) => new Date(gateway.clock.now().getTime() + hours * 3_600_000).toISOString();
      await gateway.put(`/v1/api-keys/${ids['alpha service']}`, { expires_at: at(5) });
      await gateway.put(`/v1/api-keys/${ids['beta service']}`, { expires_at: at(3) });
      expect((await names('?sort_by=expires_at&order=asc')).slice(0, 2)).toEqual(['beta service', 'alpha service']);
      expect((await names('?sort_by=last_updated_at')).slice(0, 2)).toEqual(['beta service', 'alpha service']);
    });

    test('every page of every size shows each key once, in the order of the whole', async () => {
      const whole = (await list()).body;
      const all = whole.data.map((record: { id: string }) => record.id);
      for (const order of ['asc', 'desc']) {
        for (const size of [1, 2, 4, 5, 100]) {
          const found: string[] = [];
          for (let page = 0; page * size < all.length; page++) {
            const { body } = await list(`?order=${order}&page_size=${size}&current_page=${page}`);
            expect(body.total).toBe(all.length);
            found.push(...body.data.map((record: { id: string }) => record.id));
          }
          expect(found).toEqual(order === 'desc' ? all : [...all].reverse());
        }
      }
      const beyond = await list('?current_page=50');
      expect([beyond.body.data, beyond.body.total]).toEqual([[], all.length]);
    });
  });

  describe('thousands of keys', () => {
    const count = 2_100;
    let tenant: Tenant;
    let lead: Person;
    beforeAll(async () => {
      tenant = await addOrganisation(gateway, 'Many');
      const { organisationId, workspaceId } = tenant;
      const second = await addWorkspace(gateway, organisationId, 'Second');
      lead = await addPerson(gateway, organisationId, 'member', {
        workspaces: { [workspaceId]: 'manager', [second.id]: 'manager' },
      });
      const start = gateway.clock.now().getTime();
      await storeOf(gateway).atomically(async (tx) => {
        for (let index = 0; index < count; index++) {
          const key = {
            organisationId,
            workspaceId: index % 2 === 0 ? workspaceId : second.id,
            userId: null,
            type: 'workspace-service' as const,
            // The order of names is another one than that of making.
            name: `Tool_${(index * 11) % count} ${index % 700 === 0 ? '100%' : 'of many'}`,
            creationMode: 'api' as const,
            scopes: write,
            createdBy: null,
            expiresAt: index % 3 === 0 ? new Date(start + (count - index) * 1_000 + 3_600_000).toISOString() : null,
          };
          // Three at a time are made in the same instant.
          await mintKey(tx, new Date(start + Math.floor(index / 3)), key, { prefix: '' });
        }
      });
    });

    const places: Record<string, (record: Record<string, string>) => string> = {
      created_at: (record) => record.created_at ?? '',
      name: (record) => (record.name ?? '').toLowerCase(),
      last_updated_at: (record) => record.last_updated_at ?? '',
      expires_at: (record) => record.expires_at ?? '9999',
    };
    const read = async (query: string, key: string) => {
      const records: Record<string, string>[] = [];
      for (let page = 0; ; page++) {
        const { body } = await list(`?page_size=1000&current_page=${page}${query}`, key);
        records.push(...body.data);
        if (body.data.length === 0) return { records, total: body.total as number };
      }
    };

    test.each(Object.keys(places))('are counted and put in order by %s, however they are narrowed', async (sortBy) => {
      for (const narrowed of ['', '&search=TOOL_', '&type=service', '&status=active']) {
        for (const key of [tenant.adminKey, lead.session]) {
          const { records, total } = await read(`&sort_by=${sortBy}&order=asc${narrowed}`, key);
          const made = records.filter((record) => record.name?.startsWith('Tool_'));
          expect([narrowed, total, made.length]).toEqual([narrowed, records.length, count]);
          const placeOf = (record: Record<string, string>) => `${places[sortBy]?.(record)} ${record.id}`;
          const inOrder = records.map(placeOf);
          expect(inOrder).toEqual(inOrder.toSorted((a, b) => (a < b ? -1 : 1)));
          const middle = await list(`?page_size=50&current_page=21&sort_by=${sortBy}${narrowed}`, key);
          expect(middle.body.data.map(placeOf)).toEqual(inOrder.toReversed().slice(1050, 1100));
        }
      }
    });

    test('a deep page is right the first time, again, and after every kind of change', async () => {
      const asked = ['', '&sort_by=name&order=asc', '&search=TOOL_', '&sort_by=expires_at&type=service', '&order=asc'];
      const pages = async (query: string) => {
        const { records, total } = await read(query, tenant.adminKey);
        for (const page of [9, 10, 10, 31, 30]) {
          const { body } = await list(`?page_size=50&current_page=${page}${query}`, tenant.adminKey);
          expect([query, page, body.total]).toEqual([query, page, total]);
          expect(body.data).toEqual(records.slice(page * 50, page * 50 + 50));
        }
        return records;
      };
      for (const query of asked) await pages(query);
      const { organisationId, workspaceId } = tenant;
      gateway.clock.advance({ seconds: 60 });
      const key = { organisationId, workspaceId, type: 'workspace-service' as const, scopes: write };
      const { id } = await addKey(gateway, { ...key, name: 'tool_00' });
      for (const query of asked) expect((await pages(query)).filter((record) => record.id === id)).toHaveLength(1);
      await gateway.put(`/v1/api-keys/${id}`, { name: 'Elsewhere' }, { key: tenant.adminKey });
      const found = await Promise.all(
        asked.map(async (query) => (await pages(query)).some((record) => record.id === id)),
      );
      expect(found).toEqual([true, true, false, true, true]);
      await gateway.delete(`/v1/api-keys/${id}`, undefined, { key: tenant.adminKey });
      for (const query of asked) expect((await pages(query)).some((record) => record.id === id)).toBe(false);
    });

    test('a search takes signs as they are, and finds few as well as none', async () => {
      const totals: Record<string, number> = {};
      for (const part of ['100%', '%', '_', 'tool%7', '\\', 'nowhere']) {
        totals[part] = (await list(`?search=${encodeURIComponent(part)}`, tenant.adminKey)).body.total;
      }
      expect(totals).toEqual({ '100%': 3, '%': 3, _: count, 'tool%7': 0, '\\': 0, nowhere: 0 });
      const { body } = await list('?search=100%25&sort_by=name&order=asc&page_size=2&current_page=1', tenant.adminKey);
      expect([body.total, body.data.map((record: { name: string }) => record.name)]).toEqual([3, ['Tool_700 100%']]);
    });
  });
});
