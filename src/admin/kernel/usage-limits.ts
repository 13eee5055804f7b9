/** Saving a usage limit: the rule for what a caller sends, and the columns that the limit fills. */
import { invalid } from '../../http/errors.ts';
import {
  applyUsageLimit,
  resetDateLiesAhead,
  type StoredUsageLimit,
  type UsageLimitInput,
} from '../../limits/entries.ts';
import { encode } from '../../store/json.ts';

/** The limit to store. A record that was read and is sent back passes, also in the minute before its reset is carried out. */
export function checkUsageLimit(
  input: UsageLimitInput,
  stored: StoredUsageLimit | null,
  now: Date,
  path = 'usage_limits',
): StoredUsageLimit {
  const sentBack = stored !== null && input.next_usage_reset_at === stored.next_usage_reset_at;
  if (!sentBack && !resetDateLiesAhead(input, now)) {
    throw invalid(`${path}.next_usage_reset_at`, 'must lie ahead, also once it is taken as its UTC midnight');
  }
  return applyUsageLimit(input, stored, now);
}

/** The reset date stands beside the limit too, so that the reset job can look it up. */
export const usageLimitColumns = (limit: StoredUsageLimit | null) => ({
  usage_limits: limit && encode(limit),
  next_usage_reset_at: limit?.next_usage_reset_at ?? null,
});
