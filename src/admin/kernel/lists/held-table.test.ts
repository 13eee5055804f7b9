/** Tables in memory: how they are read while others write, what a page costs the store then, and when the store answers instead. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { KyselyPlugin } from 'kysely';
import { auditRow } from '../../../../test/audit-rows.ts';
import { onEachEngine, type TestGateway } from '../../../../test/harness.ts';
import { type Home, home, storeOf } from '../../../../test/people.ts';
import { openStore, type Store } from '../../../store/database.ts';
import { Unholdable } from './columns.ts';
import { is } from './condition.ts';
import type { LongList } from './long-list.ts';
import { LongLists } from './long-lists.ts';

const start = Date.parse('2030-01-01T00:00:00Z');
const minute = (index: number) => new Date(start + index * 60_000).toISOString();
const held = { fewest: 1, most: 100_000 };

onEachEngine('tables in memory', (startGateway) => {
  let gateway: TestGateway;
  let place: Home;
  let writer: Store;
  beforeAll(async () => {
    gateway = await startGateway();
    place = await home(gateway);
    writer = openStore(storeOf(gateway).address);
    await writer.db
      .insertInto('audit_logs')
      .values(Array.from({ length: 900 }, (_, index) => rowAt(index)))
      .execute();
  });
  afterAll(async () => {
    await writer.close();
    await gateway.stopWithoutFaults();
  });

  const rowAt = (index: number, action = 'create') =>
    auditRow({ organisation_id: place.organisationId, timestamp: minute(index), action });

  const trail = (action = 'create', offset = 0): LongList => ({
    table: 'audit_logs',
    conditions: () => [is('organisation_id', place.organisationId), is('action', action)],
    order: { by: 'timestamp', direction: 'desc' },
    until: { place: minute(0), id: '' },
    page: { size: 1_000, offset },
  });

  const ids = async (action = 'create') => {
    const rows = writer.db.selectFrom('audit_logs').select('id').where('action', '=', action);
    const found = await rows
      .where('timestamp', '>=', minute(0))
      .orderBy('timestamp', 'desc')
      .orderBy('id', 'desc')
      .execute();
    return found.map(({ id }) => id);
  };

  /** The store, and what is done after each of its statements. */
  const watched = (afterStatement: () => Promise<void>): Pick<Store, 'db' | 'engine'> => {
    const plugin: KyselyPlugin = {
      transformQuery: ({ node }) => node,
      transformResult: async ({ result }) => {
        await afterStatement();
        return result;
      },
    };
    const { db, engine } = storeOf(gateway);
    return { engine, db: db.withPlugin(plugin) };
  };

  /** Lists on the store, and how many statements some of their work took. */
  const counted = (bounds = held) => {
    let statements = 0;
    const lists = new LongLists(
      watched(async () => void statements++),
      bounds,
    );
    const countOf = async (work: () => Promise<unknown>) => {
      statements = 0;
      await work();
      return statements;
    };
    return { lists, countOf };
  };

  test('a list that nobody asked for yet costs the store one statement, and many at once little more', async () => {
    const { lists, countOf } = counted();
    await lists.tend();
    for (const action of ['create', 'login', 'nothing']) {
      expect(await countOf(() => lists.page(trail(action, 500)))).toBe(1);
    }
    const crowd = await countOf(() => Promise.all(Array.from({ length: 50 }, () => lists.page(trail()))));
    expect(crowd).toBeLessThanOrEqual(2);
  });

  test('what others write while the pieces are read is in it, wherever it stands', async () => {
    let moves = 0;
    const busy = watched(async () => {
      const round = moves++;
      const [first = '', middle = '', last = ''] = await ids().then((all) => [all[0], all[450], all.at(-1)]);
      await writer.db.deleteFrom('audit_logs').where('id', '=', first).execute();
      await writer.db
        .updateTable('audit_logs')
        .set({ action: `moved ${round}` })
        .where('id', '=', middle)
        .execute();
      await writer.db
        .updateTable('audit_logs')
        .set({ timestamp: minute(round) })
        .where('id', '=', last)
        .execute();
      await writer.db
        .insertInto('audit_logs')
        .values([rowAt(2_000 + round), { ...rowAt(round), id: idInFront(round) }])
        .execute();
    });
    const lists = new LongLists(busy, held);
    await lists.tend();
    expect(moves).toBeGreaterThan(5);
    // Each statement is followed by writes, so the page is what it was when its only statement ran.
    const before = await ids();
    expect(await lists.page(trail())).toEqual({ ids: before, total: before.length });
  });

  /** Before every other, where the reading has come by already. */
  const idInFront = (round: number) => `00000000-0000-7000-8000-${round.toString(16).padStart(12, '0')}`;

  test('a table with fewer or more rows than are worth holding is read from the store', async () => {
    for (const bounds of [
      { fewest: 100_000, most: 200_000 },
      { fewest: 0, most: 100 },
    ]) {
      const { lists, countOf } = counted(bounds);
      await lists.tend();
      expect(await countOf(() => lists.page(trail()))).toBeGreaterThan(1);
    }
  });

  test('a table that outgrows what is held is read from the store again', async () => {
    const size = (await ids()).length;
    const bounds = { fewest: 1, most: size + 100 };
    const { lists, countOf } = counted(bounds);
    await lists.tend();
    expect(await countOf(() => lists.page(trail()))).toBe(1);
    await writer.db
      .insertInto('audit_logs')
      .values(Array.from({ length: 200 }, (_, index) => rowAt(3_000 + index)))
      .execute();
    const all = await ids();
    expect(await countOf(async () => expect((await lists.page(trail())).total).toBe(all.length))).toBeGreaterThan(1);
  });

  test('a condition on something that is not held is asked of the store', async () => {
    const { lists } = counted();
    await lists.tend();
    const [id = ''] = await ids();
    await writer.db.updateTable('audit_logs').set({ request_id: 'mine' }).where('id', '=', id).execute();
    const list = { ...trail(), conditions: () => [is('request_id', 'mine')] };
    expect(await lists.page(list)).toEqual({ ids: [id], total: 1 });
  });

  test('once started, lists read their rows without being asked, and leave off when they are stopped', async () => {
    const { promise: asked, resolve } = Promise.withResolvers<void>();
    let statements = 0;
    const lists = new LongLists(
      watched(async () => {
        statements++;
        resolve();
      }),
      held,
    );
    const faults: unknown[] = [];
    lists.start((fault) => faults.push(fault));
    await asked;
    await lists.stop();
    // Whether the table is worth it, when it is, and what changed since then.
    expect(statements).toBeLessThanOrEqual(3);
    expect((await lists.page(trail())).total).toBe((await ids()).length);
    expect(faults).toEqual([]);
  });

  test('a row that this program would not write is listed by the store, and the fault is told', async () => {
    const { lists, countOf } = counted();
    await lists.tend();
    await writer.db
      .insertInto('audit_logs')
      .values({ ...rowAt(5_000), id: 'odd' })
      .execute();
    const all = await ids();
    expect(all).toContain('odd');
    expect(await countOf(async () => expect((await lists.page(trail())).ids).toContain('odd'))).toBeGreaterThan(1);
    const others = new LongLists(storeOf(gateway), held);
    await expect(others.tend()).rejects.toThrow(Unholdable);
    expect((await others.page(trail())).ids).toContain('odd');
    await writer.db.deleteFrom('audit_logs').where('id', '=', 'odd').execute();
  });
});
