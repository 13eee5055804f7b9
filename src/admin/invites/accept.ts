/** What accepting an invite does: the person joins the organisation and the invited workspaces, and gets the keys that are due. */
import type { Change } from '../../store/changes.ts';
import type { Db } from '../../store/database.ts';
import { decode } from '../../store/json.ts';
import type { InviteTable } from '../../store/schema.ts';
import { autoCreateUserKey } from '../api-keys/auto-create.ts';
import { recordSystemEvent } from '../kernel/audit/audit.ts';
import type { Services } from '../kernel/services.ts';
import { joinWorkspace } from '../members/membership.ts';
import { requireOpenUserManagement } from '../scim/settings.ts';
import { joinOrganisation } from '../users/membership.ts';

export async function joinByInvite(
  db: Db,
  services: Services,
  now: Date,
  invite: InviteTable,
  userId: string,
): Promise<Change[]> {
  const organisationId = invite.organisation_id;
  await requireOpenUserManagement(db, organisationId);
  const changes = [
    await joinOrganisation(db, now, { organisationId, userId, role: invite.role, provisionedBy: 'invite' }),
  ];
  const scopes = invite.api_key_scopes === null ? {} : { scopes: decode(invite.api_key_scopes) };
  for (const { id: workspaceId, role } of await openWorkspaces(db, invite)) {
    changes.push(await joinWorkspace(db, now, { organisationId, workspaceId, userId, role }));
    if (services.settings.auditLogs) {
      await recordSystemEvent(db, now, {
        organisationId,
        workspaceId,
        resource: 'workspace_user',
        action: 'create',
        resourceId: userId,
        details: { user_id: userId, role, source: 'invite' },
      });
    }
    changes.push(...(await autoCreateUserKey(db, services, now, { organisationId, workspaceId, userId, ...scopes })));
  }
  await db
    .updateTable('invites')
    .set({ status: 'accepted', accepted_at: now.toISOString() })
    .where('id', '=', invite.id)
    .execute();
  return changes;
}

/** Workspaces that were archived since the invite was sent are left out. */
async function openWorkspaces(db: Db, invite: InviteTable) {
  const invited = decode(invite.workspaces);
  if (invited.length === 0) return [];
  const rows = await db
    .selectFrom('workspaces')
    .select('id')
    .where('organisation_id', '=', invite.organisation_id)
    .where('status', '=', 'active')
    .where(
      'id',
      'in',
      invited.map((workspace) => workspace.id),
    )
    .execute();
  const open = new Set(rows.map((row) => row.id));
  return invited.filter((workspace) => open.has(workspace.id));
}
