/** Long lists against the plain count and page of the same rows: after any write, of whoever, they say the same on either engine. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Expression, type SqlBool, sql } from 'kysely';
import { auditRow } from '../../../test/audit-rows.ts';
import { onEachEngine, type TestGateway } from '../../../test/harness.ts';
import { type Home, home, storeOf } from '../../../test/people.ts';
import { newDatabase, postgresInstalled } from '../../../test/servers/postgres.ts';
import { openStore, type Store } from '../../store/database.ts';
import { listedTables, momentsOf } from '../../store/list-changes.ts';
import type { ListedAuditRow, ListedKey } from '../../store/list-tables.ts';
import { migrate } from '../../store/migrate.ts';
import { mintKey } from '../api-keys/mint.ts';
import type { LongList, Source } from './long-list.ts';
import { LongLists } from './long-lists.ts';
import type { Order } from './walk.ts';

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

  constructor(store: Store) {
    this.store = store;
    this.lists = new LongLists(store.engine);
  }
}

const words = ['tool', 'Werkzeug', 'outil', '\u{1f527}', '\u{ff5e}', 'rare'];
const start = Date.parse('2030-01-01T00:00:00Z');
const minute = (index: number) => new Date(start + index * 60_000).toISOString();

const rowAt = (organisation_id: string, index: number, action = 'create') =>
  auditRow({ organisation_id, timestamp: minute(index), action });

type Asked = { order: Order; page: { size: number; offset: number } };

const keyList = (db: Store['db'], condition: Expression<SqlBool>, asked: Asked) => ({
  table: 'api_keys' as const,
  matches: (source: Source, there: Expression<SqlBool>) =>
    db
      .selectFrom(sql<ListedKey>`${source}`.as('api_keys'))
      .where(there)
      .where(sql<boolean>`status != 'archived'`)
      .where(condition),
  ...asked,
});

const trail = (db: Store['db'], condition: Expression<SqlBool>, from: string, asked: Asked) => ({
  table: 'audit_logs' as const,
  matches: (source: Source, there: Expression<SqlBool>) =>
    db.selectFrom(sql<ListedAuditRow>`${source}`.as('audit_logs')).where(there).where(condition),
  until: { place: from, id: '' },
  ...asked,
});

/** What a plain count and a plain page say. */
async function plainly<Tables, Named extends keyof Tables>(list: LongList<Tables, Named>) {
  const { by, id, direction } = list.order;
  const everything = list.until ? sql<boolean>`${by} >= ${list.until.place}` : sql<boolean>`1 = 1`;
  const rows = await list
    .matches(sql.table(list.table), everything, 'walk')
    .select(sql<string>`${id}`.as('id'))
    .orderBy(by, direction)
    .orderBy(id, direction)
    .$castTo<{ id: string }>()
    .execute();
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
    here = new Node(storeOf(gateway));
    beside = new Node(openStore(here.store.address));
    await here.store.atomically(async (tx) => {
      for (let index = 0; index < 900; index++) await addKey(tx);
      for (let index = 0; index < 900; index++) await addAuditRow(tx);
    });
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
  const keyFilters = [
    sql`1 = 1`,
    sql`status = 'active'`,
    sql`name_folded like '%tool%'`,
    sql`name_folded like '%rare%'`,
  ];
  const auditFilters = [sql`1 = 1`, sql`action = 'login'`, sql`action in ('create', 'delete')`];

  async function expectSame(node: Node): Promise<void> {
    const { db } = node.store;
    const page = { size: oneOf([0, 1, 7, 50, 400]), offset: oneOf([0, 0, 10, 100, 333, 500, 880, 5_000]) };
    const direction = oneOf(['asc', 'desc'] as const);
    const id = sql<string>`id`;
    const filter = oneOf(keyFilters) as Expression<SqlBool>;
    const keys = keyList(db, filter, { order: { by: sql.raw<string>(oneOf(keyOrders)), id, direction }, page });
    expect(await node.lists.page(db, keys)).toEqual(await plainly(keys));
    const order = { by: sql<string>`timestamp`, id, direction: 'desc' as const };
    const rows = trail(db, oneOf(auditFilters) as Expression<SqlBool>, minute(below(4_000)), { order, page });
    expect(await node.lists.page(db, rows)).toEqual(await plainly(rows));
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
        const order = { by: sql<string>`created_at`, id: sql<string>`id`, direction: 'asc' as const };
        await node.lists.page(
          node.store.db,
          keyList(node.store.db, sql<boolean>`1 = 1`, { order, page: { size: 50, offset: 400 } }),
        );
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
    const order = { by: sql<string>`name_folded`, id: sql<string>`id`, direction: 'asc' as const };
    const tools = () =>
      keyList(here.store.db, sql<boolean>`name_folded like 'tool%'`, { order, page: { size: 5, offset: 2 } });
    const { total } = await here.lists.page(here.store.db, tools());
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
    const found = await here.lists.page(here.store.db, tools());
    expect(found).toEqual(await plainly(tools()));
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
  let node: Node;
  beforeAll(async () => {
    store = openStore({ engine: 'postgres', url: await newDatabase() });
    await migrate(store, new Date());
    node = new Node(store);
    const rows = Array.from({ length: 900 }, (_, index) => rowAt('o', index));
    await store.db.insertInto('audit_logs').values(rows).execute();
  });
  afterAll(() => store.close());

  const list = (offset: number) =>
    trail(store.db, sql<boolean>`organisation_id = 'o'`, minute(100), {
      order: { by: sql<string>`timestamp`, id: sql<string>`id`, direction: 'desc' },
      page: { size: 20, offset },
    });
  const expectSame = async () => {
    for (const offset of [0, 300, 310, 700]) {
      expect(await node.lists.page(store.db, list(offset))).toEqual(await plainly(list(offset)));
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
    expect(await node.lists.page(store.db, list(0))).toEqual({ ids: [], total: 0 });
    const rows = Array.from({ length: 700 }, (_, index) => rowAt('o', index + 50));
    await store.db.insertInto('audit_logs').values(rows).execute();
    await expectSame();
    for (const table of listedTables) while (await momentsOf('postgres').forget(store.db, table));
    const { rows: eras } = await sql`select 1 from audit_log_changes where era = 'elsewhere'`.execute(store.db);
    expect(eras).toEqual([]);
    await expectSame();
  });
});
