/** The calendar of resets and windows: ends of months, leap days, beginnings of weeks, clocks that jump. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type Cadence, nextReset } from './calendar.ts';
import { spanAt } from './limit.ts';
import { steadyTime } from './steady-time.ts';

const weekly: Cadence = { periodic_reset: 'weekly', periodic_reset_days: null };
const weeklyOfPolicies: Cadence = { ...weekly, week_start: 'monday' };
const monthly: Cadence = { periodic_reset: 'monthly', periodic_reset_days: null };
const every = (periodic_reset_days: number): Cadence => ({ periodic_reset: null, periodic_reset_days });

describe('the next reset', () => {
  test.each<[string, Cadence, from: string, next: string]>([
    ['monthly from the last day of January', monthly, '2026-01-31T23:59:59.999Z', '2026-02-01'],
    ['monthly from the last day of a leap February', monthly, '2028-02-29T12:00:00Z', '2028-03-01'],
    ['monthly over the end of the year', monthly, '2026-12-31T23:59:59Z', '2027-01-01'],
    ['monthly from the first moment of a month', monthly, '2026-03-01T00:00:00Z', '2026-04-01'],
    ['weekly from a Saturday', weekly, '2026-03-21T23:59:59Z', '2026-03-22'],
    ['weekly from a Sunday is a week later', weekly, '2026-03-22T00:00:00Z', '2026-03-29'],
    ['weekly of a policy from a Sunday', weeklyOfPolicies, '2026-03-22T23:59:59Z', '2026-03-23'],
    ['weekly of a policy from a Monday is a week later', weeklyOfPolicies, '2026-03-23T00:00:00Z', '2026-03-30'],
    ['weekly over a leap day', weekly, '2028-02-27T10:00:00Z', '2028-03-05'],
    ['every day over a leap day', every(1), '2028-02-28T10:00:00Z', '2028-02-29'],
    ['every 30 days over a leap day', every(30), '2028-02-15T10:00:00Z', '2028-03-16'],
    ['every 365 days', every(365), '2027-03-01T10:00:00Z', '2028-02-29'],
  ])('%s', (_, cadence, from, next) => {
    expect(nextReset(cadence, new Date(from))?.toISOString()).toBe(`${next}T00:00:00.000Z`);
  });
});

const moment = fc.integer({ min: Date.UTC(2020, 0), max: Date.UTC(2040, 0) });

test('periods follow each other without a gap, and every moment lies in one', () => {
  const cadence = fc.oneof(
    fc.constantFrom(weekly, weeklyOfPolicies, monthly),
    fc.integer({ min: 1, max: 365 }).map((days) => every(days)),
  );
  const later = fc.integer({ min: 0, max: 3 * 366 * 86_400_000 });
  fc.assert(
    fc.property(cadence, moment, later, (chosen, begun, wait) => {
      const resetsAt = nextReset(chosen, new Date(begun))?.getTime() ?? 0;
      const now = begun + wait;
      const { epoch, endsAt } = spanAt({ kind: 'usage', epoch: begun, resetsAt, cadence: chosen }, now);
      expect(epoch).toBeLessThanOrEqual(now);
      expect(endsAt).toBeGreaterThan(now);
      expect(nextReset(chosen, new Date(epoch))?.getTime()).toBe(endsAt ?? 0);
    }),
  );
});

test('a window of a rate begins at its unit, and the next one where it ends', () => {
  const unit = fc.constantFrom('rpm' as const, 'rph' as const, 'rpd' as const, 'rpw' as const);
  fc.assert(
    fc.property(unit, moment, (chosen, now) => {
      const window = { kind: 'rate' as const, unit: chosen };
      const { epoch, endsAt } = spanAt(window, now);
      expect(epoch).toBeLessThanOrEqual(now);
      expect(endsAt).toBeGreaterThan(now);
      expect(spanAt(window, endsAt ?? 0).epoch).toBe(endsAt ?? 0);
      if (chosen === 'rpw') expect(new Date(epoch).getUTCDay()).toBe(1);
    }),
  );
});

describe('time for counters', () => {
  const open = () => {
    const at = { clock: Date.UTC(2026, 2, 1), monotonic: 0 };
    const now = steadyTime({ now: () => new Date(at.clock) }, () => at.monotonic);
    return { at, now };
  };

  test('goes on at its own pace when the clock is set back, and follows it once it is ahead', () => {
    const { at, now } = open();
    const begun = now();
    at.clock -= 3_600_000;
    at.monotonic += 1_000;
    expect(now()).toBe(begun + 1_000);
    at.clock = begun + 5_000;
    at.monotonic += 1_000;
    expect(now()).toBe(begun + 5_000);
  });

  test('never goes back, whatever the clock does', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -1e9, max: 1e9 })), (jumps) => {
        const { at, now } = open();
        let last = now();
        for (const jump of jumps) {
          at.clock += jump;
          at.monotonic += 1;
          const next = now();
          expect(next).toBeGreaterThan(last);
          last = next;
        }
      }),
    );
  });
});
