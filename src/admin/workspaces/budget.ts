/** A workspace's usage limits: what becomes of them, and of what was used, when a caller sends new ones. */
import type { StoredUsageLimit, UsageLimitInput } from '../../limits/entries.ts';
import { checkUsageLimit } from '../kernel/usage-limits.ts';

/** The limits that are sent replace the stored ones; a type that was limited before keeps what was used. */
export const appliedUsageLimits = (
  sent: readonly UsageLimitInput[],
  stored: readonly StoredUsageLimit[],
  now: Date,
): StoredUsageLimit[] =>
  sent.map((limit, index) => {
    const kept = stored.find((entry) => entry.type === limit.type) ?? null;
    return checkUsageLimit(limit, kept, now, `usage_limits.${index}`);
  });
