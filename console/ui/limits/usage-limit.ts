/** A budget as a form holds it, and as the service stores it. */
import type { UsageLimit } from '../../api/types.ts';
import type { UsageLimitDraft } from '../../api/workspaces.ts';
import type { FieldErrors } from '../form.ts';

export type ResetRhythm = 'never' | 'weekly' | 'monthly' | 'days';

export interface BudgetForm {
  on: boolean;
  type: 'cost' | 'tokens';
  limit: number | string;
  alert: number | string;
  rhythm: ResetRhythm;
  days: number | string;
}

export function budgetForm(stored: UsageLimit | null | undefined, type: 'cost' | 'tokens' = 'cost'): BudgetForm {
  return {
    on: Boolean(stored),
    type: stored?.type ?? type,
    limit: stored?.credit_limit ?? '',
    alert: stored?.alert_threshold ?? '',
    rhythm: stored?.periodic_reset ?? (stored?.periodic_reset_days ? 'days' : stored ? 'never' : 'monthly'),
    days: stored?.periodic_reset_days ?? 30,
  };
}

export function draftOf(form: BudgetForm): UsageLimitDraft | null {
  if (!form.on) return null;
  return {
    type: form.type,
    credit_limit: Number(form.limit),
    alert_threshold: form.alert === '' ? null : Number(form.alert),
    periodic_reset: form.rhythm === 'weekly' || form.rhythm === 'monthly' ? form.rhythm : null,
    periodic_reset_days: form.rhythm === 'days' ? Number(form.days) : null,
  };
}

/** What is wrong with a budget, by the service's own field names below `path`. */
export function checkBudget(form: BudgetForm, path: string): FieldErrors {
  if (!form.on) return {};
  const limit = Number(form.limit);
  const days = Number(form.days);
  return {
    ...((form.limit === '' || !(limit >= 1)) && { [`${path}.credit_limit`]: 'Enter a limit of at least 1.' }),
    ...(form.alert !== '' &&
      (Number(form.alert) < 1 || Number(form.alert) > limit) && {
        [`${path}.alert_threshold`]: 'Choose an amount between 1 and the limit.',
      }),
    ...(form.rhythm === 'days' &&
      (!Number.isInteger(days) || days < 1 || days > 365) && {
        [`${path}.periodic_reset_days`]: 'Choose 1 to 365 days.',
      }),
  };
}

const dollars = new Intl.NumberFormat('en', { style: 'currency', currency: 'USD', maximumFractionDigits: 2 });
const counts = new Intl.NumberFormat('en');

export const amount = (type: 'cost' | 'tokens', value: number): string =>
  type === 'cost' ? dollars.format(value) : `${counts.format(value)} tokens`;

export function rhythmOf(limit: Pick<UsageLimit, 'periodic_reset' | 'periodic_reset_days'>): string {
  if (limit.periodic_reset) return `resets ${limit.periodic_reset}`;
  return limit.periodic_reset_days ? `resets every ${limit.periodic_reset_days} days` : 'never resets';
}
