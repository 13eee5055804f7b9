import { afterAll, beforeAll, expect, test } from 'bun:test';
import { onEachEngine, type TestGateway } from '../../../test/harness.ts';
import { isCount } from '../../store/counts.ts';
import { openStore, type Store } from '../../store/database.ts';
import { countOf } from './list-queries.ts';

onEachEngine('counts', (start) => {
  let gateway: TestGateway;
  let store: Store;
  let beside: Store;
  beforeAll(async () => {
    gateway = await start();
    store = gateway.app.services.store;
    // Another program on the same database.
    beside = openStore(store.address);
  });
  afterAll(async () => {
    await beside.close();
    await gateway.stopWithoutFaults();
  });

  const leases = (from: Store = store) => countOf(from.db.selectFrom('leases').where('holder', '=', 'counts-test'));
  let made = 0;
  const row = () => ({ name: `counts-${++made}`, holder: 'counts-test', expires_at: '' });

  test('are written as the store knows them', () => {
    const { sql } = store.db
      .selectFrom('leases')
      .select((eb) => eb.fn.countAll<number>().as('total'))
      .compile();
    expect(isCount(sql)).toBe(true);
  });

  test('see every write, of this program and of others, at once', async () => {
    expect(await leases()).toBe(0);
    await store.db.insertInto('leases').values(row()).execute();
    expect([await leases(), await leases()]).toEqual([1, 1]);
    await beside.db.insertInto('leases').values(row()).execute();
    expect([await leases(), await leases(beside)]).toEqual([2, 2]);
    await store.db.deleteFrom('leases').where('name', '=', 'counts-1').execute();
    expect([await leases(), await leases(beside)]).toEqual([1, 1]);
  });

  test('inside a transaction are its own, and forgotten when it is taken back', async () => {
    const before = await leases();
    const undone = store.atomically(async (tx) => {
      await tx.insertInto('leases').values(row()).execute();
      const inside = await countOf(tx.selectFrom('leases').where('holder', '=', 'counts-test'));
      throw new Error(`inside ${inside}`);
    });
    await expect(undone).rejects.toThrow(`inside ${before + 1}`);
    expect(await leases()).toBe(before);
  });
});
