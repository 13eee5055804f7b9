/** Who may do what to whom among the members of a workspace. */
import { z } from 'zod';
import { forbidden, invalidFields, notFound } from '../../http/errors.ts';
import { type Caller, mayInWorkspace } from '../../identity/caller.ts';
import { type Grantor, standingOf, workspaceRoleBeyond } from '../../identity/grants.ts';
import { outranks, type WorkspaceRole, workspaceRoleSchema } from '../../identity/roles.ts';
import type { OrganisationSettings } from '../../identity/settings.ts';
import { lazy } from '../../lazy.ts';
import type { Change } from '../../store/changes.ts';
import type { Db } from '../../store/database.ts';
import { autoCreateUserKey } from '../api-keys/auto-create.ts';
import { id } from '../kernel/fields.ts';
import type { Services } from '../kernel/services.ts';
import { joinWorkspace } from './membership.ts';

/** A person and the role that they are to have in a workspace. */
export const appointment = lazy(() => z.object({ id, role: workspaceRoleSchema().default('member') }));
type Appointment = z.output<ReturnType<typeof appointment>>;

/** Nobody hands out a role above their own. */
export function requireMayGrant(
  caller: Grantor,
  workspaceId: string,
  roles: Iterable<WorkspaceRole>,
  inForce: OrganisationSettings,
): void {
  for (const role of new Set(roles)) {
    const reason = workspaceRoleBeyond(caller, workspaceId, role, inForce);
    if (reason) throw forbidden(reason);
  }
}

/** Nobody changes or removes a member who stands above them. */
export function requireMayTouch(caller: Caller, workspaceId: string, member: { role: WorkspaceRole }): void {
  if (caller.kind === 'session' && outranks(member.role, standingOf(caller, workspaceId))) {
    throw forbidden(`This member is ${member.role} of the workspace and stands above you; ask one of its admins`);
  }
}

/** Everyone may leave without a right to do so. */
export const isLeaving = (caller: Caller, userId: string): boolean =>
  caller.kind === 'session' && caller.userId === userId;

export function requireMayRemove(caller: Caller, workspaceId: string): void {
  if (mayInWorkspace(caller, 'workspace_users.delete', workspaceId)) return;
  throw forbidden('Removing other members needs the scope workspace_users.delete in this workspace');
}

export async function requireMember(db: Db, workspaceId: string, userId: string): Promise<Appointment> {
  const row = await db
    .selectFrom('workspace_members')
    .select(['user_id as id', 'role'])
    .where('workspace_id', '=', workspaceId)
    .where('user_id', '=', userId)
    .where('status', '=', 'active')
    .executeTakeFirst();
  if (!row) throw notFound('member of this workspace');
  return row;
}

/** Refuses a list in which someone is unknown to the organisation or stands twice, and names each of them. */
export async function requireColleagues(
  db: Db,
  organisationId: string,
  appointments: readonly Appointment[],
): Promise<void> {
  if (appointments.length === 0) return;
  const ids = appointments.map((appointment) => appointment.id);
  const rows = await db
    .selectFrom('organisation_members')
    .select('user_id')
    .where('organisation_id', '=', organisationId)
    .where('status', '=', 'active')
    .where('user_id', 'in', ids)
    .execute();
  const colleagues = new Set(rows.map((row) => row.user_id));
  const faults = ids.flatMap((id, index) => {
    const path = `users.${index}`;
    if (!colleagues.has(id)) return [{ path, message: 'is nobody of this organisation; invite them first' }];
    return ids.indexOf(id) < index ? [{ path, message: 'stands in the list twice' }] : [];
  });
  if (faults.length > 0) throw invalidFields(faults.map((fault) => ({ location: 'body', ...fault })));
}

export async function memberIds(db: Db, workspaceId: string, among: readonly string[]): Promise<Set<string>> {
  const rows = await db
    .selectFrom('workspace_members')
    .select('user_id')
    .where('workspace_id', '=', workspaceId)
    .where('status', '=', 'active')
    .where('user_id', 'in', [...among])
    .execute();
  return new Set(rows.map((row) => row.user_id));
}

/** Puts people into a workspace, each with the key that the settings give a newcomer. */
export async function appoint(
  db: Db,
  services: Services,
  now: Date,
  workspace: { organisationId: string; workspaceId: string },
  appointments: readonly Appointment[],
): Promise<Change[]> {
  const changes: Change[] = [];
  for (const { id: userId, role } of appointments) {
    changes.push(await joinWorkspace(db, now, { ...workspace, userId, role }));
    changes.push(...(await autoCreateUserKey(db, services, now, { ...workspace, userId })));
  }
  return changes;
}
