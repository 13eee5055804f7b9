/** One suite that both engines pass. */
import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { newDatabase, postgresInstalled } from '../../test/servers/postgres.ts';
import { type Change, openChangeFeed } from './changes.ts';
import { openStore, type Store, type StoreAddress } from './database.ts';
import { migrate, NewerSchemaError } from './migrate.ts';
import { migrations } from './migrations/index.ts';
import { isAway } from './unavailable.ts';

const now = new Date('2026-03-01T12:00:00Z');

function suite(engine: string, newAddress: () => Promise<StoreAddress>) {
  describe(engine, () => {
    let address: StoreAddress;
    let store: Store;

    beforeAll(async () => {
      address = await newAddress();
      store = openStore(address);
      await migrate(store, now);
    });

    afterAll(() => store.close());

    const addUser = (db: Store['db'], email: string) =>
      db
        .insertInto('users')
        .values({
          id: Bun.randomUUIDv7(),
          email,
          first_name: 'A',
          last_name: 'B',
          email_proven_at: null,
          last_organisation_id: null,
          created_at: now.toISOString(),
          last_updated_at: now.toISOString(),
        })
        .execute();
    const usersLike = async (prefix: string) =>
      (await store.db.selectFrom('users').select('email').where('email', 'like', `${prefix}%`).execute()).length;

    test('migrating again changes nothing', async () => {
      expect(await migrate(store, now)).toEqual({ from: migrations.length, to: migrations.length });
    });

    test('two nodes that start together migrate once', async () => {
      const fresh = await newAddress();
      const [one, two] = [openStore(fresh), openStore(fresh)];
      const reports = await Promise.all([migrate(one, now), migrate(two, now)]);
      expect(reports.map((report) => report.from).sort()).toEqual([0, migrations.length]);
      const rows = await one.db.selectFrom('schema_migrations').selectAll().execute();
      expect(rows).toHaveLength(migrations.length);
      await Promise.all([one.close(), two.close()]);
    });

    test('of many that insert the same at once, one does and the others see it', async () => {
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, () =>
          store.atomically(async (tx) => {
            const found = await tx.selectFrom('users').select('id').where('email', '=', 'same@x').executeTakeFirst();
            if (found) return 'seen';
            await addUser(tx, 'same@x');
            return 'made';
          }),
        ),
      );
      expect(outcomes.filter((outcome) => outcome === 'made')).toHaveLength(1);
      expect(outcomes.filter((outcome) => outcome === 'seen')).toHaveLength(19);
    });

    test('a crowd that changes one row gets through', async () => {
      await addUser(store.db, 'crowd@x');
      await Promise.all(
        Array.from({ length: 40 }, () =>
          store.atomically(async (tx) => {
            const row = tx.selectFrom('users').select('last_name').where('email', '=', 'crowd@x');
            const { last_name } = await row.executeTakeFirstOrThrow();
            await tx
              .updateTable('users')
              .set({ last_name: `${last_name}+` })
              .where('email', '=', 'crowd@x')
              .execute();
          }),
        ),
      );
      const after = await store.db
        .selectFrom('users')
        .select('last_name')
        .where('email', '=', 'crowd@x')
        .executeTakeFirstOrThrow();
      expect(after.last_name).toBe(`B${'+'.repeat(40)}`);
    });

    test('a schema newer than the program is refused', async () => {
      const fresh = openStore(await newAddress());
      await migrate(fresh, now);
      await fresh.db
        .insertInto('schema_migrations')
        .values({ version: migrations.length + 1, name: 'from the future', applied_at: now.toISOString() })
        .execute();
      expect(migrate(fresh, now)).rejects.toThrow(NewerSchemaError);
      await fresh.close();
    });

    test('what throws inside a transaction leaves no trace', async () => {
      const failing = store.atomically(async (tx) => {
        await addUser(tx, 'rolled-back@example.com');
        throw new Error('on purpose');
      });
      expect(failing).rejects.toThrow('on purpose');
      await failing.catch(() => undefined);
      expect(await usersLike('rolled-back')).toBe(0);
    });

    test('concurrent transactions behave as if they ran one after the other', async () => {
      const addUnlessThree = () =>
        store.atomically(async (tx) => {
          const { count } = await tx
            .selectFrom('users')
            .select((eb) => eb.fn.countAll<number>().as('count'))
            .where('email', 'like', 'racer%')
            .executeTakeFirstOrThrow();
          if (count < 3) await addUser(tx, `racer-${Bun.randomUUIDv7()}@example.com`);
        });
      await Promise.all(Array.from({ length: 5 }, addUnlessThree));
      expect(await usersLike('racer')).toBe(3);
    });

    test('counts arrive as numbers', async () => {
      const { count } = await store.db
        .selectFrom('users')
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow();
      expect(typeof count).toBe('number');
    });
  });
}

const folder = mkdtempSync(join(tmpdir(), 'gw-store-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;

suite('SQLite', async () => ({ engine: 'sqlite', file: join(folder, `${files++}.db`) }));

test('SQLite serves readers while a write waits for another program, and writes when that one is done', async () => {
  const file = join(folder, 'shared.db');
  const store = openStore({ engine: 'sqlite', file });
  await migrate(store, now);
  const other = new Database(file);
  other.run('begin immediate');
  let written = false;
  const write = store.atomically(async (tx) => {
    await tx.deleteFrom('leases').execute();
    written = true;
  });
  for (let read = 0; read < 5; read++) await store.db.selectFrom('users').selectAll().execute();
  expect(written).toBe(false);
  other.run('commit');
  await write;
  expect(written).toBe(true);
  other.close();
  await store.close();
});

test('SQLite on a full disk says so, keeps what it has, and writes again when there is room', async () => {
  const store = openStore({ engine: 'sqlite', file: join(folder, 'full.db') });
  await migrate(store, now);
  const lease = (name: string) => ({ name, holder: 'x'.repeat(4_000), expires_at: now.toISOString() });
  const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(store.db);
  await sql.raw(`pragma max_page_count = ${(rows[0]?.page_count ?? 0) + 5}`).execute(store.db);
  const fault = await store
    .atomically(async (tx) => {
      for (let index = 0; index < 50; index++)
        await tx
          .insertInto('leases')
          .values(lease(`many ${index}`))
          .execute();
    })
    .catch((error: unknown) => error);
  expect([isAway(fault), String(fault)]).toEqual([true, 'SQLiteError: database or disk is full']);
  expect(await store.db.selectFrom('leases').select('name').execute()).toEqual([]);
  await sql`pragma max_page_count = 1000000`.execute(store.db);
  await store.atomically(async (tx) => void (await tx.insertInto('leases').values(lease('one')).execute()));
  expect(await store.db.selectFrom('leases').select('name').execute()).toEqual([{ name: 'one' }]);
  await store.close();
});

describe.if(postgresInstalled)('with a PostgreSQL server', () => {
  suite('PostgreSQL', async () => ({ engine: 'postgres', url: await newDatabase() }));

  test('a change committed on one node is heard on another', async () => {
    const address: StoreAddress = { engine: 'postgres', url: await newDatabase() };
    const [one, two] = [openStore(address), openStore(address)];
    const feeds = await Promise.all([one, two].map((store) => openChangeFeed(store, () => undefined)));
    const [sender, receiver] = feeds;
    if (!sender || !receiver) throw new Error('no feeds');
    const change: Change = { topic: 'api_key', id: Bun.randomUUIDv7() };
    const heard = new Promise<readonly Change[] | 'all'>((resolve) => receiver.subscribe(resolve));
    await one.atomically((tx) => sender.publish(tx, [change]));
    expect(await heard).toEqual([change]);
    await Promise.all([...feeds.map((feed) => feed.close()), one.close(), two.close()]);
  });
});
