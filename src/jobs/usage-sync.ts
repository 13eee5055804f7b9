/** What was counted reaches those whose limits it is: usage and state of keys, workspaces, providers, grants and policies, and the alerts that are due. */
import type { Services } from '../admin/kernel/services.ts';
import { usageLimitColumns } from '../admin/kernel/usage-limits.ts';
import { rollWindow, type StoredUsageLimit } from '../limits/entries.ts';
import { fromUnits, spanAt } from '../limits/limit.ts';
import { policySource } from '../limits/policy-source.ts';
import type { Change } from '../store/changes.ts';
import type { Db } from '../store/database.ts';
import { decode, encode } from '../store/json.ts';
import type { LimitCounterTable } from '../store/tables/limits.ts';
import { type Batch, batchSize, inBatches } from './batches.ts';
import type { Job } from './runner.ts';
import { raiseAlerts, type UsageAlert } from './usage-alerts.ts';

/** Runs with every flush of the ledger on the node that spent; this catches up with what a node left when it died. */
export const createUsageSyncJob = (services: Services): Job => ({
  name: 'usage-sync',
  everyMs: 60_000,
  run: () => syncUsage(services),
});

type Counter = Pick<
  LimitCounterTable,
  'counter' | 'scope' | 'entity_id' | 'organisation_id' | 'type' | 'value_key' | 'epoch' | 'settled'
> & { is_threshold_alerts_sent: 0 | 1; is_exhausted_alerts_sent: 0 | 1 };

/** What a counter made of the one whose limit it counts. */
interface Synced {
  changes: Change[];
  alerts: UsageAlert[];
}

const nothing: Synced = { changes: [], alerts: [] };

export const syncUsage = (services: Services): Promise<void> =>
  inBatches(services, (db) => syncSome(db, services, services.clock.now()));

async function syncSome(db: Db, services: Services, now: Date): Promise<Batch> {
  const counters = await db
    .selectFrom('limit_counters')
    .select([
      'counter',
      'scope',
      'entity_id',
      'organisation_id',
      'type',
      'value_key',
      'epoch',
      'settled',
      'is_threshold_alerts_sent',
      'is_exhausted_alerts_sent',
    ])
    .where('dirty', '=', 1)
    .orderBy('last_updated_at')
    .limit(batchSize)
    .execute();
  if (counters.length === 0) return { taken: 0, changes: [] };
  const changes: Change[] = [];
  for (const counter of counters) {
    const synced = await syncOne[counter.scope](db, counter, now);
    changes.push(...synced.changes);
    for (const alert of synced.alerts) await raiseAlerts(db, services, now, alert);
  }
  await db
    .updateTable('limit_counters')
    .set({ dirty: 0 })
    .where(
      'counter',
      'in',
      counters.map(({ counter }) => counter),
    )
    .execute();
  return { taken: counters.length, changes };
}

const syncOne: Record<Counter['scope'], (db: Db, counter: Counter, now: Date) => Promise<Synced>> = {
  api_key: syncKey,
  workspace: syncWorkspace,
  provider: syncProvider,
  integration: syncGrant,
  policy: syncPolicy,
};

/** The limit with what the counter says; null where the counter is of another period, or of another type. */
function counted(stored: StoredUsageLimit, counter: Counter, now: Date): StoredUsageLimit | null {
  if (stored.type !== counter.type) return null;
  const limit = rollWindow(stored, now);
  if (counter.epoch < (limit.epoch ?? 0)) return null;
  const usage = fromUnits(limit.type, counter.settled);
  return { ...limit, current_usage: usage, status: usage >= limit.credit_limit ? 'exhausted' : 'active' };
}

/** The alerts that this limit has due, and the limit once they are raised. */
function alerted(limit: StoredUsageLimit): { limit: StoredUsageLimit; due: ('threshold' | 'exhausted')[] } {
  const { alert_threshold, current_usage } = limit;
  const due: ('threshold' | 'exhausted')[] = [];
  if (alert_threshold !== null && current_usage >= alert_threshold && !limit.is_threshold_alerts_sent) {
    due.push('threshold');
  }
  if (limit.status === 'exhausted' && !limit.is_exhausted_alerts_sent) due.push('exhausted');
  return {
    limit: {
      ...limit,
      is_threshold_alerts_sent: limit.is_threshold_alerts_sent || due.includes('threshold'),
      is_exhausted_alerts_sent: limit.is_exhausted_alerts_sent || due.includes('exhausted'),
    },
    due,
  };
}

const alertsOf = (
  due: readonly ('threshold' | 'exhausted')[],
  limit: StoredUsageLimit,
  entity: Pick<UsageAlert, 'scope' | 'entityId' | 'organisationId' | 'workspaceId' | 'name'>,
): UsageAlert[] =>
  due.map((level) => ({
    ...entity,
    level,
    type: limit.type,
    used: limit.current_usage,
    limit: limit.credit_limit,
    threshold: limit.alert_threshold,
    valueKey: null,
  }));

async function syncKey(db: Db, counter: Counter, now: Date): Promise<Synced> {
  const key = await db
    .selectFrom('api_keys')
    .select(['id', 'name', 'organisation_id', 'workspace_id', 'status', 'usage_limits'])
    .where('id', '=', counter.entity_id)
    .where('status', 'in', ['active', 'exhausted'])
    .executeTakeFirst();
  const known = key?.usage_limits ? counted(decode(key.usage_limits), counter, now) : null;
  if (!key || !known) return nothing;
  const { limit, due } = alerted(known);
  await db
    .updateTable('api_keys')
    .set({ ...usageLimitColumns(limit), status: limit.status })
    .where('id', '=', key.id)
    .execute();
  return {
    changes: key.status === limit.status ? [] : [{ topic: 'api_key', id: key.id }],
    alerts: alertsOf(due, limit, {
      scope: 'api_key',
      entityId: key.id,
      organisationId: key.organisation_id,
      workspaceId: key.workspace_id,
      name: key.name,
    }),
  };
}

async function syncWorkspace(db: Db, counter: Counter, now: Date): Promise<Synced> {
  const workspace = await db
    .selectFrom('workspaces')
    .select(['id', 'slug', 'organisation_id', 'usage_limits'])
    .where('id', '=', counter.entity_id)
    .where('status', '=', 'active')
    .executeTakeFirst();
  if (!workspace) return nothing;
  const stored = decode(workspace.usage_limits);
  const alerts: UsageAlert[] = [];
  const limits = stored.map((entry) => {
    const known = counted(entry, counter, now);
    if (!known) return entry;
    const { limit, due } = alerted(known);
    alerts.push(
      ...alertsOf(due, limit, {
        scope: 'workspace',
        entityId: workspace.id,
        organisationId: workspace.organisation_id,
        workspaceId: workspace.id,
        name: workspace.slug,
      }),
    );
    return limit;
  });
  if (limits.every((limit, index) => limit === stored[index])) return nothing;
  await db
    .updateTable('workspaces')
    .set({ usage_limits: encode(limits) })
    .where('id', '=', workspace.id)
    .execute();
  return { changes: [], alerts };
}

async function syncProvider(db: Db, counter: Counter, now: Date): Promise<Synced> {
  const provider = await db
    .selectFrom('providers')
    .select(['id', 'slug', 'organisation_id', 'workspace_id', 'status', 'usage_limits'])
    .where('id', '=', counter.entity_id)
    .where('status', 'in', ['active', 'exhausted'])
    .executeTakeFirst();
  const known = provider?.usage_limits ? counted(decode(provider.usage_limits), counter, now) : null;
  if (!provider || !known) return nothing;
  const { limit, due } = alerted(known);
  await db
    .updateTable('providers')
    .set({ ...usageLimitColumns(limit), status: limit.status })
    .where('id', '=', provider.id)
    .execute();
  return {
    changes: provider.status === limit.status ? [] : [{ topic: 'catalog', id: provider.workspace_id }],
    alerts: alertsOf(due, limit, {
      scope: 'provider',
      entityId: provider.id,
      organisationId: provider.organisation_id,
      workspaceId: provider.workspace_id,
      name: provider.slug,
    }),
  };
}

async function syncGrant(db: Db, counter: Counter, now: Date): Promise<Synced> {
  const [integrationId = '', workspaceId = ''] = counter.entity_id.split(':');
  const grant = await db
    .selectFrom('integration_workspaces as grant')
    .innerJoin('integrations as integration', 'integration.id', 'grant.integration_id')
    .select(['grant.usage_limits', 'grant.status', 'integration.slug', 'integration.organisation_id'])
    .where('grant.integration_id', '=', integrationId)
    .where('grant.workspace_id', '=', workspaceId)
    .executeTakeFirst();
  const known = grant?.usage_limits ? counted(decode(grant.usage_limits), counter, now) : null;
  if (!grant || !known) return nothing;
  const { limit, due } = alerted(known);
  await db
    .updateTable('integration_workspaces')
    .set({ ...usageLimitColumns(limit), status: limit.status })
    .where('integration_id', '=', integrationId)
    .where('workspace_id', '=', workspaceId)
    .execute();
  return {
    changes: grant.status === limit.status ? [] : [{ topic: 'catalog', id: workspaceId }],
    alerts: alertsOf(due, limit, {
      scope: 'integration',
      entityId: integrationId,
      organisationId: grant.organisation_id,
      workspaceId,
      name: grant.slug,
    }),
  };
}

async function syncPolicy(db: Db, counter: Counter, now: Date): Promise<Synced> {
  const policy = await db
    .selectFrom('policies')
    .selectAll()
    .where('id', '=', counter.entity_id)
    .where('status', '=', 'active')
    .executeTakeFirst();
  if (policy?.kind !== 'usage') return nothing;
  if (counter.epoch < spanAt(policySource(policy).window, now.getTime()).epoch) return nothing;
  const used = fromUnits(policy.type, counter.settled);
  const due: UsageAlert['level'][] = [];
  const isPast = policy.alert_threshold !== null && used >= policy.alert_threshold;
  if (isPast && counter.is_threshold_alerts_sent === 0) due.push('threshold');
  if (used >= policy.value && counter.is_exhausted_alerts_sent === 0) due.push('exhausted');
  if (due.length === 0) return nothing;
  await db
    .updateTable('limit_counters')
    .set({
      ...(due.includes('threshold') && { is_threshold_alerts_sent: 1 }),
      ...(due.includes('exhausted') && { is_exhausted_alerts_sent: 1 }),
    })
    .where('counter', '=', counter.counter)
    .execute();
  return {
    changes: [],
    alerts: due.map((level) => ({
      scope: 'policy',
      entityId: policy.id,
      organisationId: policy.organisation_id,
      workspaceId: policy.workspace_id,
      name: policy.name ?? policy.id,
      level,
      type: policy.type,
      used,
      limit: policy.value,
      threshold: policy.alert_threshold,
      valueKey: counter.value_key,
    })),
  };
}
