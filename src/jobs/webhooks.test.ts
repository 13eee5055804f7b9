/** Deliveries of several organisations beside each other. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { onEachEngine, type TestGateway } from '../../test/harness.ts';
import { addOrganisation, home, storeOf } from '../../test/people.ts';
import { createWebhookJob } from './webhooks.ts';

onEachEngine('webhooks', (start) => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await start();
  });
  afterAll(() => gateway.stopWithoutFaults());

  const queue = async (key: string, count: number): Promise<void> => {
    const { body } = await gateway.post('/v1/webhooks', { url: 'https://hooks.example.com/a' }, { key });
    const now = gateway.clock.now().toISOString();
    const rows = Array.from({ length: count }, () => ({
      id: Bun.randomUUIDv7(),
      webhook_id: body.id,
      event: 'usage.exhausted',
      payload: '{}',
      status: 'queued' as const,
      attempts: 0,
      next_attempt_at: now,
      last_error: null,
      created_at: now,
      delivered_at: null,
    }));
    await storeOf(gateway).db.insertInto('webhook_deliveries').values(rows).execute();
  };

  test('a receiver that sleeps takes the share of its own organisation, and holds up no other', async () => {
    const { organisationId: sleepy } = await home(gateway);
    const other = await addOrganisation(gateway);
    await queue(gateway.adminKey, 60);
    await queue(other.adminKey, 1);
    const called: string[] = [];
    const awake = Promise.withResolvers<number>();
    const heard = Promise.withResolvers<void>();
    const run = createWebhookJob(gateway.app.services, ({ organisationId }) => {
      called.push(organisationId);
      if (organisationId === sleepy) return awake.promise;
      heard.resolve();
      return Promise.resolve(200);
    }).run(gateway.clock.now());
    await heard.promise;
    expect(called.filter((id) => id === sleepy)).toHaveLength(10);
    awake.resolve(200);
    await run;
    expect(called).toHaveLength(61);
    expect(new Set(called)).toEqual(new Set([sleepy, other.organisationId]));
  });
});
