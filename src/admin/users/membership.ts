/** How a person joins an organisation and leaves it. */

import { endMcpSignIns } from '../../identity/mcp-sign-ins.ts';
import type { OrganisationRole } from '../../identity/roles.ts';
import { endSessions } from '../../identity/sessions.ts';
import type { Change } from '../../store/changes.ts';
import type { Db } from '../../store/database.ts';
import type { ProvisionedBy } from '../../store/schema.ts';
import { archiveKeys } from '../api-keys/mint.ts';

interface NewUser {
  email: string;
  firstName: string;
  lastName: string;
}

export async function insertUser(db: Db, now: Date, user: NewUser): Promise<string> {
  const id = Bun.randomUUIDv7();
  const at = now.toISOString();
  await db
    .insertInto('users')
    .values({
      id,
      email: user.email,
      first_name: user.firstName,
      last_name: user.lastName,
      email_proven_at: null,
      last_organisation_id: null,
      created_at: at,
      last_updated_at: at,
    })
    .execute();
  return id;
}

/** Makes the person a member, or an archived member active again. */
export async function joinOrganisation(
  db: Db,
  now: Date,
  member: { organisationId: string; userId: string; role: OrganisationRole; provisionedBy: ProvisionedBy },
): Promise<Change> {
  const at = now.toISOString();
  await db
    .insertInto('organisation_members')
    .values({
      organisation_id: member.organisationId,
      user_id: member.userId,
      role: member.role,
      status: 'active',
      provisioned_by: member.provisionedBy,
      last_login_at: null,
      created_at: at,
      last_updated_at: at,
    })
    .onConflict((conflict) =>
      conflict.columns(['organisation_id', 'user_id']).doUpdateSet({
        role: member.role,
        status: 'active',
        provisioned_by: member.provisionedBy,
        last_updated_at: at,
      }),
    )
    .execute();
  return { topic: 'user', id: member.userId };
}

/** Takes the person out: memberships and keys archived, sessions and MCP sign-ins ended, open invites cancelled. The user row stays for other organisations and for audit. */
export async function leaveOrganisation(db: Db, now: Date, organisationId: string, userId: string): Promise<Change[]> {
  const at = now.toISOString();
  await db
    .updateTable('organisation_members')
    .set({ status: 'archived', last_updated_at: at })
    .where('organisation_id', '=', organisationId)
    .where('user_id', '=', userId)
    .execute();
  await db
    .updateTable('workspace_members')
    .set({ status: 'archived', last_updated_at: at })
    .where('organisation_id', '=', organisationId)
    .where('user_id', '=', userId)
    .execute();
  await db
    .updateTable('invites')
    .set({ status: 'cancelled' })
    .where('organisation_id', '=', organisationId)
    .where('status', '=', 'pending')
    .where('email', '=', (eb) => eb.selectFrom('users').select('email').where('id', '=', userId))
    .execute();
  await endSessions(db, userId, organisationId);
  return [
    { topic: 'user', id: userId },
    ...(await archiveKeys(db, now, { userId, organisationId })),
    ...(await endMcpSignIns(db, now, { userId, organisationId })),
  ];
}
