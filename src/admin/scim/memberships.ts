/** Keeps members of workspaces in step with the groups that lead there. */
import { outranks, type WorkspaceRole } from '../../identity/roles.ts';
import { autoCreateUserKey, createsUserKeys } from '../api-keys/auto-create.ts';
import { recordKeysGone } from '../api-keys/events.ts';
import { joinWorkspaces, leaveWorkspace } from '../members/membership.ts';
import { type Effect, recordEffect, type ScimContext } from './context.ts';

interface Due {
  role: WorkspaceRole;
  mappingId: string;
}

/** Parameters of one statement are limited, so many people go in slices. */
const atOnce = 500;

/** Gives these people the workspaces that their groups lead to, and takes away what only groups gave and no group gives any more. */
export async function syncMemberships(context: ScimContext, userIds: readonly string[]): Promise<void> {
  for (let start = 0; start < userIds.length; start += atOnce) {
    await syncSlice(context, userIds.slice(start, start + atOnce));
  }
}

async function syncSlice(context: ScimContext, userIds: readonly string[]): Promise<void> {
  const due = await dueMemberships(context, userIds);
  const standing = await standings(context, userIds);
  const granted: Grant[] = [];
  for (const [key, { role, mappingId }] of due) {
    const [userId, workspaceId] = parts(key);
    const present = standing.get(key) ?? null;
    if (present?.granted === mappingId && present.active && present.role === role) continue;
    granted.push({ userId, workspaceId, role, mappingId, present });
  }
  const revoked: Revocation[] = [];
  for (const [key, { role, active, granted: mapping }] of standing) {
    if (mapping === null || due.has(key)) continue;
    const [userId, workspaceId] = parts(key);
    revoked.push({ userId, workspaceId, role, active });
  }
  await grantAll(context, granted);
  await revokeAll(context, revoked);
}

const keyOf = (userId: string, workspaceId: string): string => `${userId} ${workspaceId}`;

function parts(key: string): [string, string] {
  const [userId = '', workspaceId = ''] = key.split(' ');
  return [userId, workspaceId];
}

/** What the groups of active people lead to; of several roles in one workspace the highest. */
async function dueMemberships({ db, organisationId }: ScimContext, userIds: readonly string[]) {
  const rows = await db
    .selectFrom('scim_workspaces as mapping')
    .innerJoin('scim_group_members as belonging', 'belonging.group_id', 'mapping.group_id')
    .innerJoin('workspaces as workspace', 'workspace.id', 'mapping.workspace_id')
    .innerJoin('organisation_members as member', (join) =>
      join
        .onRef('member.user_id', '=', 'belonging.user_id')
        .onRef('member.organisation_id', '=', 'mapping.organisation_id'),
    )
    .select(['mapping.id', 'mapping.workspace_id', 'mapping.role', 'belonging.user_id'])
    .where('mapping.organisation_id', '=', organisationId)
    .where('mapping.status', '=', 'active')
    .where('workspace.status', '=', 'active')
    .where('member.status', '=', 'active')
    .where('belonging.user_id', 'in', userIds)
    .orderBy('mapping.created_at')
    .orderBy('mapping.id')
    .execute();
  const due = new Map<string, Due>();
  for (const { id, workspace_id, role, user_id } of rows) {
    const key = keyOf(user_id, workspace_id);
    const other = due.get(key);
    if (!other || outranks(role, other.role)) due.set(key, { role, mappingId: id });
  }
  return due;
}

interface Standing {
  role: WorkspaceRole | null;
  active: boolean;
  /** The mapping that gave it; null where somebody added the person by hand. */
  granted: string | null;
}

async function standings({ db, organisationId }: ScimContext, userIds: readonly string[]) {
  const members = await db
    .selectFrom('workspace_members')
    .select(['workspace_id', 'user_id', 'role', 'status'])
    .where('organisation_id', '=', organisationId)
    .where('user_id', 'in', userIds)
    .execute();
  const grants = await db
    .selectFrom('scim_grants')
    .select(['workspace_id', 'user_id', 'mapping_id'])
    .where('organisation_id', '=', organisationId)
    .where('user_id', 'in', userIds)
    .execute();
  const found = new Map<string, Standing>(
    members.map((row) => [
      keyOf(row.user_id, row.workspace_id),
      { role: row.role, active: row.status === 'active', granted: null },
    ]),
  );
  for (const { user_id, workspace_id, mapping_id } of grants) {
    const key = keyOf(user_id, workspace_id);
    found.set(key, { ...(found.get(key) ?? { role: null, active: false }), granted: mapping_id });
  }
  return found;
}

interface Grant {
  userId: string;
  workspaceId: string;
  role: WorkspaceRole;
  mappingId: string;
  present: Standing | null;
}

async function grantAll(context: ScimContext, grants: readonly Grant[]): Promise<void> {
  if (grants.length === 0) return;
  const { db, now, organisationId } = context;
  const moved = grants.filter(({ role, present }) => !present?.active || present.role !== role);
  context.changed(
    ...(await joinWorkspaces(
      db,
      now,
      moved.map(({ userId, workspaceId, role }) => ({ organisationId, workspaceId, userId, role })),
    )),
  );
  await giveKeys(
    context,
    moved.filter(({ present }) => !present?.active),
  );
  await recordEffect(
    context,
    ...moved.map(({ userId, workspaceId, role, mappingId, present }): Effect => {
      const isNew = !present?.active;
      const details = { user_id: userId, role, ...(!isNew && { old_role: present.role }), mapping_id: mappingId };
      return {
        resource: 'workspace_user',
        action: isNew ? 'create' : 'update',
        resourceId: userId,
        workspaceId,
        details,
      };
    }),
  );
  const created_at = now.toISOString();
  await db
    .insertInto('scim_grants')
    .values(
      grants.map(({ userId, workspaceId, mappingId }) => ({
        workspace_id: workspaceId,
        user_id: userId,
        organisation_id: organisationId,
        mapping_id: mappingId,
        created_at,
      })),
    )
    .onConflict((conflict) =>
      conflict
        .columns(['workspace_id', 'user_id'])
        .doUpdateSet((eb) => ({ mapping_id: eb.ref('excluded.mapping_id'), created_at })),
    )
    .execute();
}

/** Where a workspace gives new members keys, each is made by itself: it has a secret of its own. */
async function giveKeys(context: ScimContext, joined: readonly Grant[]): Promise<void> {
  const { db, services, now, organisationId } = context;
  for (const workspaceId of new Set(joined.map((grant) => grant.workspaceId))) {
    if (!(await createsUserKeys(db, organisationId, workspaceId))) continue;
    for (const grant of joined) {
      if (grant.workspaceId !== workspaceId) continue;
      const place = { organisationId, workspaceId, userId: grant.userId };
      context.changed(...(await autoCreateUserKey(db, services, now, place)));
    }
  }
}

interface Revocation {
  userId: string;
  workspaceId: string;
  role: WorkspaceRole | null;
  active: boolean;
}

async function revokeAll(context: ScimContext, revoked: readonly Revocation[]): Promise<void> {
  const { db, services, now } = context;
  for (const workspaceId of new Set(revoked.map((gone) => gone.workspaceId))) {
    const here = revoked.filter((gone) => gone.workspaceId === workspaceId);
    await db
      .deleteFrom('scim_grants')
      .where('workspace_id', '=', workspaceId)
      .where(
        'user_id',
        'in',
        here.map(({ userId }) => userId),
      )
      .execute();
    const leaving = here.filter(({ active }) => active);
    const changes = await leaveWorkspace(db, now, workspaceId, ...leaving.map(({ userId }) => userId));
    await recordKeysGone(db, services, now, changes);
    context.changed(...changes);
    await recordEffect(
      context,
      ...leaving.map(
        ({ userId, role }): Effect => ({
          resource: 'workspace_user',
          action: 'delete',
          resourceId: userId,
          workspaceId,
          details: { user_id: userId, role },
        }),
      ),
    );
  }
}

/** The people in a group. */
export async function membersOfGroup({ db }: Pick<ScimContext, 'db'>, groupId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('scim_group_members')
    .select('user_id')
    .where('group_id', '=', groupId)
    .orderBy('created_at')
    .orderBy('user_id')
    .execute();
  return rows.map((row) => row.user_id);
}
