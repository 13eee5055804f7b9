/** Windows that roll: usage starts anew on its date, for keys and for workspaces. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { onEachEngine, type TestGateway } from '../../test/harness.ts';
import { addKey, addWorkspace, type Home, home } from '../../test/people.ts';
import type { StoredUsageLimit } from '../limits/entries.ts';
import { encode } from '../store/json.ts';

const spent = (more: Partial<StoredUsageLimit> = {}): StoredUsageLimit => ({
  type: 'cost',
  credit_limit: 10,
  alert_threshold: 5,
  periodic_reset: 'weekly',
  periodic_reset_days: null,
  next_usage_reset_at: '2031-05-11T00:00:00.000Z',
  current_usage: 12,
  status: 'exhausted',
  last_reset_at: null,
  is_threshold_alerts_sent: true,
  is_exhausted_alerts_sent: true,
  ...more,
});

onEachEngine('usage resets', (start) => {
  let gateway: TestGateway;
  let place: Home;

  beforeAll(async () => {
    gateway = await start();
    gateway.clock.moveTo('2031-05-07T12:00:00.000Z'); // a Wednesday; the next Sunday is the 11th
    place = await home(gateway);
  });
  afterAll(() => gateway.stopWithoutFaults());

  const db = () => gateway.app.services.store.db;
  const exhaustedKey = async (usageLimits: StoredUsageLimit) => {
    const { id } = await addKey(gateway, {
      ...place,
      type: 'workspace-service',
      scopes: ['completions.write'],
      usageLimits,
    });
    await db().updateTable('api_keys').set({ status: 'exhausted' }).where('id', '=', id).execute();
    return id;
  };
  const read = async (id: string) => (await gateway.get(`/v1/api-keys/${id}`)).body;

  test('keys and workspaces start anew when their date has come, and not before', async () => {
    const weekly = await exhaustedKey(spent());
    const never = await exhaustedKey(spent({ periodic_reset: null, next_usage_reset_at: null }));
    const once = await exhaustedKey(spent({ periodic_reset: null }));
    const workspace = await addWorkspace(gateway, place.organisationId, 'Budgeted');
    const tokens = spent({
      type: 'tokens',
      next_usage_reset_at: '2031-06-01T00:00:00.000Z',
      periodic_reset: 'monthly',
    });
    const usage_limits = encode([spent(), tokens]);
    await db().updateTable('workspaces').set({ usage_limits }).where('id', '=', workspace.id).execute();
    await gateway.app.jobs.runOnce('usage-reset');
    expect((await read(weekly)).status).toBe('exhausted');

    gateway.clock.moveTo('2031-05-11T00:00:30.000Z');
    await gateway.app.jobs.runOnce('usage-reset');
    const rolled = await read(weekly);
    expect(rolled.status).toBe('active');
    expect(rolled.last_reset_at).toStartWith('2031-05-11T00:00:3');
    expect(rolled.usage_limits).toMatchObject({
      current_usage: 0,
      status: 'active',
      next_usage_reset_at: '2031-05-18T00:00:00.000Z',
      is_threshold_alerts_sent: false,
      is_exhausted_alerts_sent: false,
    });
    expect((await read(never)).status).toBe('exhausted');
    expect((await read(once)).usage_limits).toMatchObject({ current_usage: 0, next_usage_reset_at: null });
    const { body } = await gateway.get(`/v1/admin/workspaces/${workspace.id}`);
    expect(body.usage_limits.map((limit: StoredUsageLimit) => limit.current_usage)).toEqual([0, 12]);
    expect(body.last_reset_at).not.toBeNull();

    gateway.clock.moveTo('2031-06-30T00:00:00.000Z');
    await gateway.app.jobs.runOnce('usage-reset');
    expect((await read(weekly)).usage_limits.next_usage_reset_at).toBe('2031-07-06T00:00:00.000Z');
  });

  test('a reset is told to everyone who keeps a copy', async () => {
    const heard: string[] = [];
    gateway.app.services.feed.subscribe((changes) => {
      if (changes !== 'all') heard.push(...changes.map((change) => change.id));
    });
    const id = await exhaustedKey(spent({ next_usage_reset_at: '2031-06-29T00:00:00.000Z' }));
    await gateway.app.jobs.runOnce('usage-reset');
    expect(heard).toContain(id);
  });

  test('an expired key stays expired, a deleted one is left alone', async () => {
    const expired = await exhaustedKey(spent({ next_usage_reset_at: '2031-06-29T00:00:00.000Z' }));
    await db().updateTable('api_keys').set({ status: 'expired' }).where('id', '=', expired).execute();
    const deleted = await exhaustedKey(spent({ next_usage_reset_at: '2031-06-29T00:00:00.000Z' }));
    await gateway.delete(`/v1/api-keys/${deleted}`);
    await gateway.app.jobs.runOnce('usage-reset');
    expect(await read(expired)).toMatchObject({ status: 'expired', usage_limits: { current_usage: 0 } });
    const row = await db()
      .selectFrom('api_keys')
      .select('usage_limits')
      .where('id', '=', deleted)
      .executeTakeFirstOrThrow();
    expect(JSON.parse(row.usage_limits ?? '').current_usage).toBe(12);
  });
});
