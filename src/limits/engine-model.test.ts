/** Random sequences of reserve, settle, cancel, reset, raise, lapse of time and loss of the store, against an oracle that keeps a list of what happened. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { leaseMs, type Reservation } from './engine.ts';
import { type EngineUnderTest, knownFrom, onEachLimitEngine, rateLimit, start, usageLimit } from './engine-suite.ts';
import { type Limit, spanAt } from './limit.ts';

const minuteMs = 60_000;

interface Held {
  reservation: Reservation;
  /** For each limit of the call: which, in which epoch, how much. */
  parts: { index: number; epoch: number; amount: number }[];
  expiresAt: number;
  state: 'open' | 'expired' | 'resolved';
}

/** Keeps every reservation and every spend there ever was, and adds them up when it is asked. */
class Oracle {
  readonly held: Held[] = [];
  readonly spends: { index: number; epoch: number; amount: number }[] = [];
  readonly resets = new Map<number, number>();
  values: number[];
  readonly #limits: readonly Limit[];

  constructor(limits: readonly Limit[]) {
    this.#limits = limits;
    this.values = limits.map(({ value }) => value);
  }

  limit(index: number): Limit {
    const limit = this.#limits[index];
    if (!limit) throw new Error('There is no such limit');
    return { ...limit, value: this.values[index] ?? 0 };
  }

  epoch(index: number, now: number): number {
    return Math.max(spanAt(this.limit(index).window, now).epoch, this.resets.get(index) ?? 0);
  }

  settled(index: number, now: number): number {
    const epoch = this.epoch(index, now);
    return sum(this.spends.filter((spend) => spend.index === index && spend.epoch === epoch));
  }

  reserved(index: number, now: number): number {
    const epoch = this.epoch(index, now);
    const parts = this.held.filter(({ state }) => state === 'open').flatMap((held) => held.parts);
    return sum(parts.filter((part) => part.index === index && part.epoch === epoch));
  }

  expire(now: number): void {
    for (const held of this.held) {
      if (held.state !== 'open' || held.expiresAt > now) continue;
      held.state = 'expired';
      for (const part of held.parts) if (this.limit(part.index).type === 'requests') this.spends.push({ ...part });
    }
  }

  settle(held: Held, spent: readonly number[]): void {
    if (held.state === 'resolved') return;
    held.parts.forEach(({ index, epoch, amount }, at) => {
      const kept = held.state === 'expired' && this.limit(index).type === 'requests' ? amount : 0;
      this.spends.push({ index, epoch, amount: (spent[at] ?? 0) - kept });
    });
    held.state = 'resolved';
  }
}

const sum = (parts: readonly { amount: number }[]): number => parts.reduce((total, { amount }) => total + amount, 0);

const operation = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('reserve' as const),
      of: fc.subarray([0, 1, 2, 3], { minLength: 1 }),
      least: fc.nat(40),
      more: fc.nat(60),
      usual: fc.option(fc.nat(60), { nil: undefined }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('settle' as const),
      which: fc.nat(30),
      spent: fc.array(fc.nat(70), { minLength: 4, maxLength: 4 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('cancel' as const), which: fc.nat(30) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('renew' as const), which: fc.nat(30) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reset' as const), index: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('value' as const), index: fc.nat(3), value: fc.nat(300) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('wait' as const),
      ms: fc.constantFrom(1, 1_000, minuteMs, leaseMs, 60 * minuteMs),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('rebuild' as const) }) },
);

type Step = typeof operation extends fc.Arbitrary<infer T> ? T : never;

onEachLimitEngine('a limit engine beside its oracle', (open) => {
  test('agrees with it after every step, and its entries add up to what it says', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { maxLength: 40 }), async (operations) => {
        const place = open();
        const { organisationId } = place;
        const limits = [
          usageLimit(organisationId, 100),
          usageLimit(organisationId, 150, { type: 'requests' }),
          rateLimit(organisationId, 120, 'rpm', { type: 'tokens' }),
          usageLimit(organisationId, 100, {
            window: {
              kind: 'usage',
              epoch: start,
              resetsAt: start + 30 * minuteMs,
              cadence: { periodic_reset: null, periodic_reset_days: 1 },
            },
          }),
        ];
        const oracle = new Oracle(limits);
        for (const step of operations) {
          await take(place, oracle, step);
          await agree(place, oracle);
        }
      }),
      { numRuns: 60 },
    );
  }, 60_000);
});

async function take(place: EngineUnderTest, oracle: Oracle, step: Step): Promise<void> {
  const { engine, clock, organisationId } = place;
  if (step.kind === 'wait') clock.now += step.ms;
  oracle.expire(clock.now);
  const { now } = clock;
  if (step.kind === 'reserve') {
    const demands = step.of.map((index) => ({
      limit: oracle.limit(index),
      least: step.least,
      most: step.least + step.more,
      ...(step.usual !== undefined && { usual: step.usual }),
    }));
    const id = Bun.randomUUIDv7();
    const result = await engine.reserve({ id, organisationId, demands });
    const refusing = step.of.find((index) => {
      const { value } = oracle.limit(index);
      const settled = oracle.settled(index, now);
      return settled >= value || settled + oracle.reserved(index, now) + step.least > value;
    });
    if (!result.granted) {
      expect(result.refusedBy.limit.counter).toBe(oracle.limit(refusing ?? -1).counter);
      return;
    }
    expect(refusing).toBeUndefined();
    const parts = step.of.map((index) => {
      const room = oracle.limit(index).value - oracle.settled(index, now) - oracle.reserved(index, now);
      const most = step.least + step.more;
      const share = Math.max(step.usual ?? most, Math.floor(room / 16));
      const amount = Math.max(step.least, Math.min(most, room, share));
      return { index, epoch: oracle.epoch(index, now), amount };
    });
    expect(result.reservation.holdings.map(({ epoch, amount }) => ({ epoch, amount }))).toEqual(
      parts.map(({ epoch, amount }) => ({ epoch, amount })),
    );
    oracle.held.push({ reservation: result.reservation, parts, expiresAt: now + leaseMs, state: 'open' });
    return;
  }
  if (step.kind === 'settle' || step.kind === 'cancel' || step.kind === 'renew') {
    const held = oracle.held[step.which % Math.max(1, oracle.held.length)];
    if (!held) return;
    if (step.kind === 'renew') {
      await engine.renew([held.reservation]);
      if (held.state === 'open') held.expiresAt = now + leaseMs;
      return;
    }
    const spent = step.kind === 'settle' ? step.spent : [];
    await engine.settle(held.reservation, spent);
    oracle.settle(held, spent);
  }
  if (step.kind === 'reset') {
    const epoch = oracle.epoch(step.index, now) + 1;
    await engine.reset(organisationId, oracle.limit(step.index).counter, epoch);
    oracle.resets.set(step.index, epoch);
  }
  if (step.kind === 'value') oracle.values[step.index] = step.value;
  if (step.kind === 'rebuild') await engine.raise(knownFrom(place.entries));
}

async function agree({ engine, entries, clock }: EngineUnderTest, oracle: Oracle): Promise<void> {
  const states = await engine.read(oracle.values.map((_, index) => oracle.limit(index)));
  states.forEach((state, index) => {
    expect({ index, settled: state.settled, reserved: state.reserved, epoch: state.epoch }).toEqual({
      index,
      settled: oracle.settled(index, clock.now),
      reserved: oracle.reserved(index, clock.now),
      epoch: oracle.epoch(index, clock.now),
    });
    const { counter } = oracle.limit(index);
    const written = entries.filter((entry) => entry.counter === counter && entry.epoch === state.epoch);
    expect(sum(written)).toBe(state.settled);
  });
}
