/** The limits and the end of a provider: how they are sent, what becomes of them, and what they make of its state. */
import { z } from 'zod';
import { dateTime } from '../../date-time.ts';
import { invalid } from '../../http/errors.ts';
import { lazy } from '../../lazy.ts';
import {
  keyRateLimits,
  type RateLimit,
  resetUsage,
  soleUsageLimit,
  type UsageLimitInput,
} from '../../limits/entries.ts';
import { decode, encode } from '../../store/json.ts';
import type { ProviderStatus, ProviderTable } from '../../store/tables/catalog.ts';
import { checkUsageLimit, usageLimitColumns } from '../kernel/usage-limits.ts';

/** One object, or a list of them. */
const rateLimits = () =>
  z.union([keyRateLimits(), keyRateLimits().element.transform((limit): RateLimit[] => [limit])], {
    error: 'must be a limit with type, unit and value, or a list of them, one for each type and unit',
  });

export const limitFields = lazy(() => ({
  usage_limits: soleUsageLimit(),
  rate_limits: rateLimits().nullish().describe('Null removes the limits'),
  expires_at: dateTime.nullish().describe('From then on requests are refused; null: never'),
}));

interface SentLimits {
  usage_limits?: UsageLimitInput | null | undefined;
  rate_limits?: readonly RateLimit[] | null | undefined;
  expires_at?: string | null | undefined;
  reset_usage?: boolean | null | undefined;
}

export type LimitColumns = Pick<
  ProviderTable,
  'usage_limits' | 'next_usage_reset_at' | 'rate_limits' | 'expires_at' | 'last_reset_at' | 'status'
>;

export const unlimited: LimitColumns = {
  usage_limits: null,
  next_usage_reset_at: null,
  rate_limits: encode<RateLimit[]>([]),
  expires_at: null,
  last_reset_at: null,
  status: 'active',
};

/** The columns with what was sent laid over them; what is left out stays as it is. */
export function appliedLimits(sent: SentLimits, stored: LimitColumns | null, now: Date): LimitColumns {
  const before = stored ?? unlimited;
  const old = before.usage_limits ? decode(before.usage_limits) : null;
  const kept =
    sent.usage_limits === undefined ? old : sent.usage_limits && checkUsageLimit(sent.usage_limits, old, now);
  const limit = sent.reset_usage && kept ? resetUsage(kept, now) : kept;
  const columns = {
    ...usageLimitColumns(limit),
    rate_limits: sent.rate_limits === undefined ? before.rate_limits : encode([...(sent.rate_limits ?? [])]),
    expires_at: expiry(sent.expires_at, before.expires_at, now),
    last_reset_at: sent.reset_usage ? now.toISOString() : before.last_reset_at,
  };
  const untouched =
    stored && ![sent.usage_limits, sent.expires_at, sent.reset_usage].some((field) => field !== undefined);
  return { ...columns, status: untouched ? stored.status : stateOf(columns, now) };
}

function expiry(sent: string | null | undefined, stored: string | null, now: Date): string | null {
  if (sent === undefined) return stored;
  if (sent === null) return null;
  const moment = new Date(sent);
  // A record that was read and is sent back must pass, also once it has expired.
  if (moment <= now && moment.toISOString() !== stored) throw invalid('expires_at', 'must lie in the future');
  return moment.toISOString();
}

/** What the limits and the end of a provider make of it. */
function stateOf({ usage_limits, expires_at }: Pick<ProviderTable, 'usage_limits' | 'expires_at'>, now: Date) {
  if (expires_at !== null && expires_at <= now.toISOString()) return 'expired';
  return usage_limits !== null && decode(usage_limits).status === 'exhausted' ? 'exhausted' : 'active';
}

/** The state to show: a provider past its end has expired, whether or not the job has come by. */
export const shownStatus = (row: Pick<ProviderTable, 'status' | 'expires_at'>, now: Date): ProviderStatus =>
  row.status !== 'archived' && row.expires_at !== null && row.expires_at <= now.toISOString() ? 'expired' : row.status;
