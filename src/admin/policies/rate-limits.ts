/** Rate limits policies: calls or tokens in fixed windows, for the calls that conditions describe. */
import { decode } from '../../store/json.ts';
import type { PolicyTable } from '../../store/tables/limits.ts';
import { catalogChange } from '../configs/store.ts';
import { endpoint } from '../kernel/endpoint.ts';
import { empty } from '../kernel/fields.ts';
import { newestFirst } from '../kernel/lists/list-queries.ts';
import { asList, listOf } from '../kernel/lists/paging.ts';
import { sentFields } from '../kernel/validate.ts';
import { policyAccess, reachPolicy, usualPage, visiblePolicies } from './access.ts';
import { asRatePolicy } from './record.ts';
import { requireSame } from './rules.ts';
import {
  createdPolicy,
  entitiesQuery,
  entityRecord,
  newRatePolicy,
  rateListQuery,
  ratePolicyPath,
  ratePolicyRecord,
  ratePolicyUpdate,
  readQuery,
  workspaceQuery,
} from './schema.ts';
import { archivePolicy, entitiesOf, insertPolicy, sharedColumns } from './shared.ts';

const tag = 'Policies';
const path = '/policies/rate-limits/:rateLimitsPolicyId';
const paging = { size: 50, max: 1000, allowZero: true };

const createRatePolicy = endpoint({
  method: 'POST',
  path: '/policies/rate-limits',
  tag,
  summary: 'Make a rate limits policy',
  access: policyAccess('create'),
  audit: { resource: 'policy', action: 'create' },
  body: newRatePolicy,
  reply: () => createdPolicy('policy_rate_limits'),
  async handle(call) {
    const { target, type, unit, value } = call.body;
    const id = await insertPolicy(call, 'rate', call.body, {
      target,
      type,
      unit,
      value,
      alert_threshold: null,
      periodic_reset: null,
      periodic_reset_days: null,
      next_usage_reset_at: null,
    });
    return { id, object: 'policy_rate_limits' as const };
  },
});

const listRatePolicies = endpoint({
  method: 'GET',
  path: '/policies/rate-limits',
  tag,
  summary: 'List the rate limits policies of a workspace, newest first',
  access: policyAccess('list'),
  query: rateListQuery,
  paging,
  reply: () => listOf(ratePolicyRecord()),
  async handle(call) {
    const { query, page } = call;
    const { type, unit } = query;
    const matches = visiblePolicies(call, 'rate', query.search)
      .where('status', '=', query.status)
      .$if(type !== undefined, (found) => found.where('type', '=', type ?? 'requests'))
      .$if(unit !== undefined, (found) => found.where('unit', '=', unit ?? 'rpm'));
    const { rows, total } = await newestFirst(matches, usualPage(page, paging.size));
    return asList(rows.map(asRatePolicy), total);
  },
});

const readRatePolicy = endpoint({
  method: 'GET',
  path,
  tag,
  summary: 'Read a rate limits policy',
  access: policyAccess('read'),
  params: ratePolicyPath,
  query: readQuery,
  reply: ratePolicyRecord,
  async handle(call) {
    const { rateLimitsPolicyId } = call.params;
    return asRatePolicy(await reachPolicy(call, 'rate', rateLimitsPolicyId, 'read', call.query.status));
  },
});

const changeable = [
  'name',
  'description',
  'conditions',
  'unit',
  'value',
  'mode',
  'clamp_max_tokens',
  'status',
] as const;

const updateRatePolicy = endpoint({
  method: 'PUT',
  path,
  tag,
  summary: 'Change a rate limits policy; fields that are left out stay as they are',
  access: policyAccess('update'),
  audit: { resource: 'policy', action: 'update' },
  params: ratePolicyPath,
  body: ratePolicyUpdate,
  reply: ratePolicyRecord,
  async handle(call) {
    const { body, db, now } = call;
    const row = await reachPolicy(call, 'rate', call.params.rateLimitsPolicyId, 'update');
    requireSame('type', body.type, row.type);
    requireSame('target', body.target, row.target);
    requireSame('group_by', body.group_by, decode(row.group_by));
    const fields = sentFields(body, changeable);
    const columns: Partial<PolicyTable> = {
      ...(body.unit && { unit: body.unit }),
      ...(body.value !== undefined && { value: body.value }),
      ...(await sharedColumns(db, row, body, now)),
    };
    await db.updateTable('policies').set(columns).where('id', '=', row.id).execute();
    call.changed(catalogChange(row.workspace_id));
    call.note({ resourceId: row.id, workspaceId: row.workspace_id, details: { changed: fields } });
    return asRatePolicy({ ...row, ...columns });
  },
});

const deleteRatePolicy = endpoint({
  method: 'DELETE',
  path,
  tag,
  summary: 'Archive a rate limits policy',
  access: policyAccess('delete'),
  audit: { resource: 'policy', action: 'delete' },
  params: ratePolicyPath,
  query: workspaceQuery,
  reply: empty,
  handle: (call) => archivePolicy(call, 'rate', call.params.rateLimitsPolicyId),
});

const listRateEntities = endpoint({
  method: 'GET',
  path: `${path}/entities`,
  tag,
  summary: 'List what a rate limits policy counts apart, with the count of the running window',
  access: policyAccess('read'),
  params: ratePolicyPath,
  query: entitiesQuery,
  paging: { size: 50, max: 100 },
  reply: () => listOf(entityRecord()),
  handle: (call) => entitiesOf(call, 'rate', call.params.rateLimitsPolicyId),
});

export const ratePolicyEndpoints = [
  createRatePolicy,
  listRatePolicies,
  readRatePolicy,
  updateRatePolicy,
  deleteRatePolicy,
  listRateEntities,
];
