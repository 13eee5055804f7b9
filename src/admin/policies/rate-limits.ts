/** Rate limits policies: calls or tokens in fixed windows, for the calls that conditions describe. */
import { actorId } from '../../identity/caller.ts';
import { decode, encode } from '../../store/json.ts';
import type { PolicyTable } from '../../store/tables/limits.ts';
import { catalogChange } from '../configs/store.ts';
import { endpoint } from '../kernel/endpoint.ts';
import { empty } from '../kernel/fields.ts';
import { newestFirst } from '../kernel/lists/list-queries.ts';
import { asList, listOf } from '../kernel/lists/paging.ts';
import { sentFields } from '../kernel/validate.ts';
import { requireActiveWorkspace } from '../providers/access.ts';
import { policyAccess, reachPolicy, usualPage, visiblePolicies } from './access.ts';
import { asRatePolicy } from './record.ts';
import { checkConditions, checkGroupBy, requireSame } from './rules.ts';
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
import { archivePolicy, entitiesOf } from './shared.ts';

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
  async handle({ caller, workspace, body, db, now, changed, note }) {
    const { id: workspaceId } = requireActiveWorkspace(workspace);
    const { organisationId } = caller;
    const terms = { kind: 'rate', target: body.target } as const;
    const at = now.toISOString();
    const row: PolicyTable = {
      id: Bun.randomUUIDv7(),
      kind: 'rate',
      organisation_id: organisationId,
      workspace_id: workspaceId,
      name: body.name || null,
      description: body.description || null,
      conditions: encode(await checkConditions(db, organisationId, body.conditions, terms)),
      group_by: encode(checkGroupBy(body.group_by ?? [], terms)),
      target: body.target,
      type: body.type,
      unit: body.unit,
      value: body.value,
      alert_threshold: null,
      periodic_reset: null,
      periodic_reset_days: null,
      next_usage_reset_at: null,
      last_reset_at: null,
      epoch: now.getTime(),
      mode: body.mode ?? 'enforce',
      clamp_max_tokens: body.clamp_max_tokens ? 1 : 0,
      status: 'active',
      created_by: actorId(caller),
      created_at: at,
      last_updated_at: at,
    };
    await db.insertInto('policies').values(row).execute();
    changed(catalogChange(workspaceId));
    note({ resourceId: row.id, workspaceId });
    return { id: row.id, object: 'policy_rate_limits' as const };
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
      ...(body.name !== undefined && { name: body.name || null }),
      ...(body.description !== undefined && { description: body.description || null }),
      ...(body.conditions && {
        conditions: encode(await checkConditions(db, row.organisation_id, body.conditions, row)),
      }),
      ...(body.unit && { unit: body.unit }),
      ...(body.value !== undefined && { value: body.value }),
      ...(body.mode && { mode: body.mode }),
      ...(body.clamp_max_tokens !== undefined && { clamp_max_tokens: body.clamp_max_tokens ? 1 : 0 }),
      ...(body.status && { status: body.status }),
      last_updated_at: now.toISOString(),
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
