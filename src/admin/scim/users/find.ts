/** Finds users of an organisation as SCIM sees them: its members, but for those whom the identity provider deleted. */
import { type RawBuilder, sql } from 'kysely';
import type { OrganisationRole } from '../../../identity/roles.ts';
import type { Db } from '../../../store/database.ts';
import type { Flag } from '../../../store/schema.ts';
import { pageOfIds } from '../../kernel/lists/page-of-ids.ts';
import type { Filter } from '../protocol/filter.ts';
import { conditionOf, type Field, type Fields } from '../protocol/sql-filter.ts';

export interface EmailEntry {
  value: string;
  type?: string;
  primary?: boolean;
}

/** A member with what the identity provider said about them. */
export interface ScimUser {
  id: string;
  email: string;
  firstName: string;
  lastName: string;
  role: OrganisationRole;
  active: boolean;
  createdAt: string;
  lastUpdatedAt: string;
  /** Null for a member that SCIM never touched. */
  record: {
    userName: string;
    externalId: string | null;
    displayName: string | null;
    title: string | null;
    rolesGiven: boolean;
  } | null;
  emails: EmailEntry[];
}

/** Read from the index of members alone. */
const visible = (db: Db, organisationId: string) =>
  db
    .selectFrom('organisation_members as member')
    .where('member.organisation_id', '=', organisationId)
    .where('member.user_id', 'not in', (eb) =>
      eb
        .selectFrom('scim_users')
        .select('user_id')
        .where('organisation_id', '=', organisationId)
        .where('deleted', '=', 1),
    );

/** With all that can be filtered, sorted by and shown. */
const described = (db: Db, organisationId: string) =>
  visible(db, organisationId)
    .innerJoin('users as person', 'person.id', 'member.user_id')
    .leftJoin('scim_users as scim', (join) =>
      join.onRef('scim.organisation_id', '=', 'member.organisation_id').onRef('scim.user_id', '=', 'member.user_id'),
    );

const userName = sql<string>`coalesce(scim.user_name_folded, person.email)`;
const displayName = sql<
  string | null
>`case when scim.user_id is null then trim(person.first_name || ' ' || person.last_name) else scim.display_name end`;

const text = (column: RawBuilder<string | null>): Field => ({ type: 'text', column, letters: 'any' });
const exact = (column: RawBuilder<string | null>): Field => ({ type: 'text', column, letters: 'exact' });

const fieldsOf = (organisationId: string): Fields => {
  const byName: Readonly<Record<string, Field>> = {
    id: exact(sql`member.user_id`),
    externalid: {
      type: 'text',
      column: sql`scim.external_id`,
      letters: 'exact',
      equals: (value) => sql<boolean>`(member.user_id in (
        select user_id from scim_users where organisation_id = ${organisationId} and external_id = ${value}))`,
    },
    username: {
      type: 'text',
      column: userName,
      letters: 'folded',
      // Both names are looked up by their index before anybody's row is read.
      equals: (value) => sql<boolean>`(member.user_id in (
        select user_id from scim_users where organisation_id = ${organisationId} and user_name_folded = ${value}
        union all select id from users where email = ${value}) and ${userName} = ${value})`,
    },
    displayname: text(displayName),
    title: text(sql`scim.title`),
    'name.givenname': text(sql`person.first_name`),
    'name.familyname': text(sql`person.last_name`),
    active: { type: 'boolean', condition: sql<boolean>`(member.status = 'active')` },
    'meta.created': { type: 'time', column: sql`member.created_at` },
    'meta.lastmodified': { type: 'time', column: sql`member.last_updated_at` },
    emails: { type: 'list', some: (inner) => someEmail(organisationId, inner) },
    roles: { type: 'list', some: (inner) => inList(inner, sql`member.role`) },
    groups: {
      type: 'list',
      some: (inner) => sql<boolean>`exists (select 1 from scim_group_members as belonging
        where belonging.user_id = member.user_id and ${inList(inner, sql`belonging.group_id`)})`,
    },
  };
  return (name, sub) => byName[sub === null ? name : `${name}.${sub}`] ?? null;
};

/** A list whose entries have nothing but a value. */
export const inList = (inner: Filter, column: RawBuilder<string>): RawBuilder<boolean> =>
  conditionOf(inner, (name, sub) => (name === 'value' && sub === null ? text(column) : null), '');

/** Members without a record of their own have the one address of their account. */
const someEmail = (organisationId: string, inner: Filter): RawBuilder<boolean> => {
  const among = (value: RawBuilder<string>, type: RawBuilder<string | null>, primary: RawBuilder<boolean>) =>
    conditionOf(
      inner,
      (name) => {
        if (name === 'value') return { type: 'text', column: value, letters: 'folded' };
        if (name === 'type') return text(type);
        return name === 'primary' ? { type: 'boolean', condition: primary } : null;
      },
      '',
    );
  const recorded = among(
    sql`address.value_folded`,
    sql`address.type`,
    sql<boolean>`(coalesce(address.is_primary, 0) = 1)`,
  );
  const own = among(sql`account.email`, sql`'work'`, sql<boolean>`(1 = 1)`);
  return sql<boolean>`(member.user_id in (
    select address.user_id from scim_user_emails as address where address.organisation_id = ${organisationId} and ${recorded}
    union all select belonging.user_id from organisation_members as belonging
      join users as account on account.id = belonging.user_id
      where belonging.organisation_id = ${organisationId} and ${own} and not exists (
        select 1 from scim_users as known where known.organisation_id = ${organisationId} and known.user_id = belonging.user_id)))`;
};

const sortable: Readonly<Record<string, RawBuilder<string>>> = {
  id: sql`member.user_id`,
  externalid: sql`scim.external_id`,
  username: userName,
  displayname: sql`lower(${displayName})`,
  title: sql`lower(scim.title)`,
  'name.givenname': sql`lower(person.first_name)`,
  'name.familyname': sql`lower(person.last_name)`,
  emails: sql`person.email`,
  'emails.value': sql`person.email`,
  active: sql`member.status`,
  'meta.created': sql`member.created_at`,
  'meta.lastmodified': sql`member.last_updated_at`,
};

export const mayBeSortedBy = (name: string): boolean => name in sortable;

export interface UserQuery {
  filter: Filter | null;
  sortBy: string | null;
  descending: boolean;
  offset: number;
  size: number;
  schema: string;
}

/** Without a wish for another order users come in that of their ids, which is that in which they were made. */
export async function listScimUsers(db: Db, organisationId: string, query: UserQuery) {
  const { filter, sortBy } = query;
  const id = sql<string>`member.user_id`;
  const order = {
    by: (sortBy === null ? null : sortable[sortBy]) ?? id,
    id,
    direction: query.descending ? ('desc' as const) : ('asc' as const),
  };
  const { ids, total } =
    filter || sortBy !== null
      ? await pageOfIds({ matches: matching(db, organisationId, query), order, page: query })
      : await pageOfIds({ matches: visible(db, organisationId), order, page: query });
  return { users: await scimUsersById(db, organisationId, ids), total };
}

function matching(db: Db, organisationId: string, { filter, schema }: UserQuery) {
  const all = described(db, organisationId);
  return filter ? all.where(conditionOf(filter, fieldsOf(organisationId), schema)) : all;
}

export async function findScimUser(db: Db, organisationId: string, id: string): Promise<ScimUser | null> {
  const [user] = await scimUsersById(db, organisationId, [id]);
  return user ?? null;
}

/** The users of these ids, in this order; unknown ones are left out. */
async function scimUsersById(db: Db, organisationId: string, ids: readonly string[]): Promise<ScimUser[]> {
  if (ids.length === 0) return [];
  const rows = await described(db, organisationId)
    .select(['person.id', 'person.email', 'person.first_name', 'person.last_name'])
    .select(['member.role', 'member.status', 'member.created_at', 'member.last_updated_at'])
    .select(['scim.user_name', 'scim.external_id', 'scim.display_name', 'scim.title', 'scim.roles_given'])
    .where('member.user_id', 'in', ids)
    .execute();
  const emails = await emailsOf(db, organisationId, ids);
  const byId = new Map(rows.map((row) => [row.id, scimUserOf(row, emails.get(row.id) ?? [])]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

interface UserRow {
  id: string;
  email: string;
  first_name: string;
  last_name: string;
  role: OrganisationRole;
  status: 'active' | 'archived';
  created_at: string;
  last_updated_at: string;
  user_name: string | null;
  external_id: string | null;
  display_name: string | null;
  title: string | null;
  roles_given: Flag | null;
}

const scimUserOf = (row: UserRow, emails: EmailEntry[]): ScimUser => ({
  id: row.id,
  email: row.email,
  firstName: row.first_name,
  lastName: row.last_name,
  role: row.role,
  active: row.status === 'active',
  createdAt: row.created_at,
  lastUpdatedAt: row.last_updated_at,
  record:
    row.user_name === null
      ? null
      : {
          userName: row.user_name,
          externalId: row.external_id,
          displayName: row.display_name,
          title: row.title,
          rolesGiven: row.roles_given === 1,
        },
  emails,
});

async function emailsOf(db: Db, organisationId: string, ids: readonly string[]): Promise<Map<string, EmailEntry[]>> {
  const rows = await db
    .selectFrom('scim_user_emails')
    .select(['user_id', 'value', 'type', 'is_primary'])
    .where('organisation_id', '=', organisationId)
    .where('user_id', 'in', ids)
    .orderBy('position')
    .execute();
  const emails = new Map<string, EmailEntry[]>();
  for (const { user_id, value, type, is_primary } of rows) {
    const entry = { value, ...(type !== null && { type }), ...(is_primary !== null && { primary: is_primary === 1 }) };
    emails.set(user_id, [...(emails.get(user_id) ?? []), entry]);
  }
  return emails;
}
