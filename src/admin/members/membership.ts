/** How a person joins a workspace and leaves it. */
import type { WorkspaceRole } from '../../identity/roles.ts';
import type { Change } from '../../store/changes.ts';
import type { Db } from '../../store/database.ts';
import { archiveKeys } from '../api-keys/mint.ts';

export interface JoiningMember {
  organisationId: string;
  workspaceId: string;
  userId: string;
  role: WorkspaceRole;
}

/** Makes the person a member with this role, or an archived member active again. */
export async function joinWorkspace(db: Db, now: Date, member: JoiningMember): Promise<Change> {
  await joinWorkspaces(db, now, [member]);
  return { topic: 'user', id: member.userId };
}

/** The same for some hundred people at once; nobody twice in one workspace. */
export async function joinWorkspaces(db: Db, now: Date, members: readonly JoiningMember[]): Promise<Change[]> {
  if (members.length === 0) return [];
  const at = now.toISOString();
  await db
    .insertInto('workspace_members')
    .values(
      members.map((member) => ({
        workspace_id: member.workspaceId,
        user_id: member.userId,
        organisation_id: member.organisationId,
        role: member.role,
        status: 'active' as const,
        created_at: at,
        last_updated_at: at,
      })),
    )
    .onConflict((conflict) =>
      conflict
        .columns(['workspace_id', 'user_id'])
        .doUpdateSet((eb) => ({ role: eb.ref('excluded.role'), status: 'active', last_updated_at: at })),
    )
    .execute();
  return [...new Set(members.map(({ userId }) => userId))].map((id) => ({ topic: 'user', id }));
}

/** Takes people out of the workspace, with the keys that they hold there. */
export async function leaveWorkspace(
  db: Db,
  now: Date,
  workspaceId: string,
  ...userIds: readonly string[]
): Promise<Change[]> {
  if (userIds.length === 0) return [];
  await db
    .updateTable('workspace_members')
    .set({ status: 'archived', last_updated_at: now.toISOString() })
    .where('workspace_id', '=', workspaceId)
    .where('user_id', 'in', userIds)
    .execute();
  const left = userIds.map((id): Change => ({ topic: 'user', id }));
  return [...left, ...(await archiveKeys(db, now, { userIds, workspaceId }))];
}
