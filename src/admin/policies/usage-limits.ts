/** Usage limits policies: money, tokens or calls in each period, for the calls that conditions describe. */
import { invalid, notFound } from '../../http/errors.ts';
import { toUnits } from '../../limits/limit.ts';
import type { Db } from '../../store/database.ts';
import { decode } from '../../store/json.ts';
import type { LimitCounterTable, PolicyTable } from '../../store/tables/limits.ts';
import { catalogChange } from '../configs/store.ts';
import { endpoint } from '../kernel/endpoint.ts';
import { empty } from '../kernel/fields.ts';
import { newestFirst } from '../kernel/lists/list-queries.ts';
import { asList, listOf } from '../kernel/lists/paging.ts';
import { sentFields } from '../kernel/validate.ts';
import { policyAccess, reachPolicy, usualPage, visiblePolicies } from './access.ts';
import { restartCounter, usageMap } from './entities.ts';
import { asUsagePolicy } from './record.ts';
import { checkAmounts, checkSchedule, requireSame } from './rules.ts';
import {
  createdPolicy,
  entitiesQuery,
  entityPath,
  entityRecord,
  newUsagePolicy,
  readUsageQuery,
  type UsagePolicyUpdate,
  usageListQuery,
  usagePolicyPath,
  usagePolicyRecord,
  usagePolicyUpdate,
  workspaceQuery,
} from './schema.ts';
import { archivePolicy, entitiesOf, insertPolicy, sharedColumns } from './shared.ts';

const tag = 'Policies';
const path = '/policies/usage-limits/:usageLimitsPolicyId';
const paging = { size: 50, max: 1000, allowZero: true };

const createUsagePolicy = endpoint({
  method: 'POST',
  path: '/policies/usage-limits',
  tag,
  summary: 'Make a usage limits policy',
  access: policyAccess('create'),
  audit: { resource: 'policy', action: 'create' },
  body: newUsagePolicy,
  reply: () => createdPolicy('policy_usage_limits'),
  async handle(call) {
    const { body, now } = call;
    checkAmounts(body.type, body.credit_limit, body.alert_threshold ?? null);
    const id = await insertPolicy(call, 'usage', body, {
      target: 'llm',
      type: body.type,
      unit: null,
      value: body.credit_limit,
      alert_threshold: body.alert_threshold ?? null,
      ...checkSchedule(body, null, now),
    });
    return { id, object: 'policy_usage_limits' as const };
  },
});

const listUsagePolicies = endpoint({
  method: 'GET',
  path: '/policies/usage-limits',
  tag,
  summary: 'List the usage limits policies of a workspace, newest first',
  access: policyAccess('list'),
  query: usageListQuery,
  paging,
  reply: () => listOf(usagePolicyRecord()),
  async handle(call) {
    const { query, page } = call;
    const { type } = query;
    const matches = visiblePolicies(call, 'usage', query.search)
      .where('status', '=', query.status)
      .$if(type !== undefined, (found) => found.where('type', '=', type ?? 'cost'));
    const { rows, total } = await newestFirst(matches, usualPage(page, paging.size));
    return asList(rows.map(asUsagePolicy), total);
  },
});

const readUsagePolicy = endpoint({
  method: 'GET',
  path,
  tag,
  summary: 'Read a usage limits policy',
  access: policyAccess('read'),
  params: usagePolicyPath,
  query: readUsageQuery,
  reply: usagePolicyRecord,
  async handle(call) {
    const { params, query, db, services, now } = call;
    const row = await reachPolicy(call, 'usage', params.usageLimitsPolicyId, 'read', query.status);
    return {
      ...asUsagePolicy(row),
      ...(query.include_usage && { value_key_usage_map: await usageMap(db, services, row, now) }),
    };
  },
});

const changeable = [
  'name',
  'description',
  'conditions',
  'credit_limit',
  'alert_threshold',
  'periodic_reset',
  'periodic_reset_days',
  'next_usage_reset_at',
  'reset_usage_for_value',
  'mode',
  'clamp_max_tokens',
  'status',
] as const;

const updateUsagePolicy = endpoint({
  method: 'PUT',
  path,
  tag,
  summary: 'Change a usage limits policy; fields that are left out stay as they are',
  access: policyAccess('update'),
  audit: { resource: 'policy', action: 'update' },
  atomic: false,
  params: usagePolicyPath,
  body: usagePolicyUpdate,
  reply: usagePolicyRecord,
  async handle(call) {
    const { body, now, services } = call;
    const fields = sentFields(body, changeable);
    // A group that was counted a moment ago must be found.
    if (body.reset_usage_for_value !== undefined) await services.limits.flush();
    return call.commit(async (tx) => {
      const row = await reachPolicy({ ...call, db: tx }, 'usage', call.params.usageLimitsPolicyId, 'update');
      const columns = await updatedColumns(tx, row, body, now);
      await tx.updateTable('policies').set(columns).where('id', '=', row.id).execute();
      await clearAlerts(tx, row, { ...row, ...columns });
      if (body.reset_usage_for_value !== undefined) {
        const counter = await groupNamed(tx, row, body.reset_usage_for_value);
        call.changed(await restartCounter(tx, counter, now));
      }
      call.changed(catalogChange(row.workspace_id));
      call.note({ resourceId: row.id, workspaceId: row.workspace_id, details: { changed: fields } });
      return asUsagePolicy({ ...row, ...columns });
    });
  },
});

async function updatedColumns(
  db: Db,
  row: PolicyTable,
  body: UsagePolicyUpdate,
  now: Date,
): Promise<Partial<PolicyTable>> {
  requireSame('type', body.type, row.type);
  requireSame('group_by', body.group_by, decode(row.group_by));
  const value = body.credit_limit ?? row.value;
  const threshold = body.alert_threshold === undefined ? row.alert_threshold : body.alert_threshold;
  checkAmounts(row.type, value, threshold);
  return {
    value,
    alert_threshold: threshold,
    ...checkSchedule(body, row, now),
    ...(await sharedColumns(db, row, body, now)),
  };
}

/** A raised limit makes groups below it active again, and what is reached anew is told anew. */
async function clearAlerts(db: Db, before: PolicyTable, after: PolicyTable): Promise<void> {
  const counters = db.updateTable('limit_counters').where('entity_id', '=', after.id).where('kind', '=', 'usage');
  if (after.value > before.value) {
    await counters
      .set({ is_threshold_alerts_sent: 0, is_exhausted_alerts_sent: 0 })
      .where('settled', '<', toUnits(after.type, after.value))
      .execute();
  }
  const raised = after.alert_threshold === null || after.alert_threshold > (before.alert_threshold ?? Infinity);
  if (raised) await counters.set({ is_threshold_alerts_sent: 0 }).execute();
  // What the change itself has reached is noticed at once.
  await counters.set({ dirty: 1 }).execute();
}

/** The group of this value key; the bare value will do where there is one key to group by. */
async function groupNamed(
  db: Db,
  policy: PolicyTable,
  named: string,
): Promise<Pick<LimitCounterTable, 'counter' | 'organisation_id' | 'epoch'>> {
  const keys = decode(policy.group_by);
  const candidates = [named, ...(keys.length === 1 ? [`${keys[0]?.key}:${named}`] : [])];
  const found = await db
    .selectFrom('limit_counters')
    .selectAll()
    .where('entity_id', '=', policy.id)
    .where('kind', '=', 'usage')
    .where('value_key', 'in', candidates)
    .executeTakeFirst();
  if (!found) throw invalid('reset_usage_for_value', 'names no group that this policy has counted');
  return found;
}

const deleteUsagePolicy = endpoint({
  method: 'DELETE',
  path,
  tag,
  summary: 'Archive a usage limits policy; what was counted is kept',
  access: policyAccess('delete'),
  audit: { resource: 'policy', action: 'delete' },
  params: usagePolicyPath,
  query: workspaceQuery,
  reply: empty,
  handle: (call) => archivePolicy(call, 'usage', call.params.usageLimitsPolicyId),
});

const listUsageEntities = endpoint({
  method: 'GET',
  path: `${path}/entities`,
  tag,
  summary: 'List what a usage limits policy counts apart: keys, workspaces, users or other groups',
  access: policyAccess('read'),
  params: usagePolicyPath,
  query: entitiesQuery,
  paging: { size: 50, max: 100 },
  reply: () => listOf(entityRecord()),
  handle: (call) => entitiesOf(call, 'usage', call.params.usageLimitsPolicyId),
});

const resetEntity = endpoint({
  method: 'PUT',
  path: `${path}/entities/:entityId/reset`,
  tag,
  summary: 'Start the count of one group anew',
  access: policyAccess('update'),
  audit: { resource: 'policy', action: 'update' },
  params: entityPath,
  bodyRequired: false,
  query: workspaceQuery,
  reply: empty,
  async handle(call) {
    const { params, db, now } = call;
    const row = await reachPolicy(call, 'usage', params.usageLimitsPolicyId, 'update');
    const counter = await db
      .selectFrom('limit_counters')
      .selectAll()
      .where('id', '=', params.entityId)
      .where('entity_id', '=', row.id)
      .where('kind', '=', 'usage')
      .executeTakeFirst();
    if (!counter) throw notFound('entity');
    call.changed(await restartCounter(db, counter, now));
    call.note({ resourceId: row.id, workspaceId: row.workspace_id, details: { reset: counter.value_key } });
    return {};
  },
});

export const usagePolicyEndpoints = [
  createUsagePolicy,
  listUsagePolicies,
  readUsagePolicy,
  updateUsagePolicy,
  deleteUsagePolicy,
  listUsageEntities,
  resetEntity,
];
