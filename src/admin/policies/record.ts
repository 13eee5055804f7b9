/** A stored policy as callers read it, and as the engine counts it. */
import { spanAt } from '../../limits/limit.ts';
import { type PolicySource, policyLimit } from '../../limits/policy-index.ts';
import { policySource } from '../../limits/policy-source.ts';
import { decode } from '../../store/json.ts';
import type { LimitCounterTable, PolicyTable } from '../../store/tables/limits.ts';

const shared = (row: PolicyTable) => ({
  id: row.id,
  name: row.name,
  description: row.description,
  conditions: decode(row.conditions),
  group_by: decode(row.group_by),
  mode: row.mode,
  clamp_max_tokens: row.clamp_max_tokens === 1,
  status: row.status,
  workspace_id: row.workspace_id,
  organisation_id: row.organisation_id,
  created_at: row.created_at,
  last_updated_at: row.last_updated_at,
});

export const asRatePolicy = (row: PolicyTable) => ({
  object: 'policy_rate_limits' as const,
  ...shared(row),
  type: row.type === 'tokens' ? ('tokens' as const) : ('requests' as const),
  unit: row.unit ?? 'rpm',
  value: row.value,
  target: row.target,
});

export const asUsagePolicy = (row: PolicyTable) => ({
  object: 'policy_usage_limits' as const,
  ...shared(row),
  type: row.type,
  credit_limit: row.value,
  alert_threshold: row.alert_threshold,
  periodic_reset: row.periodic_reset,
  periodic_reset_days: row.periodic_reset_days,
  next_usage_reset_at: row.next_usage_reset_at,
  last_reset_at: row.last_reset_at,
});

/** The policy and the moment at which the running period began. */
export function runningPolicy(row: PolicyTable, now: Date): { source: PolicySource; epoch: number } {
  const source = policySource(row);
  return { source, epoch: spanAt(source.window, now.getTime()).epoch };
}

/** What a group has used of the running period: a count of an earlier one is over. */
export const usedIn = (counter: Pick<LimitCounterTable, 'epoch' | 'settled'>, epoch: number): number =>
  counter.epoch >= epoch ? counter.settled : 0;

export const limitOfGroup = (source: PolicySource, { value_key }: Pick<LimitCounterTable, 'value_key'>) =>
  policyLimit(source, value_key ?? '');
