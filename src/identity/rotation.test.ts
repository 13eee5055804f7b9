/** Rotation policies: what is accepted, when the next rotation is due, and what an enforced period forbids. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  afterRotation,
  enforcedPolicy,
  nextRotation,
  type PolicyContext,
  type RotationPolicy,
  type RotationPolicyInput,
  resolvePolicy,
  rotationPolicyInput,
  shortestTransitionMs,
  transitionFits,
} from './rotation.ts';

const dayMs = 86_400_000;
const now = new Date('2026-03-11T10:20:30.000Z'); // a Wednesday
const weekly = { rotation_period: 'weekly', rotation_period_days: null } as const;
const monthly = { rotation_period: 'monthly', rotation_period_days: null } as const;
const everyDays = (days: number) => ({ rotation_period: null, rotation_period_days: days });

const resolve = (input: RotationPolicyInput, context: Partial<PolicyContext> = {}): RotationPolicy | string => {
  const verdict = resolvePolicy(input, { now, enforcedDays: null, stored: null, ...context });
  return 'policy' in verdict ? verdict.policy : `${verdict.fault.field}: ${verdict.fault.message}`;
};

describe('the calendar', () => {
  test('weekly means Monday, monthly means day 1, days are counted from now, all at 00:00 UTC', () => {
    expect(nextRotation(weekly, now)?.toISOString()).toBe('2026-03-16T00:00:00.000Z');
    expect(nextRotation(monthly, now)?.toISOString()).toBe('2026-04-01T00:00:00.000Z');
    expect(nextRotation(everyDays(1), now)?.toISOString()).toBe('2026-03-12T00:00:00.000Z');
    expect(nextRotation(everyDays(365), now)?.toISOString()).toBe('2027-03-11T00:00:00.000Z');
    expect(nextRotation({ rotation_period: null, rotation_period_days: null }, now)).toBeNull();
  });

  test('a moment that is itself a rotation leads to the next one', () => {
    expect(nextRotation(weekly, new Date('2026-03-16T00:00:00.000Z'))?.toISOString()).toBe('2026-03-23T00:00:00.000Z');
    expect(nextRotation(monthly, new Date('2026-12-01T00:00:00.000Z'))?.toISOString()).toBe('2027-01-01T00:00:00.000Z');
  });

  test('the next rotation always lies ahead, at midnight, and no further than the period', () => {
    const moments = fc.date({ min: new Date('2020-01-01'), max: new Date('2060-01-01'), noInvalidDate: true });
    const cadences = fc.oneof(
      fc.constant(weekly),
      fc.constant(monthly),
      fc.integer({ min: 1, max: 365 }).map(everyDays),
    );
    fc.assert(
      fc.property(cadences, moments, (cadence, from) => {
        const next = nextRotation(cadence, from);
        expect(next?.toISOString().endsWith('T00:00:00.000Z')).toBe(true);
        const ahead = (next?.getTime() ?? 0) - from.getTime();
        expect(ahead).toBeGreaterThan(0);
        expect(ahead).toBeLessThanOrEqual(dayMs * (cadence.rotation_period_days ?? 31));
      }),
    );
  });

  test('after a rotation a period goes on, and a single date is spent only by the automatic one', () => {
    const once = { rotation_period: null, rotation_period_days: null, next_rotation_at: '2026-03-20T00:00:00.000Z' };
    const policy = { ...once, key_transition_period_ms: shortestTransitionMs };
    expect(afterRotation(policy, now, 'manual')).toEqual(policy);
    expect(afterRotation(policy, now, 'auto').next_rotation_at).toBeNull();
    const periodic = {
      ...weekly,
      next_rotation_at: '2026-03-11T00:00:00.000Z',
      key_transition_period_ms: shortestTransitionMs,
    };
    expect(afterRotation(periodic, now, 'auto').next_rotation_at).toBe('2026-03-16T00:00:00.000Z');
    expect(afterRotation(periodic, now, 'manual').next_rotation_at).toBe('2026-03-16T00:00:00.000Z');
  });
});

describe('the schema', () => {
  const accepts = (input: unknown) => rotationPolicyInput().safeParse(input).success;

  test('refuses two periods, periods out of bounds, short transitions and unknown fields', () => {
    expect(accepts({ rotation_period: 'weekly', rotation_period_days: 7 })).toBe(false);
    for (const days of [0, 366, 1.5, '7']) expect(accepts({ rotation_period_days: days })).toBe(false);
    expect(accepts({ rotation_period: 'daily' })).toBe(false);
    expect(accepts({ rotation_period: 'weekly', key_transition_period_ms: shortestTransitionMs - 1 })).toBe(false);
    expect(accepts({ rotation_period: 'weekly', every: 3 })).toBe(false);
    expect(accepts({ next_rotation_at: 'tomorrow' })).toBe(false);
  });

  test('accepts a policy as it is read', () => {
    expect(accepts({ ...enforcedPolicy(7, now), status: 'ACTIVE' })).toBe(true);
  });
});

describe('what is stored', () => {
  test('a period gets its next date and the default transition', () => {
    expect(resolve({ rotation_period: 'weekly' })).toEqual({
      ...weekly,
      next_rotation_at: '2026-03-16T00:00:00.000Z',
      key_transition_period_ms: shortestTransitionMs,
    });
  });

  test('a date given by hand is taken as its UTC midnight and decides the next rotation', () => {
    expect(resolve({ rotation_period: 'monthly', next_rotation_at: '2026-03-20T13:00:00+02:00' })).toMatchObject({
      ...monthly,
      next_rotation_at: '2026-03-20T00:00:00.000Z',
    });
    expect(resolve({ next_rotation_at: '2026-03-20T13:00:00Z' })).toMatchObject({ rotation_period: null });
  });

  test('a date whose midnight is past is refused', () => {
    expect(resolve({ next_rotation_at: '2026-03-11T23:00:00Z' })).toStartWith('next_rotation_at: ');
  });

  test('nothing that says when is refused', () => {
    expect(resolve({})).toStartWith(': send rotation_period');
    expect(resolve({ key_transition_period_ms: shortestTransitionMs })).toStartWith(': send rotation_period');
  });

  test('the transition must be strictly shorter than the period', () => {
    for (const [period, limit] of [
      [weekly, 7 * dayMs],
      [monthly, 28 * dayMs],
      [everyDays(3), 3 * dayMs],
    ] as const) {
      expect(transitionFits(limit - 1, period)).toBe(true);
      expect(transitionFits(limit, period)).toBe(false);
      expect(resolve({ ...period, key_transition_period_ms: limit })).toStartWith('key_transition_period_ms: ');
    }
    expect(resolve({ next_rotation_at: '2026-03-20T00:00:00Z', key_transition_period_ms: 300 * dayMs })).toBeObject();
  });

  test('saved again with the same rhythm, a policy keeps its date; with another, it gets a new one', () => {
    const stored = { ...weekly, next_rotation_at: '2026-03-30T00:00:00.000Z', key_transition_period_ms: 3_600_000 };
    expect(resolve({ rotation_period: 'weekly' }, { stored })).toMatchObject({
      next_rotation_at: stored.next_rotation_at,
    });
    expect(resolve(stored, { stored })).toEqual(stored);
    expect(resolve({ rotation_period: 'monthly' }, { stored })).toMatchObject({
      next_rotation_at: '2026-04-01T00:00:00.000Z',
    });
  });
});

describe('an enforced period', () => {
  const enforced = { enforcedDays: 30 };

  test('is filled in, and accepted in any spelling', () => {
    expect(resolve({ key_transition_period_ms: 3_600_000 }, enforced)).toEqual({
      ...everyDays(30),
      next_rotation_at: '2026-04-10T00:00:00.000Z',
      key_transition_period_ms: 3_600_000,
    });
    expect(resolve({}, enforced)).toMatchObject(everyDays(30));
    expect(resolve({ rotation_period: 'monthly' }, enforced)).toMatchObject(monthly);
    expect(resolve({ rotation_period_days: 30 }, enforced)).toMatchObject(everyDays(30));
    expect(resolve({ rotation_period: 'weekly' }, { enforcedDays: 7 })).toMatchObject(weekly);
  });

  test('refuses any other period and a date given by hand', () => {
    expect(resolve({ rotation_period: 'weekly' }, enforced)).toStartWith('rotation_period: ');
    expect(resolve({ rotation_period_days: 29 }, enforced)).toStartWith('rotation_period_days: ');
    expect(resolve({ next_rotation_at: '2026-03-20T00:00:00Z' }, enforced)).toStartWith('next_rotation_at: ');
  });

  test('does not take a date that is stored already for a choice', () => {
    const stored = enforcedPolicy(30, now);
    expect(resolve(stored, { ...enforced, stored })).toEqual(stored);
  });
});
