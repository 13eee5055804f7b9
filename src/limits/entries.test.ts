/** Usage and rate limits: their forms, their calendar, and what changing one does. */
import { describe, expect, test } from 'bun:test';
import { nextReset } from './calendar.ts';
import {
  applyUsageLimit,
  keyRateLimits,
  resetDateLiesAhead,
  resetUsage,
  rollWindow,
  type StoredUsageLimit,
  shownUsageLimit,
  type UsageLimitInput,
  usageLimitInput,
  workspaceRateLimits,
  workspaceUsageLimits,
} from './entries.ts';

const at = (moment: string) => new Date(moment);
const wednesday = at('2026-03-18T15:30:00.000Z');
const input = (fields: Record<string, unknown>): UsageLimitInput =>
  usageLimitInput().parse({ credit_limit: 100, ...fields });
const fresh = (fields: Record<string, unknown> = {}, now = wednesday) => applyUsageLimit(input(fields), null, now);
const used = (usage: number, fields: Partial<StoredUsageLimit> = {}): StoredUsageLimit => ({
  ...fresh(),
  current_usage: usage,
  ...fields,
});

describe('usage limits', () => {
  test('are of cost unless they say otherwise, start unused, and never reset without a cadence', () => {
    expect(fresh()).toEqual({
      type: 'cost',
      credit_limit: 100,
      alert_threshold: null,
      periodic_reset: null,
      periodic_reset_days: null,
      next_usage_reset_at: null,
      clamp_max_tokens: false,
      epoch: wednesday.getTime(),
      current_usage: 0,
      status: 'active',
      last_reset_at: null,
      is_threshold_alerts_sent: false,
      is_exhausted_alerts_sent: false,
    });
  });

  test.each([
    ['no limit', { credit_limit: undefined }],
    ['a limit below 1', { credit_limit: 0.5 }],
    ['a limit that is text', { credit_limit: '10' }],
    ['a threshold above the limit', { alert_threshold: 101 }],
    ['a threshold below 1', { alert_threshold: 0 }],
    ['a type of policies only', { type: 'requests' }],
    ['a daily reset', { periodic_reset: 'daily' }],
    ['a reset every 0 days', { periodic_reset_days: 0 }],
    ['a reset every 366 days', { periodic_reset_days: 366 }],
    ['two cadences', { periodic_reset: 'weekly', periodic_reset_days: 7 }],
    ['a reset that is no time', { next_usage_reset_at: 'tomorrow' }],
    ['an unknown field', { limit: 5 }],
  ])('with %s are refused', (_case, fields) => {
    expect(usageLimitInput().safeParse({ credit_limit: 100, ...fields }).success).toBe(false);
  });

  test('take fractions, the threshold at the limit, and a record that was read', () => {
    const sent = { credit_limit: 10.5, alert_threshold: 10.5, periodic_reset_days: 365 };
    expect(usageLimitInput().safeParse(sent).success).toBe(true);
    expect(usageLimitInput().safeParse(shownUsageLimit(used(7))).success).toBe(true);
  });

  test('of a workspace are one for each type', () => {
    const accepts = (limits: object[]) => workspaceUsageLimits().safeParse(limits).success;
    expect(accepts([{ credit_limit: 1 }, { type: 'tokens', credit_limit: 1 }])).toBe(true);
    expect(accepts([{ credit_limit: 1 }, { type: 'cost', credit_limit: 2 }])).toBe(false);
    expect(accepts([])).toBe(true);
  });
});

describe('rate limits', () => {
  const limit = (fields: object = {}) => ({ type: 'requests', unit: 'rpm', value: 10, ...fields });

  test('have one of four units and are one for each type and unit', () => {
    for (const unit of ['rpm', 'rph', 'rpd', 'rpw'])
      expect(keyRateLimits().safeParse([limit({ unit })]).success).toBe(true);
    expect(keyRateLimits().safeParse([limit({ unit: 'rps' })]).success).toBe(false);
    expect(keyRateLimits().safeParse([limit(), limit({ type: 'tokens' }), limit({ unit: 'rpd' })]).success).toBe(true);
    expect(keyRateLimits().safeParse([limit(), limit({ value: 5 })]).success).toBe(false);
    expect(keyRateLimits().safeParse([limit({ burst: 1 })]).success).toBe(false);
    expect(keyRateLimits().safeParse([limit({ value: 1.5 })]).success).toBe(false);
  });

  test('may be 0 on keys, not on workspaces', () => {
    expect(keyRateLimits().safeParse([limit({ value: 0 })]).success).toBe(true);
    expect(workspaceRateLimits().safeParse([limit({ value: 0 })]).success).toBe(false);
    expect(workspaceRateLimits().safeParse([limit({ value: 1 })]).success).toBe(true);
  });
});

describe('the reset calendar', () => {
  const next = (cadence: Record<string, unknown>, from: Date) =>
    nextReset({ periodic_reset: null, periodic_reset_days: null, ...cadence }, from)?.toISOString() ?? null;

  test.each([
    ['a Wednesday', '2026-03-18T15:30:00Z', '2026-03-22T00:00:00.000Z'],
    ['a Saturday night', '2026-03-21T23:59:59Z', '2026-03-22T00:00:00.000Z'],
    ['a Sunday midnight', '2026-03-22T00:00:00Z', '2026-03-29T00:00:00.000Z'],
    ['a Sunday noon', '2026-03-22T12:00:00Z', '2026-03-29T00:00:00.000Z'],
  ])('weekly from %s goes to the next Sunday, 00:00 UTC', (_day, from, expected) => {
    expect(next({ periodic_reset: 'weekly' }, at(from))).toBe(expected);
  });

  test.each([
    ['2026-01-31T23:00:00Z', '2026-02-01T00:00:00.000Z'],
    ['2026-02-01T00:00:00Z', '2026-03-01T00:00:00.000Z'],
    ['2026-12-31T12:00:00Z', '2027-01-01T00:00:00.000Z'],
  ])('monthly from %s goes to %s', (from, expected) => {
    expect(next({ periodic_reset: 'monthly' }, at(from))).toBe(expected);
  });

  test('every N days counts from the day it starts at, 00:00 UTC', () => {
    expect(next({ periodic_reset_days: 1 }, wednesday)).toBe('2026-03-19T00:00:00.000Z');
    expect(next({ periodic_reset_days: 10 }, wednesday)).toBe('2026-03-28T00:00:00.000Z');
    expect(next({ periodic_reset_days: 365 }, wednesday)).toBe('2027-03-18T00:00:00.000Z');
    expect(next({}, wednesday)).toBeNull();
  });

  test('a date given by hand is taken at its UTC midnight, and that must lie ahead', () => {
    const sent = { next_usage_reset_at: '2026-04-02T23:30:00-05:00' };
    expect(fresh(sent).next_usage_reset_at).toBe('2026-04-03T00:00:00.000Z');
    expect(resetDateLiesAhead(sent, wednesday)).toBe(true);
    expect(resetDateLiesAhead({ next_usage_reset_at: '2026-03-18T23:00:00Z' }, wednesday)).toBe(false);
    expect(resetDateLiesAhead({}, wednesday)).toBe(true);
  });

  test('a window that is due is emptied and given its next date; before that nothing happens', () => {
    const limit = used(100, {
      status: 'exhausted',
      periodic_reset: 'weekly',
      next_usage_reset_at: '2026-03-22T00:00:00.000Z',
      is_threshold_alerts_sent: true,
      is_exhausted_alerts_sent: true,
    });
    expect(rollWindow(limit, at('2026-03-21T23:59:59.999Z'))).toBe(limit);
    expect(rollWindow(limit, at('2026-03-22T00:00:00.000Z'))).toEqual({
      ...limit,
      epoch: Date.parse('2026-03-22T00:00:00.000Z'),
      current_usage: 0,
      status: 'active',
      last_reset_at: '2026-03-22T00:00:00.000Z',
      next_usage_reset_at: '2026-03-29T00:00:00.000Z',
      is_threshold_alerts_sent: false,
      is_exhausted_alerts_sent: false,
    });
  });

  test('windows that were slept through are skipped, in step with the schedule', () => {
    const limit = used(5, { periodic_reset_days: 10, next_usage_reset_at: '2026-03-20T00:00:00.000Z' });
    expect(rollWindow(limit, at('2026-04-15T08:00:00Z')).next_usage_reset_at).toBe('2026-04-19T00:00:00.000Z');
  });

  test('a single reset by hand is not repeated', () => {
    const limit = used(5, { next_usage_reset_at: '2026-03-20T00:00:00.000Z' });
    const rolled = rollWindow(limit, at('2026-03-20T00:00:00Z'));
    expect([rolled.current_usage, rolled.next_usage_reset_at]).toEqual([0, null]);
    expect(rollWindow(rolled, at('2027-01-01T00:00:00Z'))).toBe(rolled);
  });
});

describe('a change of a usage limit', () => {
  const alerted = { is_threshold_alerts_sent: true, is_exhausted_alerts_sent: true };
  const change = (fields: Record<string, unknown>, stored: StoredUsageLimit) =>
    applyUsageLimit(input(fields), stored, wednesday);

  test('keeps what was used', () => {
    expect(change({}, used(42.5, { last_reset_at: '2026-03-15T00:00:00.000Z' }))).toMatchObject({
      current_usage: 42.5,
      status: 'active',
      last_reset_at: '2026-03-15T00:00:00.000Z',
    });
  });

  test('that raises it above the usage makes it active again and clears both alerts', () => {
    expect(change({ credit_limit: 200 }, used(100, { status: 'exhausted', ...alerted }))).toMatchObject({
      status: 'active',
      is_threshold_alerts_sent: false,
      is_exhausted_alerts_sent: false,
    });
  });

  test('that raises it but not above the usage leaves it exhausted', () => {
    expect(change({ credit_limit: 110 }, used(120, { status: 'exhausted', ...alerted })).status).toBe('exhausted');
  });

  test('that lowers it below the usage exhausts it at once, with the alert still due', () => {
    expect(change({ credit_limit: 50 }, used(60))).toMatchObject({
      status: 'exhausted',
      is_exhausted_alerts_sent: false,
    });
    expect(change({ credit_limit: 60 }, used(60)).status).toBe('exhausted');
  });

  test('that raises or removes the threshold clears its alert only', () => {
    const stored = used(90, { alert_threshold: 80, ...alerted });
    for (const alert_threshold of [95, null]) {
      expect(change({ alert_threshold }, stored)).toMatchObject({
        is_threshold_alerts_sent: false,
        is_exhausted_alerts_sent: true,
      });
    }
    expect(change({ alert_threshold: 80 }, stored).is_threshold_alerts_sent).toBe(true);
    expect(change({ alert_threshold: 70 }, stored).is_threshold_alerts_sent).toBe(true);
  });

  test('of its type starts the count anew', () => {
    expect(change({ type: 'tokens' }, used(90, { status: 'exhausted', ...alerted }))).toMatchObject({
      current_usage: 0,
      status: 'active',
      is_threshold_alerts_sent: false,
    });
  });

  test('that keeps the cadence keeps the date; another cadence gets a date of its own; none has none', () => {
    const stored = used(1, { periodic_reset_days: 10, next_usage_reset_at: '2026-03-20T00:00:00.000Z' });
    expect(change({ periodic_reset_days: 10 }, stored).next_usage_reset_at).toBe('2026-03-20T00:00:00.000Z');
    expect(change({ periodic_reset_days: 5 }, stored).next_usage_reset_at).toBe('2026-03-23T00:00:00.000Z');
    expect(change({ periodic_reset: 'monthly' }, stored).next_usage_reset_at).toBe('2026-04-01T00:00:00.000Z');
    expect(change({}, stored).next_usage_reset_at).toBeNull();
  });

  test('by hand to nothing used leaves the schedule as it is', () => {
    const stored = used(100, {
      status: 'exhausted',
      periodic_reset: 'weekly',
      next_usage_reset_at: '2026-03-22T00:00:00.000Z',
      ...alerted,
    });
    expect(resetUsage(stored, wednesday)).toEqual({
      ...stored,
      epoch: wednesday.getTime() + 1,
      current_usage: 0,
      status: 'active',
      last_reset_at: wednesday.toISOString(),
      is_threshold_alerts_sent: false,
      is_exhausted_alerts_sent: false,
    });
  });
});
