/** The administration interface's own rate limit: so many calls a minute for one credential, counted by this node. */
import type { Clock } from '../../clock.ts';
import { networkOf } from '../../http/client-address.ts';

interface CallLimiter {
  /** Counts one call of a credential or an address; answers the seconds to wait when it is one too many, else 0. */
  count(subject: string): number;
}

const windowMs = 60_000;
const subjectsKept = 50_000;

export function createCallLimiter(clock: Clock, perMinute: number): CallLimiter {
  let windowStart = 0;
  let counts = new Map<string, number>();
  return {
    count(who) {
      if (perMinute === 0) return 0;
      const subject = networkOf(who);
      const now = clock.now().getTime();
      if (now - windowStart >= windowMs || now < windowStart) {
        windowStart = now;
        counts = new Map();
      }
      const count = (counts.get(subject) ?? 0) + 1;
      if (counts.size < subjectsKept || counts.has(subject)) counts.set(subject, count);
      return count > perMinute ? Math.max(1, Math.ceil((windowStart + windowMs - now) / 1000)) : 0;
    },
  };
}
