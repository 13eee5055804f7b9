/** Nobody is locked out: the ways of single sign-on change only where an owner can still come in by password. */
import { invalid } from '../../http/errors.ts';
import type { Db } from '../../store/database.ts';

/** Throws for `field` where no owner of the organisation has a password. */
export async function keepAWayIn(db: Db, organisationId: string, field: string, what: string): Promise<void> {
  const owner = await db
    .selectFrom('organisation_members as member')
    .innerJoin('user_passwords as password', (join) =>
      join
        .onRef('password.user_id', '=', 'member.user_id')
        .onRef('password.organisation_id', '=', 'member.organisation_id'),
    )
    .select('member.user_id')
    .where('member.organisation_id', '=', organisationId)
    .where('member.role', '=', 'owner')
    .where('member.status', '=', 'active')
    .limit(1)
    .executeTakeFirst();
  if (!owner) throw invalid(field, `${what}: no owner of the organisation has a password`);
}
