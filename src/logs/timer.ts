/** Runs something after a while; what it answers calls that off. Tests pass one of their own, so that they need not wait. */
export type Timer = (ms: number, run: () => void) => () => void;

export const systemTimer: Timer = (ms, run) => {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
};
