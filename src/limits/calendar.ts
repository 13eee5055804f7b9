/** The reset calendar of usage limits: weekly, monthly, or every N days, always at 00:00 UTC. */

export const rateUnits = ['rpm', 'rph', 'rpd', 'rpw'] as const;
export type RateUnit = (typeof rateUnits)[number];

export interface Cadence {
  periodic_reset: 'weekly' | 'monthly' | null;
  periodic_reset_days: number | null;
  /** Policies begin their week on Monday; keys, workspaces, providers and integrations on Sunday. */
  week_start?: 'monday' | undefined;
}

const dayMs = 86_400_000;

export const utcMidnight = (date: Date): Date =>
  new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()));

/** The first reset after `from`: weekly on the first day of the week, monthly on day 1, every N days counted from `from`. */
export function nextReset(cadence: Cadence, from: Date): Date | null {
  if (cadence.periodic_reset === 'weekly') {
    const midnight = utcMidnight(from);
    const weekday = (midnight.getUTCDay() - (cadence.week_start === 'monday' ? 1 : 0) + 7) % 7;
    return new Date(midnight.getTime() + (7 - weekday) * dayMs);
  }
  if (cadence.periodic_reset === 'monthly') {
    return new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + 1, 1));
  }
  if (cadence.periodic_reset_days) return new Date(utcMidnight(from).getTime() + cadence.periodic_reset_days * dayMs);
  return null;
}
