/** A workspace's usage limits: what becomes of them, and of what was used, when a caller sends new ones. */
import { invalid } from '../../http/errors.ts';
import {
  applyUsageLimit,
  resetDateLiesAhead,
  type StoredUsageLimit,
  type UsageLimitInput,
} from '../../limits/entries.ts';

/** The limits that are sent replace the stored ones; a type that was limited before keeps what was used. */
export function appliedUsageLimits(
  sent: readonly UsageLimitInput[],
  stored: readonly StoredUsageLimit[],
  now: Date,
): StoredUsageLimit[] {
  return sent.map((limit, index) => {
    const kept = stored.find((entry) => entry.type === limit.type) ?? null;
    // A record that was read and is sent back must pass, also in the minute before its reset is carried out.
    const unchanged = limit.next_usage_reset_at === kept?.next_usage_reset_at;
    if (!unchanged && !resetDateLiesAhead(limit, now)) {
      throw invalid(`usage_limits.${index}.next_usage_reset_at`, 'must be a later day than today, in UTC');
    }
    return applyUsageLimit(limit, kept, now);
  });
}
