/** Who hears of what happens in a workspace by itself. */
import type { Db } from '../store/database.ts';

/** Owners and admins of the organisation, admins and managers of the workspace. */
export async function workspaceAudience(
  db: Db,
  organisationId: string,
  workspaceId: string | null,
): Promise<{ organisationName: string; recipients: string[] }> {
  const organisation = await db
    .selectFrom('organisations')
    .select('name')
    .where('id', '=', organisationId)
    .executeTakeFirst();
  const people = await db
    .selectFrom('organisation_members as member')
    .innerJoin('users as user', 'user.id', 'member.user_id')
    .leftJoin('workspace_members as standing', (join) =>
      join
        .onRef('standing.user_id', '=', 'member.user_id')
        .on('standing.workspace_id', '=', workspaceId ?? '')
        .on('standing.status', '=', 'active'),
    )
    .select('user.email')
    .where('member.organisation_id', '=', organisationId)
    .where('member.status', '=', 'active')
    .where((eb) => eb.or([eb('member.role', '!=', 'member'), eb('standing.role', 'in', ['admin', 'manager'])]))
    .execute();
  return { organisationName: organisation?.name ?? '', recipients: people.map(({ email }) => email) };
}
