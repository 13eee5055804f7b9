/** Which configs a caller may touch: those of the workspaces in which they hold the scope. */
import { forbidden, notFound } from '../../http/errors.ts';
import { type Caller, mayInWorkspace } from '../../identity/caller.ts';
import type { Db } from '../../store/database.ts';
import type { ConfigTable } from '../../store/tables/catalog.ts';
import type { NamedWorkspace } from '../kernel/endpoint.ts';

type ConfigAction = 'create' | 'read' | 'update' | 'delete' | 'list';

export const configAccess = <A extends ConfigAction>(action: A) => ({
  callers: ['admin-key', 'workspace-key', 'user-key', 'session'] as const,
  scope: `configs.${action}` as const,
  level: 'workspace' as const,
});

interface Seeker {
  caller: Caller;
  /** The workspace that the call names, or the key's own. */
  workspace: NamedWorkspace | null;
  db: Db;
}

/** The config that `reference` (id or slug) names, if the caller may do this to it. Archived ones are found only by those who ask for them. */
export async function reachConfig(
  { caller, workspace, db }: Seeker,
  reference: string,
  action: ConfigAction,
  archivedToo = false,
): Promise<ConfigTable> {
  const found = await db
    .selectFrom('configs')
    .selectAll()
    .where('organisation_id', '=', caller.organisationId)
    // One or the other, so that the store needs to look at no more than the one that is named.
    .where(reference.startsWith('pc-') ? 'slug' : 'id', '=', reference)
    .executeTakeFirst();
  if (!found || (found.status === 'archived' && !archivedToo)) throw notFound('config');
  requireConfigScope(caller, found.workspace_id, action);
  if (workspace && workspace.id !== found.workspace_id) throw notFound('config');
  return found;
}

export function requireConfigScope(caller: Caller, workspaceId: string, action: ConfigAction): void {
  if (mayInWorkspace(caller, `configs.${action}`, workspaceId)) return;
  throw forbidden(`This call needs the scope configs.${action} in the workspace of the config`);
}
