/** Archives a workspace for good, together with everything that belongs to it. */
import { ApiError, conflict, invalid } from '../../http/errors.ts';
import type { Change } from '../../store/changes.ts';
import type { Db } from '../../store/database.ts';
import type { WorkspaceTable } from '../../store/schema.ts';
import { archiveKeys } from '../api-keys/mint.ts';
import { archiveIntegrationsOf } from '../integrations/archive.ts';
import type { Services } from '../kernel/services.ts';
import { isNameOf } from './name.ts';

export function requireMayBeArchived(row: WorkspaceTable, confirmedName: string): void {
  if (row.is_default) throw new ApiError('AB01', 'The default workspace of the organisation cannot be deleted');
  if (!isNameOf(row, confirmedName))
    throw invalid('name', "must be the workspace's name, to confirm which one is meant");
}

interface Archived {
  changes: Change[];
  /** How many of each kind went with the workspace. */
  removed: Record<string, number>;
}

export async function archiveWorkspace(
  db: Db,
  services: Services,
  now: Date,
  row: WorkspaceTable,
  force: boolean,
): Promise<Archived> {
  const archived: Archived = { changes: [{ topic: 'workspace', id: row.id }], removed: {} };
  for (const dependant of services.dependants) {
    const count = await dependant.count?.(db, row.id);
    if (count === 0) continue;
    if (count !== undefined && !force) {
      throw conflict(
        `This workspace still has ${dependant.kind} (${count}); remove them first, or send force_delete: true`,
      );
    }
    archived.changes.push(...(await dependant.remove(db, row.id, now)));
    if (count !== undefined) archived.removed[dependant.kind] = count;
  }
  const at = now.toISOString();
  // No key outlives its workspace, not even one that stood in nobody's way.
  archived.changes.push(...(await archiveKeys(db, now, { workspaceId: row.id })));
  await archiveIntegrationsOf(db, now, row.id);
  await db
    .updateTable('workspace_members')
    .set({ status: 'archived', last_updated_at: at })
    .where('workspace_id', '=', row.id)
    .where('status', '=', 'active')
    .execute();
  await db
    .updateTable('workspaces')
    .set({ status: 'archived', last_updated_at: at })
    .where('id', '=', row.id)
    .execute();
  return archived;
}
