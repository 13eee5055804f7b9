/** How a person joins a workspace and leaves it. */
import type { WorkspaceRole } from '../../identity/roles.ts';
import type { Change } from '../../store/changes.ts';
import type { Db } from '../../store/database.ts';
import { archiveKeys } from '../api-keys/mint.ts';

/** Makes the person a member with this role, or an archived member active again. */
export async function joinWorkspace(
  db: Db,
  now: Date,
  member: { organisationId: string; workspaceId: string; userId: string; role: WorkspaceRole },
): Promise<Change> {
  const at = now.toISOString();
  await db
    .insertInto('workspace_members')
    .values({
      workspace_id: member.workspaceId,
      user_id: member.userId,
      organisation_id: member.organisationId,
      role: member.role,
      status: 'active',
      created_at: at,
      last_updated_at: at,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['workspace_id', 'user_id'])
        .doUpdateSet({ role: member.role, status: 'active', last_updated_at: at }),
    )
    .execute();
  return { topic: 'user', id: member.userId };
}

/** Takes the person out of the workspace, with the keys that they hold there. */
export async function leaveWorkspace(db: Db, now: Date, workspaceId: string, userId: string): Promise<Change[]> {
  await db
    .updateTable('workspace_members')
    .set({ status: 'archived', last_updated_at: now.toISOString() })
    .where('workspace_id', '=', workspaceId)
    .where('user_id', '=', userId)
    .execute();
  return [{ topic: 'user', id: userId }, ...(await archiveKeys(db, now, { userId, workspaceId }))];
}
