/** A limit and what is used of it, as callers read it. */
import { z } from 'zod';
import { lazy } from '../../lazy.ts';
import { rateUnits } from '../../limits/calendar.ts';
import type { CounterState } from '../../limits/engine.ts';
import { fromUnits, type Limit } from '../../limits/limit.ts';
import { timestamp } from '../kernel/fields.ts';
import type { Services } from '../kernel/services.ts';

export const limitUsageRecord = lazy(() =>
  z.object({
    object: z.literal('limit_usage'),
    kind: z.enum(['rate_limit', 'usage_limit']),
    type: z.enum(['requests', 'tokens', 'cost']),
    unit: z.enum(rateUnits).nullable().describe('The window of a rate limit; null for usage limits'),
    limit: z.number().describe('Requests, tokens or dollars'),
    current_usage: z.number(),
    reserved: z.number().describe('Held for calls that are running'),
    remaining: z.number(),
    status: z.enum(['active', 'exhausted']),
    window_ends_at: timestamp.nullable().describe('When the count starts anew by itself; null: never'),
  }),
);

/** The same, of one workspace that an integration was handed to. */
export const grantUsageRecord = lazy(() =>
  limitUsageRecord().extend({ workspace_id: z.string(), workspace_slug: z.string() }),
);

/** What is used of each limit at this moment. */
export async function usageOf(services: Services, limits: readonly Limit[]) {
  const states = await services.limits.read(limits);
  return limits.flatMap((limit, index) => {
    const state = states[index];
    return state ? [asUsage(limit, state)] : [];
  });
}

const asUsage = ({ type, window, value }: Limit, { settled, reserved, endsAt }: CounterState) => ({
  object: 'limit_usage' as const,
  kind: window.kind === 'rate' ? ('rate_limit' as const) : ('usage_limit' as const),
  type,
  unit: window.kind === 'rate' ? window.unit : null,
  limit: fromUnits(type, value),
  current_usage: fromUnits(type, settled),
  reserved: fromUnits(type, reserved),
  remaining: fromUnits(type, Math.max(0, value - settled - reserved)),
  status: settled >= value ? ('exhausted' as const) : ('active' as const),
  window_ends_at: endsAt === null ? null : new Date(endsAt).toISOString(),
});
