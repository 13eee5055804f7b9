/** Rotation policies of API keys: their schema, their calendar, and the rules that bind them. */
import { z } from 'zod';
import { dateTime } from '../date-time.ts';
import { lazy } from '../lazy.ts';
import { utcMidnight } from '../limits/calendar.ts';

export interface RotationPolicy {
  rotation_period: 'weekly' | 'monthly' | null;
  rotation_period_days: number | null;
  next_rotation_at: string | null;
  key_transition_period_ms: number;
}

const dayMs = 86_400_000;

/** An old secret lives on at least this long, and this long when nobody says otherwise. */
export const shortestTransitionMs = 30 * 60_000;

export const transitionPeriod = lazy(() =>
  z
    .int()
    .min(shortestTransitionMs)
    .max(365 * dayMs)
    .describe('Milliseconds in which the old and the new secret both count; at least 30 minutes'),
);

/** What a caller may send of a policy; the read-only status is accepted so that a record read can be sent back, and ignored. */
export const rotationPolicyInput = lazy(() =>
  z
    .strictObject({
      rotation_period: z.enum(['weekly', 'monthly']).nullish(),
      rotation_period_days: z.int().min(1).max(365).nullish(),
      next_rotation_at: dateTime.nullish(),
      key_transition_period_ms: transitionPeriod().nullish(),
      status: z.unknown().optional(),
    })
    .refine((policy) => !(policy.rotation_period && policy.rotation_period_days), {
      path: ['rotation_period_days'],
      message: 'rotation_period and rotation_period_days exclude each other',
    }),
);

export type RotationPolicyInput = z.output<ReturnType<typeof rotationPolicyInput>>;

/** The reply form of a stored policy. */
export const rotationPolicyRecord = lazy(() =>
  z.object({
    rotation_period: z.enum(['weekly', 'monthly']).nullable(),
    rotation_period_days: z.number().nullable(),
    next_rotation_at: z.string().nullable(),
    key_transition_period_ms: z.number(),
    status: z.literal('ACTIVE'),
  }),
);

type Cadence = Pick<RotationPolicy, 'rotation_period' | 'rotation_period_days'>;

/** The first rotation after `from`: weekly on Monday, monthly on day 1, every N days counted from `from`; all at 00:00 UTC. */
export function nextRotation(cadence: Cadence, from: Date): Date | null {
  if (cadence.rotation_period === 'weekly') {
    const midnight = utcMidnight(from);
    const daysToMonday = (8 - midnight.getUTCDay()) % 7 || 7;
    return new Date(midnight.getTime() + daysToMonday * dayMs);
  }
  if (cadence.rotation_period === 'monthly') {
    return new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + 1, 1));
  }
  if (cadence.rotation_period_days) {
    return utcMidnight(new Date(from.getTime() + cadence.rotation_period_days * dayMs));
  }
  return null;
}

/** The shortest time between two rotations, or null for a policy that rotates once. */
function periodMs(cadence: Cadence): number | null {
  if (cadence.rotation_period === 'weekly') return 7 * dayMs;
  if (cadence.rotation_period === 'monthly') return 28 * dayMs;
  return cadence.rotation_period_days ? cadence.rotation_period_days * dayMs : null;
}

/** A key never has three live secrets, so the old one must be gone before the next rotation. */
export const transitionFits = (transitionMs: number, cadence: Cadence): boolean =>
  transitionMs < (periodMs(cadence) ?? Number.POSITIVE_INFINITY);

/** The period as the setting `user_api_key_rotation_period` counts it. */
const asSettingDays = (cadence: Cadence): number | null =>
  cadence.rotation_period === 'weekly' ? 7 : cadence.rotation_period === 'monthly' ? 30 : cadence.rotation_period_days;

type PolicyVerdict = { policy: RotationPolicy } | { fault: { field: string; message: string } };

const fault = (field: keyof RotationPolicy | '', message: string): PolicyVerdict => ({ fault: { field, message } });

export interface PolicyContext {
  now: Date;
  /** The period in days that the organisation or workspace imposes on this key, if it does. */
  enforcedDays: number | null;
  stored: RotationPolicy | null;
}

/** The policy to store for what the caller sent, or why it is refused. */
export function resolvePolicy(input: RotationPolicyInput, { now, enforcedDays, stored }: PolicyContext): PolicyVerdict {
  const given = givenDate(input, stored);
  let cadence: Cadence = {
    rotation_period: input.rotation_period ?? null,
    rotation_period_days: input.rotation_period_days ?? null,
  };
  if (enforcedDays !== null) {
    const days = asSettingDays(cadence);
    if (days !== null && days !== enforcedDays) {
      const field = cadence.rotation_period ? 'rotation_period' : 'rotation_period_days';
      return fault(field, `user keys rotate every ${enforcedDays} days here; send that period or none`);
    }
    if (given) return fault('next_rotation_at', `is set by the enforced period of ${enforcedDays} days; leave it out`);
    if (days === null) cadence = { rotation_period: null, rotation_period_days: enforcedDays };
  }
  if (given && given <= now)
    return fault('next_rotation_at', 'must lie ahead, also once it is taken as its UTC midnight');
  const due = given ?? keptDate(cadence, input, stored) ?? nextRotation(cadence, now);
  if (!due) return fault('', 'send rotation_period, rotation_period_days or next_rotation_at');
  const transition = input.key_transition_period_ms ?? shortestTransitionMs;
  if (!transitionFits(transition, cadence)) {
    return fault('key_transition_period_ms', 'must be shorter than the time between two rotations');
  }
  return { policy: { ...cadence, next_rotation_at: due.toISOString(), key_transition_period_ms: transition } };
}

/** The policy of a user key whose maker sent none. */
export const enforcedPolicy = (days: number, now: Date): RotationPolicy => {
  const cadence: Cadence = { rotation_period: null, rotation_period_days: days };
  return {
    ...cadence,
    next_rotation_at: nextRotation(cadence, now)?.toISOString() ?? null,
    key_transition_period_ms: shortestTransitionMs,
  };
};

/** The date that the caller chose; one that is stored already, as in a record sent back, is no choice. */
function givenDate(input: RotationPolicyInput, stored: RotationPolicy | null): Date | null {
  if (!input.next_rotation_at) return null;
  const date = utcMidnight(new Date(input.next_rotation_at));
  return date.toISOString() === stored?.next_rotation_at ? null : date;
}

/** A policy saved again with the same rhythm keeps its next date. */
function keptDate(cadence: Cadence, input: RotationPolicyInput, stored: RotationPolicy | null): Date | null {
  if (!stored?.next_rotation_at) return null;
  const same =
    stored.rotation_period === cadence.rotation_period && stored.rotation_period_days === cadence.rotation_period_days;
  const sentBack = Boolean(input.next_rotation_at);
  const periodic = periodMs(cadence) !== null;
  return sentBack || (same && periodic) ? new Date(stored.next_rotation_at) : null;
}

/** The policy after a rotation at `now`: the next date of its rhythm; a single rotation is spent only by the one that came by itself. */
export function afterRotation(policy: RotationPolicy, now: Date, mode: 'manual' | 'auto'): RotationPolicy {
  const next = nextRotation(policy, now);
  if (next) return { ...policy, next_rotation_at: next.toISOString() };
  return mode === 'auto' ? { ...policy, next_rotation_at: null } : policy;
}
