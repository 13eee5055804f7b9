/** Long lists again: tables note that they were changed, keys are tallied as they come and go, and PostgreSQL orders as bytes. */
import { type RawBuilder, sql } from 'kysely';
import type { Db, Store } from '../database.ts';
import { trigramOperators } from './0004_long_lists.ts';
import { indexKinds } from './key-lists.ts';
import { tallyKeys } from './key-tallies.ts';
import { copyMemberNames } from './member-names.ts';

/** Those that grow with the people and keys of an organisation; the lists of all others are short. */
export const watchedTables = [
  'api_keys',
  'audit_logs',
  'invites',
  'notices',
  'organisation_members',
  'users',
  'workspace_members',
] as const;

export async function tableChanges(db: Db, engine: Store['engine']): Promise<void> {
  await sql`alter table api_keys add column shard text not null default ''`.execute(db);
  await (engine === 'postgres' ? orderAsBytes(db) : sql`update api_keys set shard = ${endOfId}`.execute(db));
  await indexKinds(db);
  await tallyKeys(db, engine);
  await copyMemberNames(db, engine);
  await (engine === 'postgres' ? indexPathsByTrigrams(db) : indexPaths(db));
  await db.schema
    .createTable('table_changes')
    .addColumn('table_name', 'text', (c) => c.notNull())
    .addColumn('shard', 'text', (c) => c.notNull())
    .addColumn('changes', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('table_changes_pk', ['table_name', 'shard'])
    .execute();
  await (engine === 'postgres' ? watchOnPostgres(db) : watchOnSqlite(db));
}

/** Chance, so that the shards are about equally full. */
const endOfId = sql`substr(id, 35)`;

/**
 * Words of the server's language take several times as long to compare, and stand in another order than on SQLite. The shards are
 * filled on the way, as the table is written anew in any case.
 */
async function orderAsBytes(db: Db): Promise<void> {
  const columns = {
    api_keys: ['name_folded', 'created_at', 'last_updated_at', 'expires_at'],
    audit_logs: ['timestamp'],
    invites: ['created_at'],
    organisation_members: ['created_at'],
  };
  for (const [table, names] of Object.entries(columns)) {
    const changes = names.map((name) => sql`alter column ${sql.ref(name)} type text collate "C"`);
    if (table === 'api_keys') changes.push(sql`alter column shard type text collate "C" using ${endOfId}`);
    await sql`alter table ${sql.table(table)} ${sql.join(changes)}`.execute(db);
  }
}

/** Paths may be longer than an entry of other indexes of PostgreSQL. */
async function indexPathsByTrigrams(db: Db): Promise<void> {
  const operators = await trigramOperators(db);
  if (operators) await sql`create index audit_logs_paths on audit_logs using gin (uri ${operators})`.execute(db);
}

async function indexPaths(db: Db): Promise<void> {
  await sql`create index audit_logs_paths on audit_logs (organisation_id, timestamp, id, uri)`.execute(db);
  // Made anew, because SQLite takes the youngest of those that will do, and this is the smallest.
  await sql`drop index audit_logs_list`.execute(db);
  await sql`create index audit_logs_list on audit_logs (organisation_id, timestamp, id)`.execute(db);
}

/** A key notes its changes in its own shard, so that searches need not go through the others again. */
const sharded: ReadonlySet<string> = new Set(['api_keys']);

async function watchOnSqlite(db: Db): Promise<void> {
  for (const table of watchedTables) {
    for (const event of ['insert', 'update', 'delete']) {
      const shard = sharded.has(table) ? `${event === 'delete' ? 'old' : 'new'}.shard` : "''";
      await sql`create trigger ${sql.ref(`${table}_${event}_noted`)} after ${sql.raw(event)} on ${sql.table(table)} begin
        ${note(sql.lit(table), shard)}
      end`.execute(db);
    }
  }
}

const note = (table: RawBuilder<unknown>, shard: string) => sql`
  insert into table_changes (table_name, shard, changes) values (${table}, ${sql.raw(shard)}, 1)
    on conflict (table_name, shard) do update set changes = table_changes.changes + 1;`;

/**
 * Writers would wait for each other at a single row, so each connection has a shard of its own. A transaction notes a table once:
 * every further note would leave a dead row to step over until it ends.
 */
async function watchOnPostgres(db: Db): Promise<void> {
  const tableName = sql`tg_table_name`;
  await sql`create function note_table_change() returns trigger language plpgsql as $$
    declare
      noted constant text := 'gw.noted_' || tg_table_name;
      this_one constant text := pg_current_xact_id()::text;
    begin
      if current_setting(noted, true) is distinct from this_one then
        perform set_config(noted, this_one, true);
        ${note(tableName, '(pg_backend_pid() % 256)::text')}
      end if;
      return null;
    end
  $$`.execute(db);
  await sql`create function note_row_change() returns trigger language plpgsql as $$
    begin
      ${note(tableName, 'coalesce(new.shard, old.shard)')}
      return null;
    end
  $$`.execute(db);
  for (const table of watchedTables) {
    const how = sharded.has(table)
      ? 'row execute function note_row_change()'
      : 'statement execute function note_table_change()';
    await sql`create trigger ${sql.ref(`${table}_noted`)} after insert or update or delete on ${sql.table(table)}
      for each ${sql.raw(how)}`.execute(db);
  }
}
