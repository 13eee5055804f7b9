/** Time that only goes forward: it follows the clock ahead, and goes on at its own pace when the clock is set back. */
import type { Clock } from '../clock.ts';

export function steadyTime(clock: Clock, monotonic: () => number = () => performance.now()): () => number {
  let last = clock.now().getTime();
  let at = monotonic();
  return () => {
    const elapsed = monotonic() - at;
    at += elapsed;
    last = Math.max(clock.now().getTime(), last + elapsed);
    return Math.floor(last);
  };
}
