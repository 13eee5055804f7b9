/** How many keys of each kind there are: a table that triggers keep, so that nobody has to count them. */
import { sql } from 'kysely';
import type { Db, Store } from '../database.ts';

export async function tallyKeys(db: Db, engine: Store['engine']): Promise<void> {
  await db.schema
    .createTable('api_key_tallies')
    .addColumn('organisation_id', 'text', (c) => c.notNull())
    // Empty for the keys of the organisation itself.
    .addColumn('workspace_id', 'text', (c) => c.notNull())
    .addColumn('type', 'text', (c) => c.notNull())
    .addColumn('status', 'text', (c) => c.notNull())
    // Whoever makes two keys at once seldom meets at the same row.
    .addColumn('shard', 'text', (c) => c.notNull())
    .addColumn('keys', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('api_key_tallies_pk', ['organisation_id', 'workspace_id', 'type', 'status', 'shard'])
    .execute();
  await sql`insert into api_key_tallies (organisation_id, workspace_id, type, status, shard, keys)
    select organisation_id, coalesce(workspace_id, ''), type, status, shard, count(*) from api_keys
    group by organisation_id, coalesce(workspace_id, ''), type, status, shard`.execute(db);
  await (engine === 'postgres' ? onPostgres(db) : onSqlite(db));
}

const add = (row: 'old' | 'new', keys: '-1' | '1') =>
  sql.raw(`insert into api_key_tallies (organisation_id, workspace_id, type, status, shard, keys)
    values (${row}.organisation_id, coalesce(${row}.workspace_id, ''), ${row}.type, ${row}.status, ${row}.shard, ${keys})
    on conflict (organisation_id, workspace_id, type, status, shard) do update set keys = api_key_tallies.keys + excluded.keys;`);

async function onSqlite(db: Db): Promise<void> {
  await sql`create trigger api_keys_insert_tallied after insert on api_keys begin ${add('new', '1')} end`.execute(db);
  await sql`create trigger api_keys_update_tallied after update on api_keys
    begin ${add('old', '-1')} ${add('new', '1')} end`.execute(db);
  await sql`create trigger api_keys_delete_tallied after delete on api_keys begin ${add('old', '-1')} end`.execute(db);
}

async function onPostgres(db: Db): Promise<void> {
  await sql`create function tally_api_key() returns trigger language plpgsql as $$
    begin
      if tg_op = 'UPDATE' and (old.organisation_id, old.workspace_id, old.type, old.status, old.shard)
        is not distinct from (new.organisation_id, new.workspace_id, new.type, new.status, new.shard) then
        return null;
      end if;
      if tg_op != 'INSERT' then ${add('old', '-1')} end if;
      if tg_op != 'DELETE' then ${add('new', '1')} end if;
      return null;
    end
  $$`.execute(db);
  await sql`create trigger api_keys_tallied after insert or update or delete on api_keys
    for each row execute function tally_api_key()`.execute(db);
}
