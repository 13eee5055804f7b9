/** Leases of jobs: one node at a time, and none for longer than it could be. */
import { expect, test } from 'bun:test';
import { onEachEngine } from '../../test/harness.ts';
import { storeOf } from '../../test/people.ts';

onEachEngine('the lease of a job', (start) => {
  test('keeps other nodes out until it ends, and holds nobody when a wrong clock made it endless', async () => {
    const gateway = await start();
    const { db } = storeOf(gateway);
    const name = 'session-sweep';
    const lease = (minutes: number) => ({
      name,
      holder: 'another node',
      expires_at: new Date(gateway.clock.now().getTime() + minutes * 60_000).toISOString(),
    });
    const isFree = async () =>
      (await db.selectFrom('leases').selectAll().where('name', '=', name).execute()).length === 0;

    await db.insertInto('leases').values(lease(4)).execute();
    await gateway.app.jobs.runOnce(name);
    expect(await isFree()).toBe(false);
    gateway.clock.advance({ minutes: 5 });
    await gateway.app.jobs.runOnce(name);
    expect(await isFree()).toBe(true);

    await db
      .insertInto('leases')
      .values(lease(60 * 24 * 365))
      .execute();
    await gateway.app.jobs.runOnce(name);
    expect(await isFree()).toBe(true);
    await gateway.stopWithoutFaults();
  });
});
