/** So many calls in a time, for each subject. */
import { networkOf } from '../http/client-address.ts';

/** Counts one call; answers 0, or the seconds until the next one is allowed. */
export type CallLimiter = (subject: string) => number;

const mostSubjects = 50_000;

export function createCallLimiter(now: () => number, most: number, windowMs: number): CallLimiter {
  const windows = new Map<string, { start: number; calls: number }>();
  return (who) => {
    const subject = networkOf(who);
    const at = now();
    const known = windows.get(subject);
    if (!known || at - known.start >= windowMs) {
      windows.delete(subject);
      const [oldest] = windows.keys();
      if (windows.size >= mostSubjects && oldest !== undefined) windows.delete(oldest);
      windows.set(subject, { start: at, calls: 1 });
      return 0;
    }
    known.calls++;
    return known.calls <= most ? 0 : Math.max(1, Math.ceil((known.start + windowMs - at) / 1_000));
  };
}
