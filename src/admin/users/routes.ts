/** Users of an organisation: who belongs to it, with which role, until they are taken out. */
import { sql } from 'kysely';
import { forbidden, invalid, notFound } from '../../http/errors.ts';
import { organisationRoleBeyond } from '../../identity/grants.ts';
import { runsOrganisation } from '../../identity/roles.ts';
import type { Db } from '../../store/database.ts';
import type { OrganisationMemberTable, UserTable } from '../../store/schema.ts';
import { recordKeysGone } from '../api-keys/events.ts';
import { endpoint, type Resource } from '../kernel/endpoint.ts';
import { empty } from '../kernel/fields.ts';
import { holdsLowered } from '../kernel/lists/list-queries.ts';
import { pageOfIds } from '../kernel/lists/page-of-ids.ts';
import { asList, listOf } from '../kernel/lists/paging.ts';
import { requireOpenUserManagement } from '../scim/settings.ts';
import { surroundingsOf } from '../workspaces/row.ts';
import { leaveOrganisation } from './membership.ts';
import { activeMember, keepAnOwner, leaveOwnersAlone, refuseSelf } from './rules.ts';
import { userFilters, userListed, userParams, userRead, userUpdate } from './schema.ts';

const callers = ['admin-key', 'session'] as const;
const tag = 'Users';

const listUsers = endpoint({
  method: 'GET',
  path: '/admin/users',
  aliases: ['/users'],
  tag,
  summary: 'List the users of the organisation, newest first',
  access: { callers, scope: 'organisation_users.list', level: 'organisation' },
  query: userFilters,
  paging: { size: 100, max: 1000 },
  reply: () => listOf(userListed()),
  async handle({ caller, query, page, db }) {
    let matches = db
      .selectFrom('organisation_members as member')
      .where('member.organisation_id', '=', caller.organisationId)
      .where('member.status', '=', query.status);
    if (query.role) matches = matches.where('member.role', '=', query.role);
    if (query.email !== undefined) {
      const userId = await userWithEmail(db, query.email);
      if (userId === null) return asList([], 0);
      matches = matches.where('member.user_id', '=', userId);
    }
    const { search } = query;
    if (search) {
      matches = matches.where('member.user_id', 'in', (eb) =>
        eb
          .selectFrom('users')
          .select('users.id')
          .where((person) => holdsLowered(person.ref('users.folded'), search)),
      );
    }
    const { ids, total } = await pageOfIds({
      matches,
      order: { by: sql<string>`member.created_at`, id: sql<string>`member.user_id`, direction: 'desc' },
      page,
    });
    const people = await usersById(db, caller.organisationId, ids);
    return asList(
      ids.flatMap((id) => people.get(id) ?? []),
      total,
    );
  },
});

const readUser = endpoint({
  method: 'GET',
  path: '/admin/users/:userId',
  aliases: ['/users/:userId'],
  tag,
  summary: 'Read one user of the organisation, with the workspaces that they may enter',
  access: { callers, scope: 'organisation_users.read', level: 'organisation' },
  params: userParams,
  reply: userRead,
  async handle({ caller, params, db }) {
    const row = await db
      .selectFrom('organisation_members as member')
      .innerJoin('users as user', 'user.id', 'member.user_id')
      .select(shownColumns)
      .where('member.organisation_id', '=', caller.organisationId)
      .where('member.user_id', '=', params.userId)
      .executeTakeFirst();
    if (!row) throw notFound('user');
    return { ...userRecord(row), workspace_ids: await workspaceSlugs(db, caller.organisationId, row) };
  },
});

const updateUser = endpoint({
  method: 'PUT',
  path: '/admin/users/:userId',
  aliases: ['/users/:userId'],
  tag,
  summary: "Change a user's role in the organisation",
  access: { callers, scope: 'organisation_users.update', level: 'organisation' },
  params: userParams,
  body: userUpdate,
  reply: empty,
  audit: { resource: 'user', action: 'update' },
  async handle({ caller, params, body, db, now, changed, note }) {
    const { organisationId } = caller;
    await requireOpenUserManagement(db, organisationId);
    const member = await activeMember(db, organisationId, params.userId);
    leaveOwnersAlone(caller, member);
    if (member.role === body.role) throw invalid('role', `is ${body.role} already`);
    const { settings } = await surroundingsOf(db, organisationId);
    const beyond = organisationRoleBeyond(caller, body.role, settings);
    if (beyond) throw forbidden(beyond);
    await keepAnOwner(db, organisationId, member);
    await db
      .updateTable('organisation_members')
      .set({ role: body.role, last_updated_at: now.toISOString() })
      .where('organisation_id', '=', organisationId)
      .where('user_id', '=', member.userId)
      .execute();
    changed({ topic: 'user', id: member.userId });
    note({ details: { email: member.email, old_role: member.role, role: body.role, source: 'api' } });
    return {};
  },
});

const removeUser = endpoint({
  method: 'DELETE',
  path: '/admin/users/:userId',
  aliases: ['/users/:userId'],
  tag,
  summary: 'Take a user out of the organisation',
  description:
    'Their memberships and keys are archived, their sessions end and open invites to their address are cancelled.',
  access: { callers, scope: 'organisation_users.delete', level: 'organisation' },
  params: userParams,
  reply: empty,
  audit: { resource: 'user', action: 'delete' },
  async handle({ caller, params, db, now, services, changed, note }) {
    const { organisationId } = caller;
    await requireOpenUserManagement(db, organisationId);
    const member = await activeMember(db, organisationId, params.userId);
    leaveOwnersAlone(caller, member);
    await keepAnOwner(db, organisationId, member);
    refuseSelf(caller, member);
    const changes = await leaveOrganisation(db, now, organisationId, member.userId);
    await recordKeysGone(db, services, now, changes);
    changed(...changes);
    note({ details: { email: member.email, role: member.role, source: 'api' } });
    return {};
  },
});

const shownColumns = [
  'user.id',
  'user.first_name',
  'user.last_name',
  'user.email',
  'member.role',
  'member.status',
  'member.provisioned_by',
  'member.last_login_at',
  'member.created_at',
  'member.last_updated_at',
] as const;

type ShownUser = Pick<UserTable, 'id' | 'first_name' | 'last_name' | 'email'> &
  Omit<OrganisationMemberTable, 'organisation_id' | 'user_id'>;

const userRecord = (row: ShownUser) => ({ object: 'user' as const, ...row, updated_at: row.last_updated_at });

/** Looked up for one page at a time: who only stands before the page is counted in the index, not read. */
async function usersById(db: Db, organisationId: string, ids: readonly string[]) {
  if (ids.length === 0) return new Map<string, never>();
  const rows = await db
    .selectFrom('organisation_members as member')
    .innerJoin('users as user', 'user.id', 'member.user_id')
    .select(shownColumns)
    .where('member.organisation_id', '=', organisationId)
    .where('member.user_id', 'in', ids)
    .execute();
  return new Map(rows.map((row) => [row.id, userRecord(row)]));
}

async function userWithEmail(db: Db, email: string): Promise<string | null> {
  const row = await db.selectFrom('users').select('id').where('email', '=', email).executeTakeFirst();
  return row?.id ?? null;
}

/** Owners and admins enter every workspace; members those that they belong to. */
async function workspaceSlugs(db: Db, organisationId: string, user: ShownUser): Promise<string[]> {
  if (user.status === 'archived') return [];
  let open = db
    .selectFrom('workspaces as workspace')
    .select('workspace.slug')
    .where('workspace.organisation_id', '=', organisationId)
    .where('workspace.status', '=', 'active');
  if (!runsOrganisation(user.role)) {
    open = open.where('workspace.id', 'in', (eb) =>
      eb
        .selectFrom('workspace_members as standing')
        .select('standing.workspace_id')
        .where('standing.user_id', '=', user.id)
        .where('standing.organisation_id', '=', organisationId)
        .where('standing.status', '=', 'active'),
    );
  }
  const rows = await open.orderBy('workspace.created_at', 'desc').orderBy('workspace.id', 'desc').execute();
  return rows.map((row) => row.slug);
}

export const usersResource: Resource = {
  name: 'users',
  endpoints: [listUsers, readUser, updateUser, removeUser],
};
