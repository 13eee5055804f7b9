/** Who may change or remove whom: admins leave owners alone, nobody removes themselves, and an organisation keeps an owner. */
import { ApiError, forbidden, notFound } from '../../http/errors.ts';
import type { Caller } from '../../identity/caller.ts';
import type { OrganisationRole } from '../../identity/roles.ts';
import type { Db } from '../../store/database.ts';
import { keepAnOwnerWhoComesIn } from '../auth/last-way-in.ts';

interface ActiveMember {
  userId: string;
  role: OrganisationRole;
  email: string;
}

export async function activeMember(db: Db, organisationId: string, userId: string): Promise<ActiveMember> {
  const row = await db
    .selectFrom('organisation_members as member')
    .innerJoin('users as user', 'user.id', 'member.user_id')
    .select(['member.role', 'user.email'])
    .where('member.organisation_id', '=', organisationId)
    .where('member.user_id', '=', userId)
    .where('member.status', '=', 'active')
    .executeTakeFirst();
  if (!row) throw notFound('user');
  return { userId, ...row };
}

/** An admin key acts for the organisation itself, so only people with the role of admin are held back. */
export function leaveOwnersAlone(caller: Caller, member: ActiveMember): void {
  if (member.role === 'owner' && caller.kind === 'session' && caller.role !== 'owner') {
    throw forbidden('An admin may not change or remove an owner; ask an owner to do it');
  }
}

export function refuseSelf(caller: Caller, member: ActiveMember): void {
  if (caller.kind === 'session' && caller.userId === member.userId) {
    throw new ApiError('AB01', 'You may not remove yourself; ask another owner or admin to do it');
  }
}

/** Called before an owner stops being one. */
export async function keepAnOwner(db: Db, organisationId: string, member: ActiveMember): Promise<void> {
  if (member.role !== 'owner') return;
  const another = await db
    .selectFrom('organisation_members')
    .select('user_id')
    .where('organisation_id', '=', organisationId)
    .where('status', '=', 'active')
    .where('role', '=', 'owner')
    .where('user_id', '!=', member.userId)
    .limit(1)
    .executeTakeFirst();
  if (!another) {
    throw new ApiError('AB01', 'This is the last owner of the organisation; transfer the ownership to someone first');
  }
  await keepAnOwnerWhoComesIn(db, organisationId, member.userId);
}
