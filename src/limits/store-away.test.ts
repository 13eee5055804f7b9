/** What happens while Redis is away, when it comes back, and when it comes back empty. */
import { afterEach, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RedisServer, redisInstalled, startRedis } from '../../test/servers/redis.ts';
import { systemClock } from '../clock.ts';
import { openChangeFeed } from '../store/changes.ts';
import { openStore, type Store } from '../store/database.ts';
import { migrate } from '../store/migrate.ts';
import { LimitStoreAway, type Reservation, type ReserveResult } from './engine.ts';
import { rateLimit, usageLimit } from './engine-suite.ts';
import type { Limit } from './limit.ts';
import { type Limits, type OnStoreFailure, openLimits } from './limits.ts';

interface Place {
  limits: Limits;
  redis: RedisServer;
  /** What was told about the store, in order. */
  told: string[];
}

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function open(onStoreFailure: OnStoreFailure): Promise<Place> {
  const redis = await startRedis();
  const folder = mkdtempSync(join(tmpdir(), 'gw-away-'));
  const store: Store = openStore({ engine: 'sqlite', file: join(folder, 'state.sqlite') });
  await migrate(store, new Date());
  const told: string[] = [];
  const tell = (message: string) => void told.push(message);
  const limits = await openLimits(
    { redisUrl: redis.url, onStoreFailure, storeTimeoutMs: 200 },
    {
      store,
      feed: await openChangeFeed(store, () => undefined),
      dataDir: folder,
      clock: systemClock,
      log: { info: tell, warn: () => undefined, error: tell },
      onSpent: async () => undefined,
    },
  );
  closing.push(async () => {
    await limits.close();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const place = { limits, redis, told };
  await untilBack(place);
  return place;
}

const reserve = async ({ limits }: Place, limit: Limit, least: number): Promise<ReserveResult> =>
  limits.reserve({
    id: Bun.randomUUIDv7(),
    organisationId: limit.organisationId,
    demands: [{ limit, least, most: least }],
  });

const granted = (result: ReserveResult): Reservation => {
  if (!result.granted) throw new Error('It was refused');
  return result.reservation;
};

const used = async ({ limits }: Place, limit: Limit) => {
  const [state] = await limits.read([limit]);
  return { settled: state?.settled, reserved: state?.reserved };
};

const probe = () => usageLimit(Bun.randomUUIDv7(), 1);
const isAway = (fault: unknown): boolean => fault instanceof LimitStoreAway;

/** Until a call is counted in Redis: without it a call with a budget fails, or is let through and counts nothing there. */
async function untilBack(place: Place): Promise<void> {
  for (;;) {
    const limit = probe();
    const taken = await reserve(place, limit, 1).catch((fault) => (isAway(fault) ? null : Promise.reject(fault)));
    if (taken && (await used(place, limit)).reserved === 1) return;
    await Bun.sleep(5);
  }
}

async function untilAway(place: Place): Promise<void> {
  while (!place.told.some((message) => message.startsWith('Redis does not answer'))) {
    await reserve(place, probe(), 1).catch((fault) => (isAway(fault) ? null : Promise.reject(fault)));
  }
}

describe.if(redisInstalled)('a Redis that answers nothing', () => {
  const cases: [OnStoreFailure, budget: 'refused' | 'let through', rate: 'refused' | 'let through'][] = [
    ['default', 'refused', 'let through'],
    ['open', 'let through', 'let through'],
    ['closed', 'refused', 'refused'],
  ];
  test.each(cases)(
    'with the policy %s: a call with a budget is %s, one with a rate limit %s',
    async (policy, budget, rate) => {
      const place = await open(policy);
      closing.push(() => place.redis.kill());
      place.redis.freeze();
      const outcome = (limit: Limit) =>
        reserve(place, limit, 1).then(
          ({ granted: isGranted }) => (isGranted ? 'let through' : 'refused by the limit'),
          (fault) => (isAway(fault) ? 'refused' : Promise.reject(fault)),
        );
      const organisationId = Bun.randomUUIDv7();
      // The first wait for its patience to end, the later ones are answered at once.
      for (let n = 0; n < 5; n++) {
        expect(await outcome(usageLimit(organisationId, 10))).toBe(budget);
        expect(await outcome(rateLimit(organisationId, 10))).toBe(rate);
      }
      expect(place.told).toContain('Redis does not answer; limits follow LIMITS_ON_STORE_FAILURE until it does.');
      place.redis.thaw();
    },
  );

  test('what was spent meanwhile counts from the first call after it is back', async () => {
    const place = await open('open');
    closing.push(() => place.redis.kill());
    const limit = usageLimit(Bun.randomUUIDv7(), 100);
    const before = granted(await reserve(place, limit, 30));
    place.redis.freeze();
    await untilAway(place);
    const meanwhile = granted(await reserve(place, limit, 60));
    place.limits.settle(meanwhile, [60]);
    place.limits.settle(before, [25]);
    place.redis.thaw();
    await untilBack(place);
    expect(await reserve(place, limit, 16)).toMatchObject({ granted: false, state: { settled: 85 } });
    while ((await used(place, limit)).reserved !== 0) await Bun.sleep(5);
    expect(await used(place, limit)).toEqual({ settled: 85, reserved: 0 });
    granted(await reserve(place, limit, 15));
  }, 30_000);

  test('what is used is read from the ledger', async () => {
    const place = await open('closed');
    closing.push(() => place.redis.kill());
    const limit = usageLimit(Bun.randomUUIDv7(), 100);
    place.limits.settle(granted(await reserve(place, limit, 40)), [40]);
    await place.limits.flush();
    place.redis.freeze();
    await untilAway(place);
    expect(await used(place, limit)).toEqual({ settled: 40, reserved: 0 });
    place.redis.thaw();
  });
});

describe.if(redisInstalled)('a Redis that was lost and comes back empty', () => {
  test('is filled from the ledger, and told again what running calls hold', async () => {
    const place = await open('closed');
    const limit = usageLimit(Bun.randomUUIDv7(), 100);
    place.limits.settle(granted(await reserve(place, limit, 50)), [50]);
    const running = granted(await reserve(place, limit, 30));
    const { port } = place.redis;
    await place.redis.kill();
    const again = await startRedis(port);
    closing.push(() => again.kill());
    await untilBack(place);
    expect(await reserve(place, limit, 21)).toMatchObject({ granted: false, state: { settled: 50, reserved: 30 } });
    place.limits.settle(granted(await reserve(place, limit, 20)), [20]);
    place.limits.settle(running, [10]);
    await place.limits.flush();
    expect(await used(place, limit)).toEqual({ settled: 80, reserved: 0 });
  }, 30_000);
});
