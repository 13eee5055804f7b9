/** What the endpoints of both kinds of policies do alike. */
import type { PolicyTable } from '../../store/tables/limits.ts';
import { catalogChange } from '../configs/store.ts';
import type { Call } from '../kernel/endpoint.ts';
import { asList } from '../kernel/lists/paging.ts';
import { reachPolicy } from './access.ts';
import { pageOfEntities, type WantedEntities } from './entities.ts';

type Kind = PolicyTable['kind'];

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
