/** Finds the groups of an organisation. */
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../../store/database.ts';
import type { ScimGroupTable } from '../../../store/tables/scim.ts';
import { folded } from '../../kernel/lists/list-queries.ts';
import type { Filter } from '../protocol/filter.ts';
import { conditionOf, type Field } from '../protocol/sql-filter.ts';
import { inList, type UserQuery } from '../users/find.ts';

const byName: Readonly<Record<string, Field>> = {
  id: { type: 'text', column: sql`circle.id`, letters: 'exact' },
  externalid: { type: 'text', column: sql`circle.external_id`, letters: 'exact' },
  displayname: { type: 'text', column: sql`circle.display_name_folded`, letters: 'folded' },
  'meta.created': { type: 'time', column: sql`circle.created_at` },
  'meta.lastmodified': { type: 'time', column: sql`circle.last_updated_at` },
  members: {
    type: 'list',
    some: (inner: Filter) => sql<boolean>`exists (select 1 from scim_group_members as belonging
      where belonging.group_id = circle.id and ${inList(inner, sql`belonging.user_id`)})`,
  },
};

const sortable: Readonly<Record<string, RawBuilder<unknown>>> = {
  id: sql`circle.id`,
  externalid: sql`circle.external_id`,
  displayname: sql`circle.display_name_folded`,
  'meta.created': sql`circle.created_at`,
  'meta.lastmodified': sql`circle.last_updated_at`,
};

export const mayBeSortedBy = (name: string): boolean => name in sortable;

export async function listScimGroups(db: Db, organisationId: string, query: UserQuery) {
  const all = db.selectFrom('scim_groups as circle').where('circle.organisation_id', '=', organisationId);
  const { filter } = query;
  const fields = (name: string, sub: string | null) => byName[sub === null ? name : `${name}.${sub}`] ?? null;
  const matches = filter ? all.where(conditionOf(filter, fields, query.schema)) : all;
  const { total } = await matches.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  if (query.size === 0 || query.offset >= total) return { groups: [], total };
  const direction = query.descending ? 'desc' : 'asc';
  const groups = await matches
    .selectAll('circle')
    .orderBy((query.sortBy ? sortable[query.sortBy] : null) ?? sql`circle.created_at`, direction)
    .orderBy('circle.id', direction)
    .limit(query.size)
    .offset(query.offset)
    .execute();
  return { groups, total };
}

export async function findScimGroup(db: Db, organisationId: string, id: string): Promise<ScimGroupTable | null> {
  const row = await db
    .selectFrom('scim_groups')
    .selectAll()
    .where('organisation_id', '=', organisationId)
    .where('id', '=', id)
    .executeTakeFirst();
  return row ?? null;
}

export async function groupOfName(db: Db, organisationId: string, name: string): Promise<ScimGroupTable | null> {
  const row = await db
    .selectFrom('scim_groups')
    .selectAll()
    .where('organisation_id', '=', organisationId)
    .where('display_name_folded', '=', folded(name))
    .executeTakeFirst();
  return row ?? null;
}

/** The members of these groups whom SCIM still knows. */
export async function membersOfGroups(db: Db, ids: readonly string[]): Promise<ReadonlyMap<string, string[]>> {
  const members = new Map<string, string[]>();
  if (ids.length === 0) return members;
  const rows = await db
    .selectFrom('scim_group_members')
    .select(['group_id', 'user_id'])
    .where('group_id', 'in', ids)
    .orderBy('created_at')
    .orderBy('user_id')
    .execute();
  for (const { group_id, user_id } of rows) {
    const list = members.get(group_id);
    if (list) list.push(user_id);
    else members.set(group_id, [user_id]);
  }
  return members;
}
