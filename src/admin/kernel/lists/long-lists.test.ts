/** Long lists against the plain count and page of the same rows: after any write, of whoever, they say the same on either engine. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { sql } from 'kysely';
import { auditRow } from '../../../../test/audit-rows.ts';
import { onEachEngine, type TestGateway } from '../../../../test/harness.ts';
import { type Home, home, storeOf } from '../../../../test/people.ts';
import { newDatabase, postgresInstalled } from '../../../../test/servers/postgres.ts';
import { openStore, type Store } from '../../../store/database.ts';
import { momentsOf } from '../../../store/list-changes.ts';
import { listedTables, namesOfListed } from '../../../store/listed-tables.ts';
import { migrate } from '../../../store/migrate.ts';
import { mintKey } from '../../api-keys/mint.ts';
import { allSaid, type Condition, is } from './condition.ts';
import type { LongList } from './long-list.ts';
import { LongLists } from './long-lists.ts';

/** The same numbers in every run. */
function chance(seed: number) {
  let state = seed;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const below = (most: number) => Math.floor(next() * most);
  const oneOf = <T>(items: readonly T[]): T => {
    const item = items[below(items.length)];
    if (item === undefined) throw new Error('Nothing to choose from');
    return item;
  };
  return { below, oneOf };
}

/** A program on the store: its connections, and what it remembers. */
class Node {
  readonly store: Store;
  readonly lists: LongLists;

  /** `holding`: so many rows in memory at most. */
  constructor(store: Store, holding: number) {
    this.store = store;
    this.lists = new LongLists(store, { fewest: 1, most: holding });
  }
}

const words = ['tool', 'Werkzeug', 'outil', '\u{1f527}', '\u{ff5e}', 'rare'];
const start = Date.parse('2030-01-01T00:00:00Z');
const minute = (index: number) => new Date(start + index * 60_000).toISOString();

const rowAt = (organisation_id: string, index: number, action = 'create') =>
  auditRow({ organisation_id, timestamp: minute(index), action });

const keyList = (condition: Condition[], asked: Pick<LongList, 'order' | 'page'>): LongList => ({
  table: 'api_keys',
  conditions: () => condition,
  ...asked,
});

const trail = (condition: Condition[], from: string, page: LongList['page']): LongList => ({
  table: 'audit_logs',
  conditions: () => condition,
  order: { by: 'timestamp', direction: 'desc' },
  until: { place: from, id: '' },
  page,
});

const holds = (column: string, part: string, folded: boolean): Condition => ({ kind: 'holds', column, part, folded });

/** What a plain count and a plain page say. */
async function plainly({ db }: Store, list: LongList) {
  const { by, direction } = list.order;
  let matches = db
    .selectFrom(list.table)
    .where(listedTables[list.table].listed)
    .where(allSaid(list.conditions('walk')));
  if (list.until) matches = matches.where(sql<boolean>`${sql.ref(by)} >= ${list.until.place}`);
  const rows = await matches.select('id').orderBy(sql.ref(by), direction).orderBy('id', direction).execute();
  const { offset, size } = list.page;
  return { ids: rows.slice(offset, offset + size).map((row) => row.id), total: rows.length };
}

onEachEngine('long lists', (startGateway) => {
  let gateway: TestGateway;
  let place: Home;
  let here: Node;
  let beside: Node;
  const { below, oneOf } = chance(20_301);
  beforeAll(async () => {
    gateway = await startGateway();
    place = await home(gateway);
    here = new Node(storeOf(gateway), 100_000);
    beside = new Node(openStore(here.store.address), 0);
    await here.store.atomically(async (tx) => {
      for (let index = 0; index < 900; index++) await addKey(tx);
      for (let index = 0; index < 900; index++) await addAuditRow(tx);
    });
    await here.lists.tend();
    await beside.lists.tend();
  });
  afterAll(async () => {
    await beside.store.close();
    await gateway.stopWithoutFaults();
  });

  const addKey = (db: Store['db']) =>
    mintKey(
      db,
      new Date(start + below(5_000) * 1_000),
      {
        organisationId: place.organisationId,
        workspaceId: place.workspaceId,
        userId: null,
        type: 'workspace-service',
        name: `${oneOf(words.slice(0, 5))} ${below(1_000)}`,
        creationMode: 'api',
        scopes: ['completions.write'],
        createdBy: null,
      },
      { prefix: '' },
    );
  const addAuditRow = (db: Store['db']) =>
    db
      .insertInto('audit_logs')
      .values(rowAt(place.organisationId, below(5_000), below(40) === 0 ? 'login' : 'create'))
      .execute();
  const someKeys = async (db: Store['db']) => {
    const rows = await db.selectFrom('api_keys').select('id').orderBy('id').limit(3).offset(below(800)).execute();
    return rows.map(({ id }) => id);
  };
  const writes: Record<string, (db: Store['db']) => Promise<unknown>> = {
    addKey,
    addAuditRow,
    rename: async (db) => {
      const name_folded = `${oneOf(words)} ${below(1_000)}`;
      await db
        .updateTable('api_keys')
        .set({ name_folded })
        .where('id', 'in', await someKeys(db))
        .execute();
    },
    expire: async (db) => {
      const expires_at = below(2) ? minute(below(5_000)) : null;
      const changed = { expires_at, last_updated_at: minute(below(5_000)) };
      await db
        .updateTable('api_keys')
        .set(changed)
        .where('id', 'in', await someKeys(db))
        .execute();
    },
    archive: async (db) => {
      const status = oneOf(['active', 'archived', 'expired'] as const);
      await db
        .updateTable('api_keys')
        .set({ status })
        .where('id', 'in', await someKeys(db))
        .execute();
    },
    remove: async (db) => {
      const ids = (await someKeys(db)).slice(0, 1);
      await db.deleteFrom('api_key_secrets').where('api_key_id', 'in', ids).execute();
      await db.deleteFrom('api_keys').where('id', 'in', ids).execute();
    },
    purge: async (db) => {
      const from = below(5_000);
      await db
        .deleteFrom('audit_logs')
        .where('timestamp', '>', minute(from))
        .where('timestamp', '<', minute(from + 20))
        .execute();
    },
    touchWithoutEffect: (db) =>
      db.updateTable('api_keys').set({ description: 'again' }).where('status', '=', 'active').execute(),
  };

  const keyOrders = ['name_folded', 'created_at', 'last_updated_at', 'ends_at'];
  const keyFilters: Condition[][] = [
    [],
    [is('status', 'active')],
    [is('status', 'active', 'expired'), is('type', 'workspace-service')],
    [is('type', 'workspace-user')],
    [is('status')],
    ...['TOOL', 'rare', 'l ', '%', '_', '\\', '\u{1f527} 1', '\u{ff5e}', 'nowhere'].map((part) => [
      holds('name_folded', part, true),
    ]),
    [{ kind: 'any of', cases: [[is('status', 'expired')], [holds('name_folded', '9', true), is('status', 'active')]] }],
    [{ kind: 'any of', cases: [] }],
  ];
  const auditFilters: Condition[][] = [
    [],
    [is('action', 'login')],
    [is('action', 'create', 'delete'), is('response_status_code', 200)],
    [{ kind: 'at most', column: 'timestamp', value: minute(3_000) }],
    [holds('uri', '/v1', false)],
    [holds('uri', '/V1', false)],
    [is('country', 'nowhere')],
  ];

  async function expectSame(node: Node): Promise<void> {
    const page = { size: oneOf([0, 1, 7, 50, 400]), offset: oneOf([0, 0, 10, 100, 333, 500, 880, 5_000]) };
    const order = { by: oneOf(keyOrders), direction: oneOf(['asc', 'desc'] as const) };
    const keys = keyList(oneOf(keyFilters), { order, page });
    expect(await node.lists.page(keys)).toEqual(await plainly(node.store, keys));
    const rows = trail(oneOf(auditFilters), minute(below(4_000)), page);
    expect(await node.lists.page(rows)).toEqual(await plainly(node.store, rows));
  }

  const inTransaction = (node: Node, outcome: 'kept' | 'undone') => {
    const work = node.store.atomically(async (tx) => {
      for (let index = below(4); index >= 0; index--) await oneOf(Object.values(writes))(tx);
      if (outcome === 'undone') throw new Error('undone');
    });
    return outcome === 'undone' ? expect(work).rejects.toThrow('undone') : work;
  };

  test('say what a plain count and page say, after any writes of either node, kept or undone', async () => {
    for (let round = 0; round < 100; round++) {
      const write = oneOf(Object.values(writes));
      await (below(3)
        ? write(oneOf([here, beside]).store.db)
        : inTransaction(oneOf([here, beside]), oneOf(['kept', 'undone'])));
      await expectSame(oneOf([here, beside]));
      await expectSame(oneOf([here, beside]));
    }
  });

  test('are right again once many have written at the same time as others read', async () => {
    await Promise.all(
      Array.from({ length: 30 }, async (_, index) => {
        const node = index % 2 ? here : beside;
        if (index % 3) return inTransaction(node, 'kept');
        const order = { by: 'created_at', direction: 'asc' as const };
        await node.lists.page(keyList([], { order, page: { size: 50, offset: 400 } }));
      }),
    );
    for (let round = 0; round < 20; round++) await expectSame(oneOf([here, beside]));
  });

  const noted = async () => {
    const changes = sql<{ number: number }>`select count(*) as number from api_key_changes`;
    return (await changes.execute(here.store.db)).rows[0]?.number ?? 0;
  };

  test('are right on a node that missed more changes than are kept', async () => {
    const { db } = beside.store;
    const order = { by: 'name_folded', direction: 'asc' as const };
    const tools = keyList([holds('name_folded', 'tool', true)], { order, page: { size: 5, offset: 2 } });
    const { total } = await here.lists.page(tools);
    const others = db.selectFrom('api_keys').select('id').where('name_folded', 'like', 'outil%').limit(3);
    const ids = (await others.execute()).map(({ id }) => id);
    const renamed = { name_folded: 'tool', status: 'active' as const };
    await db.updateTable('api_keys').set(renamed).where('id', 'in', ids).execute();
    // None of these is a change of that list.
    for (let round = 0; (await noted()) < 13_000; round++) {
      const changed = { last_updated_at: minute(round), expires_at: minute(10_000 - round) };
      await db.updateTable('api_keys').set(changed).where('name_folded', 'not like', 'tool%').execute();
    }
    await gateway.app.jobs.runOnce('list-change-sweep');
    expect(await noted()).toBeLessThan(13_000);
    const found = await here.lists.page(tools);
    expect(found).toEqual(await plainly(here.store, tools));
    expect(found.total).toBe(total + ids.length);
    for (let round = 0; round < 20; round++) {
      await expectSame(oneOf([here, beside]));
      await oneOf(Object.values(writes))(here.store.db);
      await expectSame(oneOf([here, beside]));
    }
  });

  test('a change that no list would notice is not noted', async () => {
    const before = await noted();
    await writes.touchWithoutEffect?.(here.store.db);
    expect(await noted()).toBe(before);
  });
});

describe.if(postgresInstalled)('long lists on PostgreSQL alone', () => {
  let store: Store;
  let nodes: Node[];
  beforeAll(async () => {
    store = openStore({ engine: 'postgres', url: await newDatabase() });
    await migrate(store, new Date());
    const rows = Array.from({ length: 900 }, (_, index) => rowAt('o', index));
    await store.db.insertInto('audit_logs').values(rows).execute();
    nodes = [new Node(store, 0), new Node(store, 100_000)];
    for (const { lists } of nodes) await lists.tend();
  });
  afterAll(() => store.close());

  const list = (offset: number) => trail([is('organisation_id', 'o')], minute(100), { size: 20, offset });
  const expectSame = async () => {
    for (const offset of [0, 300, 310, 700]) {
      const plain = await plainly(store, list(offset));
      for (const { lists } of nodes) expect(await lists.page(list(offset))).toEqual(plain);
    }
  };

  test('transactions that end in another order than they began in are all seen, and those undone are not', async () => {
    await expectSame();
    const [first, second, third] = await Promise.all(
      [500, 200, 800].map(async (index) => {
        const transaction = await store.db.startTransaction().execute();
        await transaction.insertInto('audit_logs').values(rowAt('o', index)).execute();
        return transaction;
      }),
    );
    await expectSame();
    await second?.commit().execute();
    await expectSame();
    await store.db.insertInto('audit_logs').values(rowAt('o', 850)).execute();
    await third?.rollback().execute();
    await expectSame();
    await first?.commit().execute();
    await expectSame();
  });

  test('are right while a transaction stays open and more happens beside it than can be followed', async () => {
    await expectSame();
    const open = await store.db.startTransaction().execute();
    await open.insertInto('audit_logs').values(rowAt('o', 300)).execute();
    for (let round = 0; round < 4; round++) {
      await store.db
        .updateTable('audit_logs')
        .set({ action: `changed ${round}` })
        .execute();
      await expectSame();
    }
    await open.commit().execute();
    await expectSame();
  });

  test('a table that was emptied is another one, and so is one whose changes come from another server', async () => {
    await expectSame();
    const noted = sql`insert into audit_log_changes (era, moment, sign, id, organisation_id, timestamp)
      values ('elsewhere', (pg_current_xact_id()::text::bigint + 5)::text::xid8, 1, 'x', 'o', ${minute(400)})`;
    await noted.execute(store.db);
    await expectSame();
    await sql`truncate audit_logs`.execute(store.db);
    await expectSame();
    expect(await nodes[0]?.lists.page(list(0))).toEqual({ ids: [], total: 0 });
    const rows = Array.from({ length: 700 }, (_, index) => rowAt('o', index + 50));
    await store.db.insertInto('audit_logs').values(rows).execute();
    await expectSame();
    for (const table of namesOfListed) while (await momentsOf('postgres').forget(store.db, table));
    const { rows: eras } = await sql`select 1 from audit_log_changes where era = 'elsewhere'`.execute(store.db);
    expect(eras).toEqual([]);
    await expectSame();
  });
});
