/** Leases of jobs: one node at a time, and none for longer than it could be. */
import { expect, test } from 'bun:test';
import { onEachEngine } from '../../test/harness.ts';
import { storeOf } from '../../test/people.ts';
import { createJobRunner } from './runner.ts';

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

  test('is renewed while the work goes on, so that no other node takes it up beside', async () => {
    const gateway = await start();
    const { clock } = gateway;
    const store = storeOf(gateway);
    const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
    const gate = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    let runs = 0;
    const job = {
      name: 'long-work',
      everyMs: 1_000,
      run: () => {
        runs++;
        begun.resolve();
        return gate.promise;
      },
    };
    const first = createJobRunner([job], store, clock, silent, 1);
    const second = createJobRunner([job], store, clock, silent, 1);
    const working = first.runOnce(job.name);
    await begun.promise;
    const endOf = async () =>
      (await store.db.selectFrom('leases').select('expires_at').where('name', '=', job.name).executeTakeFirst())
        ?.expires_at ?? '';
    for (let round = 0; round < 3; round++) {
      clock.advance({ minutes: 4 });
      const soon = new Date(clock.now().getTime() + 60_000).toISOString();
      while ((await endOf()) <= soon) await new Promise((resolve) => setImmediate(resolve));
      await second.runOnce(job.name);
    }
    expect(runs).toBe(1);
    gate.resolve();
    await working;
    await gateway.stopWithoutFaults();
  });
});
