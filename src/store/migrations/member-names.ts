/** The searched text of a person beside each of their memberships: to search the members of a workspace nobody else's row is read. */
import { sql } from 'kysely';
import type { Db, Store } from '../database.ts';

/** Triggers keep it the same as `folded` of the person. */
export async function copyMemberNames(db: Db, engine: Store['engine']): Promise<void> {
  await sql`alter table workspace_members add column folded text not null default ''`.execute(db);
  await sql`update workspace_members set folded = (${nameOf('workspace_members')})`.execute(db);
  // No search asks the people themselves any more, and what a list of members asks stands in its index.
  await sql`drop index if exists users_search`.execute(db);
  await sql`drop index workspace_members_list`.execute(db);
  await sql`create index workspace_members_list
    on workspace_members (workspace_id, status, created_at, user_id, role, folded)`.execute(db);
  await (engine === 'postgres' ? onPostgres(db) : onSqlite(db));
}

const nameOf = (member: 'workspace_members' | 'new') =>
  sql.raw(`select folded from users where id = ${member}.user_id`);

async function onSqlite(db: Db): Promise<void> {
  await sql`create trigger workspace_members_named after insert on workspace_members begin
    update workspace_members set folded = (${nameOf('new')})
      where workspace_id = new.workspace_id and user_id = new.user_id;
  end`.execute(db);
  await sql`create trigger users_renamed after update of first_name, last_name, email on users begin
    update workspace_members set folded = new.folded where user_id = new.id;
  end`.execute(db);
}

async function onPostgres(db: Db): Promise<void> {
  await sql`create function name_workspace_member() returns trigger language plpgsql as $$
    begin
      new.folded := (${nameOf('new')});
      return new;
    end
  $$`.execute(db);
  await sql`create trigger workspace_members_named before insert on workspace_members
    for each row execute function name_workspace_member()`.execute(db);
  await sql`create function rename_workspace_members() returns trigger language plpgsql as $$
    begin
      update workspace_members set folded = new.folded where user_id = new.id;
      return null;
    end
  $$`.execute(db);
  await sql`create trigger users_renamed after update of first_name, last_name, email on users
    for each row execute function rename_workspace_members()`.execute(db);
}
