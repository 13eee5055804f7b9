/** What every engine must do, for tests: the engines that count, each with a clock that the test moves. */
import { afterAll, beforeAll, describe } from 'bun:test';
import { redisInstalled, sharedRedis } from '../../test/servers/redis.ts';
import { connectRedis } from '../redis/connect.ts';
import type { KnownSpend, LedgerEntry, LimitEngine } from './engine.ts';
import { type Limit, type LimitWindow, rateCounter, usageCounter } from './limit.ts';
import { MemoryEngine } from './memory-engine.ts';
import { RedisEngine } from './redis-engine.ts';

export interface EngineUnderTest {
  engine: LimitEngine;
  /** Everything that was settled, as the ledger hears of it. */
  entries: LedgerEntry[];
  clock: { now: number };
  organisationId: string;
}

export const start = Date.UTC(2026, 2, 18, 15, 30);

/** Runs a suite on each engine; `open` makes one with counters of its own. */
export function onEachLimitEngine(title: string, suite: (open: () => EngineUnderTest) => void): void {
  describe(`${title} (memory)`, () =>
    suite(() => {
      const { entries, clock, organisationId } = fresh();
      const engine = new MemoryEngine(
        () => clock.now,
        (told) => void entries.push(...told),
      );
      return { engine, entries, clock, organisationId };
    }));
  describe.if(redisInstalled)(`${title} (Redis)`, () => {
    let redis: ReturnType<typeof connectRedis>;
    beforeAll(async () => {
      const { url } = await sharedRedis();
      redis = connectRedis(url, () => undefined);
      await untilConnected(redis);
    });
    afterAll(() => redis.close());
    suite(() => {
      const { entries, clock, organisationId } = fresh();
      const engine = new RedisEngine(redis, {
        record: (told) => void entries.push(...told),
        known: async () => knownFrom(entries),
        now: () => clock.now,
        serverTime: () => clock.now,
        timeoutMs: 10_000,
      });
      return { engine, entries, clock, organisationId };
    });
  });
}

const fresh = () => ({
  entries: [] as LedgerEntry[],
  clock: { now: start },
  organisationId: Bun.randomUUIDv7(),
});

/** What a ledger knows after these entries: the sums of the latest epoch of each counter. */
export function knownFrom(entries: readonly LedgerEntry[]): KnownSpend[] {
  const known = new Map<string, KnownSpend>();
  for (const { counter, organisationId, epoch, amount, endsAt } of entries) {
    const before = known.get(counter);
    if (before && before.epoch > epoch) continue;
    const settled = before?.epoch === epoch ? before.settled + amount : amount;
    known.set(counter, { organisationId, counter, epoch, settled, endsAt });
  }
  return [...known.values()];
}

export async function untilConnected(redis: ReturnType<typeof connectRedis>): Promise<void> {
  for (;;) {
    try {
      await redis.command('x', ['PING']);
      return;
    } catch {
      await Bun.sleep(5);
    }
  }
}

const forever: LimitWindow = {
  kind: 'usage',
  epoch: 0,
  resetsAt: null,
  cadence: { periodic_reset: null, periodic_reset_days: null },
};

export const usageLimit = (organisationId: string, value: number, more: Partial<Limit> = {}): Limit => {
  const type = more.type ?? 'cost';
  return {
    counter: usageCounter('api_key', Bun.randomUUIDv7(), type),
    organisationId,
    scope: 'api_key',
    name: 'a key',
    type,
    window: forever,
    value,
    mode: 'enforce',
    clampMaxTokens: false,
    ...more,
  };
};

export const rateLimit = (
  organisationId: string,
  value: number,
  unit: 'rpm' | 'rph' | 'rpd' | 'rpw' = 'rpm',
  more: Partial<Limit> = {},
): Limit => ({
  ...usageLimit(organisationId, value, { type: 'requests' }),
  counter: rateCounter('workspace', Bun.randomUUIDv7(), more.type ?? 'requests', unit),
  scope: 'workspace',
  window: { kind: 'rate', unit },
  ...more,
});
