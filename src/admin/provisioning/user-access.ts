/** Who of a workspace may use a server: everybody by its default, with exceptions for single people. */
import { notFound } from '../../http/errors.ts';
import type { Db } from '../../store/database.ts';
import type { Page } from '../kernel/endpoint.ts';
import { countOf, oneHoldsInAnyCase } from '../kernel/lists/list-queries.ts';
import type { Family } from './family.ts';
import type { UserAccessUpdate } from './schema.ts';

interface Server {
  id: string;
  organisation_id: string;
  workspace_id: string;
  default_user_access: 'allow' | 'deny';
}

export async function listUserAccessOf(
  { users }: Family,
  db: Db,
  server: Server,
  search: string | undefined,
  page: Page,
) {
  let people = db
    .selectFrom('workspace_members as member')
    .innerJoin('users as person', 'person.id', 'member.user_id')
    .where('member.workspace_id', '=', server.workspace_id)
    .where('member.status', '=', 'active');
  if (search) {
    people = people.where((eb) =>
      oneHoldsInAnyCase(search, eb.ref('person.first_name'), eb.ref('person.last_name'), eb.ref('person.email')),
    );
  }
  const total = await countOf(people);
  const rows = await people
    .select(['member.user_id', 'person.first_name', 'person.last_name'])
    .orderBy('person.email')
    .limit(page.size)
    .offset(page.offset)
    .execute();
  const exceptions = await db.selectFrom(users).selectAll().where('server_id', '=', server.id).execute();
  const overrides = new Map(exceptions.map(({ user_id, enabled }) => [user_id, enabled === 1]));
  return {
    data: rows.map((row) => ({
      user_id: row.user_id,
      first_name: row.first_name,
      last_name: row.last_name,
      enabled: overrides.get(row.user_id) ?? server.default_user_access === 'allow',
      has_override: overrides.has(row.user_id),
    })),
    default_user_access: server.default_user_access,
    total,
    has_more: page.offset + rows.length < total,
  };
}

export async function setUserAccessOf(
  { servers, users }: Family,
  db: Db,
  now: Date,
  server: Server,
  body: UserAccessUpdate,
): Promise<void> {
  const at = now.toISOString();
  if (body.default_user_access) {
    await db
      .updateTable(servers)
      .set({ default_user_access: body.default_user_access, last_updated_at: at })
      .where('id', '=', server.id)
      .execute();
  }
  for (const { user_id, enabled } of body.user_access ?? []) {
    await requireColleague(db, server.organisation_id, user_id);
    if (enabled === null) {
      await db.deleteFrom(users).where('server_id', '=', server.id).where('user_id', '=', user_id).execute();
      continue;
    }
    const state = { enabled: enabled ? 1 : 0, last_updated_at: at } as const;
    await db
      .insertInto(users)
      .values({ server_id: server.id, user_id, ...state })
      .onConflict((conflict) => conflict.columns(['server_id', 'user_id']).doUpdateSet(state))
      .execute();
  }
}

async function requireColleague(db: Db, organisationId: string, userId: string): Promise<void> {
  const member = await db
    .selectFrom('organisation_members')
    .select('user_id')
    .where('organisation_id', '=', organisationId)
    .where('user_id', '=', userId)
    .where('status', '=', 'active')
    .executeTakeFirst();
  if (!member) throw notFound(`user: ${userId}`);
}
