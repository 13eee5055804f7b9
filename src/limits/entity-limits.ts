/** The limits that a key, a workspace, a provider or an integration carries, as values for the engine. */
import type { RateLimit, StoredUsageLimit } from './entries.ts';
import { type Limit, type LimitScope, rateCounter, toUnits, usageCounter } from './limit.ts';

interface LimitedEntity {
  organisationId: string;
  scope: Exclude<LimitScope, 'policy'>;
  entityId: string;
  /** How refusals name it. */
  name: string;
}

/** Rates first: they refuse for a moment only. */
export function entityLimits(
  { organisationId, scope, entityId, name }: LimitedEntity,
  rates: readonly RateLimit[],
  usage: readonly StoredUsageLimit[],
): Limit[] {
  const common = { organisationId, scope, name, mode: 'enforce' as const };
  return [
    ...rates.map(
      ({ type, unit, value }): Limit => ({
        ...common,
        counter: rateCounter(scope, entityId, type, unit),
        type,
        window: { kind: 'rate', unit },
        value,
        clampMaxTokens: false,
      }),
    ),
    ...usage.map(
      (limit): Limit => ({
        ...common,
        counter: usageCounter(scope, entityId, limit.type),
        type: limit.type,
        window: {
          kind: 'usage',
          epoch: limit.epoch ?? 0,
          resetsAt: limit.next_usage_reset_at === null ? null : Date.parse(limit.next_usage_reset_at),
          cadence: { periodic_reset: limit.periodic_reset, periodic_reset_days: limit.periodic_reset_days },
        },
        value: toUnits(limit.type, limit.credit_limit),
        clampMaxTokens: limit.clamp_max_tokens ?? false,
      }),
    ),
  ];
}

/** A grant of an integration to a workspace is counted under both. */
export const grantEntity = (integrationId: string, workspaceId: string): string => `${integrationId}:${workspaceId}`;
