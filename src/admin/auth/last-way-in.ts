/** Nobody is locked out: a change is refused where after it no owner of the organisation could sign in. */
import { ApiError, invalid } from '../../http/errors.ts';
import { findAuthSettings } from '../../identity/auth-settings.ts';
import type { Db } from '../../store/database.ts';
import { organisationOfAddress } from '../email-domains/match.ts';

/** Throws for `field` where no owner of the organisation has a password. */
export async function keepAWayIn(db: Db, organisationId: string, field: string, what: string): Promise<void> {
  const owners = await ownersOf(db, organisationId);
  if (!owners.some(({ hasPassword }) => hasPassword)) {
    throw invalid(field, `${what}: no owner of the organisation has a password`);
  }
}

/** Throws where this owner can sign in and none of the others can, so that nobody could once they are gone. */
export async function keepAnOwnerWhoComesIn(db: Db, organisationId: string, leavingId: string): Promise<void> {
  if (await anOwnerComesIn(db, organisationId, leavingId)) return;
  if (!(await anOwnerComesIn(db, organisationId))) return;
  throw new ApiError(
    'AB01',
    'This is the last owner who can sign in: no other owner has a password, or comes in by single sign-on',
  );
}

/** True where an owner has a password, or an address that the organisation's single sign-on lets in and somebody has come in by it. */
export async function anOwnerComesIn(db: Db, organisationId: string, exceptId = ''): Promise<boolean> {
  const owners = (await ownersOf(db, organisationId)).filter(({ userId }) => userId !== exceptId);
  if (owners.some(({ hasPassword }) => hasPassword)) return true;
  const { sso, sso_proven_at } = await findAuthSettings(db, organisationId);
  if (sso === null || sso_proven_at === null) return false;
  for (const { email } of owners) {
    if ((await organisationOfAddress(db, email)) === organisationId) return true;
  }
  return false;
}

interface Owner {
  userId: string;
  email: string;
  hasPassword: boolean;
}

async function ownersOf(db: Db, organisationId: string): Promise<Owner[]> {
  const rows = await db
    .selectFrom('organisation_members as member')
    .innerJoin('users as user', 'user.id', 'member.user_id')
    .leftJoin('user_passwords as password', (join) =>
      join
        .onRef('password.user_id', '=', 'member.user_id')
        .onRef('password.organisation_id', '=', 'member.organisation_id'),
    )
    .select(['member.user_id', 'user.email', 'password.user_id as password_of'])
    .where('member.organisation_id', '=', organisationId)
    .where('member.role', '=', 'owner')
    .where('member.status', '=', 'active')
    .execute();
  return rows.map(({ user_id, email, password_of }) => ({ userId: user_id, email, hasPassword: password_of !== null }));
}
