/** The limits that keys and workspaces carry: their schemas, their reset calendar, and what a change of them does to what was used. */
import { z } from 'zod';
import { dateTime } from '../date-time.ts';
import { lazy } from '../lazy.ts';
import { type Cadence, nextReset, rateUnits, utcMidnight } from './calendar.ts';

const rateLimitSchema = (least: number) =>
  z.strictObject({
    type: z.enum(['requests', 'tokens']),
    unit: z.enum(rateUnits),
    value: z.int().min(least).max(1e15),
  });

export type RateLimit = z.output<ReturnType<typeof rateLimitSchema>>;

const distinct = (keys: string[]): boolean => new Set(keys).size === keys.length;

const rateLimitsSchema = (least: number) =>
  z
    .array(rateLimitSchema(least))
    .max(8)
    .refine((limits) => distinct(limits.map((limit) => `${limit.type} ${limit.unit}`)), {
      message: 'one entry for each type and unit',
    });

export const keyRateLimits = lazy(() => rateLimitsSchema(0));
export const workspaceRateLimits = lazy(() => rateLimitsSchema(1));

/** What a caller may send of a usage limit; read-only fields are accepted so that a record read can be sent back, and ignored. */
export const usageLimitInput = lazy(() =>
  z
    .strictObject({
      type: z.enum(['cost', 'tokens']).default('cost'),
      credit_limit: z.number().min(1).max(1e15),
      alert_threshold: z.number().min(1).max(1e15).nullish(),
      periodic_reset: z.enum(['weekly', 'monthly']).nullish(),
      periodic_reset_days: z.int().min(1).max(365).nullish(),
      next_usage_reset_at: dateTime.nullish(),
      clamp_max_tokens: z
        .boolean()
        .optional()
        .describe('Lowers the token limit of each call to what the room left can pay for'),
      current_usage: z.unknown().optional(),
      status: z.unknown().optional(),
      last_reset_at: z.unknown().optional(),
      is_threshold_alerts_sent: z.unknown().optional(),
      is_exhausted_alerts_sent: z.unknown().optional(),
    })
    .refine((limit) => !(limit.periodic_reset && limit.periodic_reset_days), {
      path: ['periodic_reset_days'],
      message: 'periodic_reset and periodic_reset_days exclude each other',
    })
    .refine((limit) => limit.alert_threshold == null || limit.alert_threshold <= limit.credit_limit, {
      path: ['alert_threshold'],
      message: 'may not be above credit_limit',
    }),
);

export type UsageLimitInput = z.output<ReturnType<typeof usageLimitInput>>;

const emptyList = () =>
  z
    .array(z.never())
    .max(0)
    .transform((): null => null);

/** Where there is one limit at most, an empty list says what null says. */
export const soleUsageLimit = lazy(() =>
  z
    .union([usageLimitInput(), emptyList()], {
      // What is wrong with the limit itself; that it is no empty list either helps nobody.
      error: ({ errors = [] }) => errors[0]?.map(({ path, message }) => [...path, message].join(': ')).join('; '),
    })
    .nullish()
    .describe('Null or an empty list removes the limit'),
);

export const workspaceUsageLimits = lazy(() =>
  z
    .array(usageLimitInput())
    .max(2)
    .refine((limits) => distinct(limits.map((limit) => limit.type)), { message: 'one entry for each type' }),
);

/** What a usage limit allows, without what was used of it. */
export interface UsageLimitTerms {
  type: 'cost' | 'tokens';
  credit_limit: number;
  alert_threshold: number | null;
  periodic_reset: 'weekly' | 'monthly' | null;
  periodic_reset_days: number | null;
  next_usage_reset_at: string | null;
  clamp_max_tokens?: boolean;
}

export interface StoredUsageLimit extends UsageLimitTerms {
  /** The moment at which the running period began, in milliseconds; earlier spend does not count. */
  epoch?: number;
  current_usage: number;
  status: 'active' | 'exhausted';
  last_reset_at: string | null;
  is_threshold_alerts_sent: boolean;
  is_exhausted_alerts_sent: boolean;
}

/** A stored limit as callers see it. */
export const shownUsageLimit = ({ epoch: _, ...limit }: StoredUsageLimit) => ({
  ...limit,
  clamp_max_tokens: limit.clamp_max_tokens ?? false,
});

/** The reply form of a stored usage limit. */
export const usageLimitRecord = lazy(
  () =>
    z.object({
      type: z.enum(['cost', 'tokens']),
      credit_limit: z.number(),
      alert_threshold: z.number().nullable(),
      periodic_reset: z.enum(['weekly', 'monthly']).nullable(),
      periodic_reset_days: z.number().nullable(),
      next_usage_reset_at: z.string().nullable(),
      current_usage: z.number(),
      status: z.enum(['active', 'exhausted']),
      last_reset_at: z.string().nullable(),
      is_threshold_alerts_sent: z.boolean(),
      is_exhausted_alerts_sent: z.boolean(),
      clamp_max_tokens: z.boolean(),
    }) satisfies z.ZodType<StoredUsageLimit>,
);

export const rateLimitRecord = lazy(
  () =>
    z.object({
      type: z.enum(['requests', 'tokens']),
      unit: z.enum(rateUnits),
      value: z.number(),
    }) satisfies z.ZodType<RateLimit>,
);

/** Saves a usage limit over what was stored: usage stays, and raising, lowering or retiming it has the effects that its owner expects. */
export function applyUsageLimit(input: UsageLimitInput, stored: StoredUsageLimit | null, now: Date): StoredUsageLimit {
  const kept = stored?.type === input.type ? stored : null;
  const cadence: Cadence = {
    periodic_reset: input.periodic_reset ?? null,
    periodic_reset_days: input.periodic_reset_days ?? null,
  };
  const usage = kept?.current_usage ?? 0;
  const threshold = input.alert_threshold ?? null;
  const raised = kept !== null && input.credit_limit > kept.credit_limit;
  const thresholdRaised =
    kept !== null && (threshold === null || (kept.alert_threshold !== null && threshold > kept.alert_threshold));
  return {
    type: input.type,
    credit_limit: input.credit_limit,
    alert_threshold: threshold,
    ...cadence,
    next_usage_reset_at: dueReset(input, cadence, kept, now),
    clamp_max_tokens: input.clamp_max_tokens ?? kept?.clamp_max_tokens ?? false,
    epoch: kept?.epoch ?? now.getTime(),
    current_usage: usage,
    status: usage >= input.credit_limit ? 'exhausted' : 'active',
    last_reset_at: kept?.last_reset_at ?? null,
    is_threshold_alerts_sent: raised || thresholdRaised ? false : (kept?.is_threshold_alerts_sent ?? false),
    is_exhausted_alerts_sent: raised ? false : (kept?.is_exhausted_alerts_sent ?? false),
  };
}

function dueReset(input: UsageLimitInput, cadence: Cadence, kept: StoredUsageLimit | null, now: Date): string | null {
  if (input.next_usage_reset_at) return utcMidnight(new Date(input.next_usage_reset_at)).toISOString();
  const sameCadence =
    kept?.periodic_reset === cadence.periodic_reset && kept.periodic_reset_days === cadence.periodic_reset_days;
  if (sameCadence) return kept.next_usage_reset_at;
  return nextReset(cadence, now)?.toISOString() ?? null;
}

/** Usage back to nothing; the schedule stays as it is. */
export const resetUsage = (limit: StoredUsageLimit, now: Date): StoredUsageLimit => ({
  ...limit,
  epoch: Math.max(now.getTime(), (limit.epoch ?? 0) + 1),
  current_usage: 0,
  status: 'active',
  last_reset_at: now.toISOString(),
  is_threshold_alerts_sent: false,
  is_exhausted_alerts_sent: false,
});

/** A limit whose reset is due is reset and given its next date; any other is returned as it is. */
export function rollWindow(limit: StoredUsageLimit, now: Date): StoredUsageLimit {
  if (!limit.next_usage_reset_at || limit.next_usage_reset_at > now.toISOString()) return limit;
  let begun = new Date(limit.next_usage_reset_at);
  let next = nextReset(limit, begun);
  // A program that slept through several windows takes up the present one.
  while (next && next <= now) {
    begun = next;
    next = nextReset(limit, begun);
  }
  return {
    ...resetUsage(limit, now),
    // Calls have counted in the new period since it began, whenever it is written down.
    epoch: Math.max(begun.getTime(), limit.epoch ?? 0),
    next_usage_reset_at: next?.toISOString() ?? null,
  };
}

/** A reset date given by hand must lie ahead, also once it is taken as its UTC midnight. */
export const resetDateLiesAhead = (limit: Pick<UsageLimitInput, 'next_usage_reset_at'>, now: Date): boolean =>
  !limit.next_usage_reset_at || utcMidnight(new Date(limit.next_usage_reset_at)) > now;
