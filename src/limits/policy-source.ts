/** A stored policy as the index and the engine take it. */
import { decode } from '../store/json.ts';
import type { PolicyTable } from '../store/tables/limits.ts';
import type { PolicySource } from './policy-index.ts';

export const policySource = (row: PolicyTable): PolicySource => ({
  id: row.id,
  kind: row.kind,
  organisationId: row.organisation_id,
  name: row.name,
  conditions: decode(row.conditions),
  groupBy: decode(row.group_by),
  target: row.target,
  type: row.type,
  unit: row.unit,
  value: row.value,
  window:
    row.unit === null
      ? {
          kind: 'usage',
          epoch: row.epoch,
          resetsAt: row.next_usage_reset_at === null ? null : Date.parse(row.next_usage_reset_at),
          cadence: {
            periodic_reset: row.periodic_reset,
            periodic_reset_days: row.periodic_reset_days,
            week_start: 'monday',
          },
        }
      : { kind: 'rate', unit: row.unit },
  mode: row.mode,
  clampMaxTokens: row.clamp_max_tokens === 1,
});
