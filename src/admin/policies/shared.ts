/** What the endpoints of both kinds of policies do alike. */
import { actorId } from '../../identity/caller.ts';
import type { PolicyGroupKey } from '../../limits/policy.ts';
import type { Db } from '../../store/database.ts';
import { encode } from '../../store/json.ts';
import type { PolicyTable } from '../../store/tables/limits.ts';
import { catalogChange } from '../configs/store.ts';
import type { Call } from '../kernel/endpoint.ts';
import { asList } from '../kernel/lists/paging.ts';
import { requireActiveWorkspace } from '../providers/access.ts';
import { reachPolicy } from './access.ts';
import { pageOfEntities, type WantedEntities } from './entities.ts';
import { checkConditions, checkGroupBy } from './rules.ts';
import type { ConditionInput } from './schema.ts';

type Kind = PolicyTable['kind'];

/** The fields of a body that policies of both kinds take. */
interface SharedFields {
  name?: string | null | undefined;
  description?: string | null | undefined;
  conditions?: readonly ConditionInput[] | undefined;
  mode?: PolicyTable['mode'] | undefined;
  clamp_max_tokens?: boolean | undefined;
  status?: PolicyTable['status'] | undefined;
}

interface NewPolicy extends SharedFields {
  conditions: readonly ConditionInput[];
  group_by?: readonly PolicyGroupKey[] | undefined;
}

/** What each kind of policy says in its own way. */
type OwnColumns = Pick<
  PolicyTable,
  | 'target'
  | 'type'
  | 'unit'
  | 'value'
  | 'alert_threshold'
  | 'periodic_reset'
  | 'periodic_reset_days'
  | 'next_usage_reset_at'
>;

/** Stores a new policy of the call's workspace and answers its id. */
export async function insertPolicy(
  { caller, workspace, db, now, changed, note }: Call<unknown, unknown, unknown>,
  kind: Kind,
  body: NewPolicy,
  own: OwnColumns,
): Promise<string> {
  const { id: workspaceId } = requireActiveWorkspace(workspace);
  const { organisationId } = caller;
  const terms = { kind, target: own.target };
  const at = now.toISOString();
  const row: PolicyTable = {
    id: Bun.randomUUIDv7(),
    kind,
    organisation_id: organisationId,
    workspace_id: workspaceId,
    name: body.name || null,
    description: body.description || null,
    conditions: encode(await checkConditions(db, organisationId, body.conditions, terms)),
    group_by: encode(checkGroupBy(body.group_by ?? [], terms)),
    ...own,
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
  return row.id;
}

/** What an update sets of the columns that both kinds have; fields that are left out stay as they are. */
export async function sharedColumns(
  db: Db,
  row: PolicyTable,
  body: SharedFields,
  now: Date,
): Promise<Partial<PolicyTable>> {
  return {
    ...(body.name !== undefined && { name: body.name || null }),
    ...(body.description !== undefined && { description: body.description || null }),
    ...(body.conditions && {
      conditions: encode(await checkConditions(db, row.organisation_id, body.conditions, row)),
    }),
    ...(body.mode && { mode: body.mode }),
    ...(body.clamp_max_tokens !== undefined && { clamp_max_tokens: body.clamp_max_tokens ? 1 : 0 }),
    ...(body.status && { status: body.status }),
    last_updated_at: now.toISOString(),
  };
}

/** It stops to count; what was counted is kept. */
export async function archivePolicy(
  call: Call<unknown, unknown, unknown>,
  kind: Kind,
  id: string,
): Promise<Record<string, never>> {
  const row = await reachPolicy(call, kind, id, 'delete', 'active');
  const last_updated_at = call.now.toISOString();
  await call.db.updateTable('policies').set({ status: 'archived', last_updated_at }).where('id', '=', row.id).execute();
  call.changed(catalogChange(row.workspace_id));
  call.note({ resourceId: row.id, workspaceId: row.workspace_id });
  return {};
}

export async function entitiesOf(call: Call<unknown, WantedEntities, unknown>, kind: Kind, id: string) {
  const row = await reachPolicy(call, kind, id, 'read');
  const { entities, total } = await pageOfEntities(call, row, call.query, call.page);
  return asList(entities, total);
}
