/** A rotation policy as a form holds it, and as the service stores it. */
import type { RotationPolicy, RotationPolicyInput } from '../../api/types.ts';
import type { FieldErrors } from '../../ui/form.ts';

export type Rhythm = 'none' | 'weekly' | 'monthly' | 'days' | 'once';

export interface RotationForm {
  rhythm: Rhythm;
  days: number | string;
  /** A local date and time, as the browser's own field writes it. */
  at: string;
  transitionHours: number | string;
}

const hourMs = 3_600_000;
export const shortestTransitionHours = 0.5;

export function rotationForm(policy: RotationPolicy | null): RotationForm {
  return {
    rhythm: rhythmIn(policy),
    days: policy?.rotation_period_days ?? 30,
    at: localTime(policy?.next_rotation_at ?? null),
    transitionHours: (policy?.key_transition_period_ms ?? shortestTransitionHours * hourMs) / hourMs,
  };
}

function rhythmIn(policy: RotationPolicy | null): Rhythm {
  if (!policy) return 'none';
  if (policy.rotation_period) return policy.rotation_period;
  return policy.rotation_period_days ? 'days' : 'once';
}

export function policyOf(form: RotationForm): RotationPolicyInput | null {
  if (form.rhythm === 'none') return null;
  const key_transition_period_ms = Math.round(Number(form.transitionHours) * hourMs);
  if (form.rhythm === 'once') return { next_rotation_at: isoTime(form.at), key_transition_period_ms };
  if (form.rhythm === 'days') return { rotation_period_days: Number(form.days), key_transition_period_ms };
  return { rotation_period: form.rhythm, key_transition_period_ms };
}

export function checkRotation(form: RotationForm): FieldErrors {
  if (form.rhythm === 'none') return {};
  const days = Number(form.days);
  return {
    ...(form.rhythm === 'days' &&
      (!Number.isInteger(days) || days < 1 || days > 365) && {
        'rotation_policy.rotation_period_days': 'Choose 1 to 365 days.',
      }),
    ...(form.rhythm === 'once' &&
      isoTime(form.at) === null && { 'rotation_policy.next_rotation_at': 'Choose a date in the future.' }),
    ...(!(Number(form.transitionHours) >= shortestTransitionHours) && {
      'rotation_policy.key_transition_period_ms': 'At least half an hour.',
    }),
  };
}

/** A moment as `datetime-local` fields write it: local time, to the minute. */
export function localTime(iso: string | null): string {
  if (!iso) return '';
  const date = new Date(iso);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

export function isoTime(local: string): string | null {
  const at = Date.parse(local);
  return local === '' || Number.isNaN(at) ? null : new Date(at).toISOString();
}
