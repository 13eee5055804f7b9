/** One suite that both engines pass. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newDatabase, postgresInstalled } from '../../test/servers/postgres.ts';
import { type Change, openChangeFeed } from './changes.ts';
import { openStore, type Store, type StoreAddress } from './database.ts';
import { migrate, NewerSchemaError } from './migrate.ts';
import { migrations } from './migrations/index.ts';

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
          password_hash: null,
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
