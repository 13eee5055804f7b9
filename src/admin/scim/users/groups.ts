/** The groups of a user: read for every answer, written only where memberships are written through users. */
import type { Db } from '../../../store/database.ts';
import { folded } from '../../kernel/lists/list-queries.ts';
import type { ScimContext } from '../context.ts';
import { invalidValue } from '../protocol/errors.ts';
import type { GroupReference } from './resource.ts';

export async function groupsOfUsers(
  db: Db,
  organisationId: string,
  userIds: readonly string[],
): Promise<ReadonlyMap<string, GroupReference[]>> {
  const groups = new Map<string, GroupReference[]>();
  if (userIds.length === 0) return groups;
  const rows = await db
    .selectFrom('scim_group_members as belonging')
    .innerJoin('scim_groups as circle', 'circle.id', 'belonging.group_id')
    .select(['belonging.user_id', 'circle.id', 'circle.display_name'])
    .where('circle.organisation_id', '=', organisationId)
    .where('belonging.user_id', 'in', userIds)
    .orderBy('circle.display_name_folded')
    .execute();
  for (const { user_id, id, display_name } of rows) {
    groups.set(user_id, [...(groups.get(user_id) ?? []), { id, name: display_name }]);
  }
  return groups;
}

/** Each group is named by its id or by its name. */
export async function setGroupsOfUser(context: ScimContext, userId: string, named: readonly string[]): Promise<void> {
  const { db, now, organisationId } = context;
  const wanted = new Set<string>();
  for (const name of named) {
    const group = await db
      .selectFrom('scim_groups')
      .select('id')
      .where('organisation_id', '=', organisationId)
      .where((eb) => eb.or([eb('id', '=', name), eb('display_name_folded', '=', folded(name))]))
      .executeTakeFirst();
    if (!group) throw invalidValue(`groups: ${name} is no group of this organisation`);
    wanted.add(group.id);
  }
  await db
    .deleteFrom('scim_group_members')
    .where('user_id', '=', userId)
    .where('group_id', 'in', (eb) =>
      eb.selectFrom('scim_groups').select('id').where('organisation_id', '=', organisationId),
    )
    .execute();
  if (wanted.size === 0) return;
  const at = now.toISOString();
  await db
    .insertInto('scim_group_members')
    .values([...wanted].map((group_id) => ({ group_id, user_id: userId, created_at: at })))
    .execute();
}
