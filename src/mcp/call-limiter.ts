/** So many calls in a time, for each subject. */

/** Counts one call; answers 0, or the seconds until the next one is allowed. */
export type CallLimiter = (subject: string) => number;

const mostSubjects = 50_000;

export function createCallLimiter(now: () => number, most: number, windowMs: number): CallLimiter {
  const windows = new Map<string, { start: number; calls: number }>();
  return (subject) => {
    const at = now();
    const known = windows.get(subject);
    if (!known || at - known.start >= windowMs) {
      if (windows.size >= mostSubjects) windows.clear();
      windows.set(subject, { start: at, calls: 1 });
      return 0;
    }
    known.calls++;
    return known.calls <= most ? 0 : Math.max(1, Math.ceil((known.start + windowMs - at) / 1_000));
  };
}
