/** Whether the service is up, and whether it should be sent requests. */
import { expect, test } from 'bun:test';
import { onEachEngine } from '../../../test/harness.ts';

onEachEngine('readiness', (start) => {
  test('is told apart from health: a node that ends, or whose database is another release’s, is up and not ready', async () => {
    const gateway = await start();
    const statuses = async () => [
      (await gateway.get('/v1/health', { key: '' })).status,
      (await gateway.get('/v1/ready', { key: '' })).status,
    ];
    expect(await statuses()).toEqual([200, 200]);
    const { services } = gateway.app;
    services.draining = true;
    expect(await statuses()).toEqual([200, 503]);
    services.draining = false;
    const newer = { version: 9_999, name: 'from the future', applied_at: '' };
    await services.store.db.insertInto('schema_migrations').values(newer).execute();
    expect(await statuses()).toEqual([200, 503]);
    await gateway.stop();
  });
});
