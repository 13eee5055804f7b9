/** What must hold of a policy beyond the form of its fields. */
import { type FieldError, invalid, invalidFields } from '../../http/errors.ts';
import { nextReset, utcMidnight } from '../../limits/calendar.ts';
import type { LimitType } from '../../limits/limit.ts';
import {
  anyValue,
  isConditionKey,
  isGroupKey,
  listOf,
  type PolicyCondition,
  type PolicyGroupKey,
  type PolicyTerms,
} from '../../limits/policy.ts';
import { endpointKinds } from '../../providers/endpoints.ts';
import type { Db } from '../../store/database.ts';
import type { PolicyTable } from '../../store/tables/limits.ts';
import type { ConditionInput, UsagePolicyUpdate } from './schema.ts';

const knownEndpoints: ReadonlySet<string> = new Set([...endpointKinds, anyValue]);

/** The conditions to store; every wrong one is named. */
export async function checkConditions(
  db: Db,
  organisationId: string,
  sent: readonly ConditionInput[],
  terms: PolicyTerms,
): Promise<PolicyCondition[]> {
  const errors: FieldError[] = [];
  const wrong = (path: string, message: string) =>
    void errors.push({ location: 'body', path: `conditions.${path}`, message });
  for (const [index, { key, value, excludes }] of sent.entries()) {
    if (!isConditionKey(key, terms)) {
      wrong(`${index}.key`, `"${key}" is no condition of this kind of policy`);
      continue;
    }
    const values = listOf(value);
    const excluded = new Set(listOf(excludes));
    if (excluded.has(anyValue) || values.every((entry) => entry !== anyValue && excluded.has(entry))) {
      wrong(`${index}.excludes`, 'excludes everything that the condition names');
    }
    if (key === 'endpoint_type') {
      const unknown = [...values, ...excluded].find((entry) => !knownEndpoints.has(entry));
      if (unknown !== undefined) wrong(`${index}.value`, `"${unknown}" is no type of endpoint`);
    }
    const foreign = [...values].find(
      (entry) => key === 'organisation_id' && ![organisationId, anyValue].includes(entry),
    );
    if (foreign !== undefined) wrong(`${index}.value`, 'names another organisation');
    if (key === 'workspace_id' && !(await areWorkspaces(db, organisationId, values))) {
      wrong(`${index}.value`, 'names no workspace of this organisation');
    }
  }
  if (errors.length > 0) throw invalidFields(errors);
  return sent.map(({ key, value, excludes }) => ({ key, value, ...(excludes !== undefined && { excludes }) }));
}

async function areWorkspaces(db: Db, organisationId: string, values: readonly string[]): Promise<boolean> {
  const named = values.filter((value) => value !== anyValue);
  if (named.length === 0) return true;
  const rows = await db
    .selectFrom('workspaces')
    .select(['id', 'slug'])
    .where('organisation_id', '=', organisationId)
    .where((eb) => eb.or([eb('id', 'in', named), eb('slug', 'in', named)]))
    .execute();
  return named.every((value) => rows.some(({ id, slug }) => id === value || slug === value));
}

export function checkGroupBy(sent: readonly PolicyGroupKey[], terms: PolicyTerms): PolicyGroupKey[] {
  const seen = new Set<string>();
  for (const [index, { key }] of sent.entries()) {
    if (!isGroupKey(key, terms)) throw invalid(`group_by.${index}.key`, `"${key}" is nothing to group by`);
    if (seen.has(key)) throw invalid(`group_by.${index}.key`, `"${key}" stands here twice`);
    seen.add(key);
  }
  return sent.map(({ key }) => ({ key }));
}

/** Tokens and requests come whole; money has fractions. */
export function checkAmounts(type: LimitType, limit: number, threshold: number | null): void {
  if (type !== 'cost' && !Number.isInteger(limit)) throw invalid('credit_limit', `must be a whole number of ${type}`);
  if (threshold === null) return;
  if (type !== 'cost' && !Number.isInteger(threshold)) {
    throw invalid('alert_threshold', `must be a whole number of ${type}`);
  }
  if (threshold >= limit) throw invalid('alert_threshold', 'must be below credit_limit');
}

type Schedule = Pick<PolicyTable, 'periodic_reset' | 'periodic_reset_days' | 'next_usage_reset_at'>;
type SentSchedule = Pick<UsagePolicyUpdate, 'periodic_reset' | 'periodic_reset_days' | 'next_usage_reset_at'>;

/** The schedule with what was sent laid over it: one cadence replaces the other, and a new one gets its own date. */
export function checkSchedule(sent: SentSchedule, stored: Schedule | null, now: Date): Schedule {
  if (sent.periodic_reset && sent.periodic_reset_days) {
    throw invalid('periodic_reset_days', 'periodic_reset and periodic_reset_days exclude each other');
  }
  const before = stored ?? { periodic_reset: null, periodic_reset_days: null, next_usage_reset_at: null };
  const cadence = {
    periodic_reset: sent.periodic_reset === undefined ? before.periodic_reset : sent.periodic_reset,
    periodic_reset_days: sent.periodic_reset_days === undefined ? before.periodic_reset_days : sent.periodic_reset_days,
  };
  if (sent.periodic_reset) cadence.periodic_reset_days = null;
  if (sent.periodic_reset_days) cadence.periodic_reset = null;
  const isSame =
    cadence.periodic_reset === before.periodic_reset && cadence.periodic_reset_days === before.periodic_reset_days;
  return { ...cadence, next_usage_reset_at: nextDate(sent, isSame ? before : null, cadence, now) };
}

function nextDate(
  { next_usage_reset_at: sent }: SentSchedule,
  kept: Schedule | null,
  cadence: Pick<Schedule, 'periodic_reset' | 'periodic_reset_days'>,
  now: Date,
): string | null {
  if (sent) {
    const midnight = utcMidnight(new Date(sent));
    const isSentBack = kept?.next_usage_reset_at === midnight.toISOString();
    if (midnight <= now && !isSentBack) {
      throw invalid('next_usage_reset_at', 'must lie ahead, also once it is taken as its UTC midnight');
    }
    return midnight.toISOString();
  }
  if (kept && sent === undefined) return kept.next_usage_reset_at;
  return nextReset({ ...cadence, week_start: 'monday' }, now)?.toISOString() ?? null;
}

/** What never changes may be repeated. */
export function requireSame(field: string, sent: unknown, stored: unknown): void {
  if (sent !== undefined && JSON.stringify(sent) !== JSON.stringify(stored)) {
    throw invalid(field, 'may not change; make another policy');
  }
}
