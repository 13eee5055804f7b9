/** Reserving and settling, on every engine. */
import { expect, test } from 'bun:test';
import { leaseMs, type Reservation, type ReserveResult } from './engine.ts';
import { type EngineUnderTest, onEachLimitEngine, rateLimit, start, usageLimit } from './engine-suite.ts';
import type { Limit } from './limit.ts';

const minuteMs = 60_000;
const dayMs = 86_400_000;

onEachLimitEngine('a limit engine', (open) => {
  const reserve = async ({ engine, organisationId }: EngineUnderTest, ...demands: [Limit, number, number?][]) =>
    engine.reserve({
      id: Bun.randomUUIDv7(),
      organisationId,
      demands: demands.map(([limit, least, most]) => ({ limit, least, most: most ?? least })),
    });
  const granted = (result: ReserveResult): Reservation => {
    if (!result.granted) throw new Error('It was refused');
    return result.reservation;
  };
  const used = async ({ engine }: EngineUnderTest, limit: Limit) => {
    const [state] = await engine.read([limit]);
    return { settled: state?.settled, reserved: state?.reserved };
  };

  test('takes what fits and refuses what does not, naming the limit', async () => {
    const place = open();
    const limit = usageLimit(place.organisationId, 100);
    expect((await reserve(place, [limit, 60])).granted).toBe(true);
    expect(await reserve(place, [limit, 41])).toMatchObject({
      granted: false,
      refusedBy: { limit },
      state: { settled: 0, reserved: 60 },
    });
    expect((await reserve(place, [limit, 40])).granted).toBe(true);
  });

  test('a call that one limit refuses takes nothing from the others', async () => {
    const place = open();
    const roomy = usageLimit(place.organisationId, 100);
    const full = rateLimit(place.organisationId, 1);
    granted(await reserve(place, [full, 1]));
    const refused = await reserve(place, [roomy, 10], [full, 1]);
    expect(refused).toMatchObject({ granted: false, refusedBy: { limit: full } });
    expect(await used(place, roomy)).toEqual({ settled: 0, reserved: 0 });
  });

  test('of two limits that refuse, the first is named', async () => {
    const place = open();
    const first = usageLimit(place.organisationId, 0);
    const second = usageLimit(place.organisationId, 0);
    expect(await reserve(place, [first, 1], [second, 1])).toMatchObject({ refusedBy: { limit: first } });
  });

  test('what was spent takes the place of what was reserved, more or less than it', async () => {
    const place = open();
    const limit = usageLimit(place.organisationId, 100);
    const less = granted(await reserve(place, [limit, 40]));
    const more = granted(await reserve(place, [limit, 10]));
    await place.engine.settle(less, [5]);
    expect(await used(place, limit)).toEqual({ settled: 5, reserved: 10 });
    await place.engine.settle(more, [30]);
    expect(await used(place, limit)).toEqual({ settled: 35, reserved: 0 });
    expect(place.entries.map((entry) => entry.amount)).toEqual([5, 30]);
  });

  test('a reservation is resolved once', async () => {
    const place = open();
    const limit = usageLimit(place.organisationId, 100);
    const reservation = granted(await reserve(place, [limit, 40]));
    await place.engine.settle(reservation, [10]);
    await place.engine.settle(reservation, [10]);
    await place.engine.settle(reservation, [0]);
    expect(await used(place, limit)).toEqual({ settled: 10, reserved: 0 });
  });

  test('takes as much of the most as there is room for', async () => {
    const place = open();
    const limit = usageLimit(place.organisationId, 100);
    const all = granted(await reserve(place, [limit, 10, 500]));
    expect(all.holdings[0]?.amount).toBe(100);
    expect((await reserve(place, [limit, 1, 500])).granted).toBe(false);
    await place.engine.settle(all, [20]);
    expect(granted(await reserve(place, [limit, 1, 50])).holdings[0]?.amount).toBe(50);
  });

  test('a limit that is used up refuses also a call that costs nothing', async () => {
    const place = open();
    const limit = usageLimit(place.organisationId, 10);
    const reservation = granted(await reserve(place, [limit, 10]));
    granted(await reserve(place, [limit, 0]));
    await place.engine.settle(reservation, [10]);
    expect((await reserve(place, [limit, 0])).granted).toBe(false);
  });

  test('in shadow it counts and refuses nothing', async () => {
    const place = open();
    const limit = usageLimit(place.organisationId, 10, { mode: 'shadow' });
    const reservation = granted(await reserve(place, [limit, 25]));
    await place.engine.settle(reservation, [25]);
    granted(await reserve(place, [limit, 5]));
    expect(await used(place, limit)).toEqual({ settled: 25, reserved: 5 });
  });

  test('a window ends at its boundary in UTC, weeks on Monday', async () => {
    const place = open();
    const ends: Record<string, string> = {
      rpm: '2026-03-18T15:31:00.000Z',
      rph: '2026-03-18T16:00:00.000Z',
      rpd: '2026-03-19T00:00:00.000Z',
      rpw: '2026-03-23T00:00:00.000Z',
    };
    for (const unit of ['rpm', 'rph', 'rpd', 'rpw'] as const) {
      const limit = rateLimit(place.organisationId, 1, unit);
      place.clock.now = start;
      granted(await reserve(place, [limit, 1]));
      const refused = await reserve(place, [limit, 1]);
      expect(refused.granted ? '' : new Date(refused.state.endsAt ?? 0).toISOString()).toBe(ends[unit] ?? '');
      place.clock.now = Date.parse(ends[unit] ?? '') - 1;
      expect((await reserve(place, [limit, 1])).granted).toBe(false);
      place.clock.now++;
      expect((await reserve(place, [limit, 1])).granted).toBe(true);
    }
  });

  test('a clock that goes back opens no window again', async () => {
    const place = open();
    const limit = rateLimit(place.organisationId, 1);
    place.clock.now = start + minuteMs;
    granted(await reserve(place, [limit, 1]));
    place.clock.now = start;
    expect((await reserve(place, [limit, 1])).granted).toBe(false);
  });

  test('a late settle of an old window never touches the new one', async () => {
    const place = open();
    const limit = rateLimit(place.organisationId, 100, 'rpm', { type: 'tokens' });
    const old = granted(await reserve(place, [limit, 30]));
    place.clock.now += minuteMs;
    granted(await reserve(place, [limit, 7]));
    await place.engine.settle(old, [90]);
    expect(await used(place, limit)).toEqual({ settled: 0, reserved: 7 });
    expect(place.entries).toMatchObject([{ amount: 90, epoch: start }]);
  });

  test('a usage limit starts anew when its reset is due, whether or not a job has come by', async () => {
    const place = open();
    const limit = usageLimit(place.organisationId, 10, {
      window: {
        kind: 'usage',
        epoch: start,
        resetsAt: Date.UTC(2026, 3, 1),
        cadence: { periodic_reset: 'monthly', periodic_reset_days: null },
      },
    });
    await place.engine.settle(granted(await reserve(place, [limit, 10])), [10]);
    const running = granted(await place.engine.reserve({ id: 'x', organisationId: place.organisationId, demands: [] }));
    expect(running.holdings).toEqual([]);
    place.clock.now = Date.UTC(2026, 3, 1) - 1;
    expect(await reserve(place, [limit, 1])).toMatchObject({ state: { endsAt: Date.UTC(2026, 3, 1) } });
    place.clock.now = Date.UTC(2026, 3, 1);
    granted(await reserve(place, [limit, 10]));
    expect(await reserve(place, [limit, 1])).toMatchObject({ state: { endsAt: Date.UTC(2026, 4, 1) } });
  });

  test('a reset by hand empties the counter; what was reserved before it is settled into the past', async () => {
    const place = open();
    const limit = usageLimit(place.organisationId, 10);
    const old = granted(await reserve(place, [limit, 10]));
    await place.engine.reset(place.organisationId, limit.counter, start);
    expect(await used(place, limit)).toEqual({ settled: 0, reserved: 0 });
    granted(await reserve(place, [limit, 4]));
    await place.engine.settle(old, [10]);
    expect(await used(place, limit)).toEqual({ settled: 0, reserved: 4 });
    await place.engine.reset(place.organisationId, limit.counter, start);
    expect(await used(place, limit)).toEqual({ settled: 0, reserved: 4 });
  });

  test('money and tokens of a node that died are given back when its lease ends, requests stay counted', async () => {
    const place = open();
    const money = usageLimit(place.organisationId, 10);
    const requests = usageLimit(place.organisationId, 2, { type: 'requests' });
    granted(await reserve(place, [money, 10], [requests, 1]));
    place.clock.now += leaseMs - 1;
    expect((await reserve(place, [money, 1])).granted).toBe(false);
    place.clock.now += 1;
    granted(await reserve(place, [money, 10]));
    expect(await used(place, requests)).toEqual({ settled: 1, reserved: 0 });
    expect(place.entries).toMatchObject([{ counter: requests.counter, amount: 1 }]);
  });

  test('a reservation that is renewed does not expire', async () => {
    const place = open();
    const limit = usageLimit(place.organisationId, 10);
    const reservation = granted(await reserve(place, [limit, 10]));
    place.clock.now += leaseMs - 1;
    await place.engine.renew([reservation]);
    place.clock.now += leaseMs - 1;
    expect((await reserve(place, [limit, 1])).granted).toBe(false);
  });

  test('what is settled after its lease counts all the same, once', async () => {
    const place = open();
    const money = usageLimit(place.organisationId, 10);
    const requests = usageLimit(place.organisationId, 2, { type: 'requests' });
    const reservation = granted(await reserve(place, [money, 5], [requests, 1]));
    place.clock.now += leaseMs;
    expect(await used(place, money)).toEqual({ settled: 0, reserved: 0 });
    await place.engine.settle(reservation, [3, 1]);
    await place.engine.settle(reservation, [3, 1]);
    expect(await used(place, money)).toEqual({ settled: 3, reserved: 0 });
    expect(await used(place, requests)).toEqual({ settled: 1, reserved: 0 });
  });

  test('a counter is raised to what the ledger knows, and never lowered', async () => {
    const place = open();
    const limit = usageLimit(place.organisationId, 100);
    await place.engine.settle(granted(await reserve(place, [limit, 10])), [10]);
    const spend = { organisationId: place.organisationId, counter: limit.counter, epoch: 0, endsAt: null };
    await place.engine.raise([{ ...spend, settled: 4 }]);
    expect(await used(place, limit)).toEqual({ settled: 10, reserved: 0 });
    await place.engine.raise([{ ...spend, settled: 25 }]);
    expect(await used(place, limit)).toEqual({ settled: 25, reserved: 0 });
  });

  test('sums are exact far beyond what a single call can cost', async () => {
    const place = open();
    const limit = usageLimit(place.organisationId, 9e15);
    await place.engine.settle(granted(await reserve(place, [limit, 4e15])), [4_000_000_000_000_001]);
    await place.engine.settle(granted(await reserve(place, [limit, 1])), [1]);
    expect(await used(place, limit)).toEqual({ settled: 4_000_000_000_000_002, reserved: 0 });
  });

  test('a raised value takes effect with the next call', async () => {
    const place = open();
    const limit = usageLimit(place.organisationId, 10);
    await place.engine.settle(granted(await reserve(place, [limit, 10])), [10]);
    expect((await reserve(place, [limit, 1])).granted).toBe(false);
    expect((await reserve(place, [{ ...limit, value: 20 }, 10])).granted).toBe(true);
  });

  test('1,000 calls at once never take more than there is', async () => {
    const place = open();
    const limit = usageLimit(place.organisationId, 500);
    const results = await Promise.all(Array.from({ length: 1_000 }, () => reserve(place, [limit, 1])));
    const reservations = results.filter((result) => result.granted).map((result) => result.reservation);
    expect(reservations).toHaveLength(500);
    await Promise.all(reservations.map((reservation) => place.engine.settle(reservation, [1])));
    expect(await used(place, limit)).toEqual({ settled: 500, reserved: 0 });
    expect(place.entries.reduce((sum, entry) => sum + entry.amount, 0)).toBe(500);
  });

  test('windows over the end of a leap February', async () => {
    const place = open();
    place.clock.now = Date.UTC(2028, 1, 29, 23, 59, 59);
    const limit = rateLimit(place.organisationId, 1, 'rpd');
    expect(await used(place, limit)).toEqual({ settled: 0, reserved: 0 });
    granted(await reserve(place, [limit, 1]));
    expect(await reserve(place, [limit, 1])).toMatchObject({ state: { endsAt: Date.UTC(2028, 2, 1) } });
    place.clock.now += 1_000 + dayMs;
    granted(await reserve(place, [limit, 1]));
  });
});
