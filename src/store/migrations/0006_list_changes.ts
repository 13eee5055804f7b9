/** The longest lists once more: every change of a key or of the audit trail is noted as it happens, instead of that there was one. */
import { type ColumnDataType, type RawBuilder, sql } from 'kysely';
import type { Db, Store } from '../database.ts';
import { watchedTables } from './0005_table_changes.ts';
import { indexEnds } from './key-lists.ts';

/** `bytes`: put in order as bytes, as in the table itself. */
type Columns = Record<string, 'text' | 'bytes' | 'integer'>;

/** What lists ask of a row, by the tables that are listed and those that note their changes. */
const noted: readonly { table: string; changes: string; columns: Columns }[] = [
  {
    table: 'api_keys',
    changes: 'api_key_changes',
    columns: {
      id: 'text',
      organisation_id: 'text',
      workspace_id: 'text',
      user_id: 'text',
      type: 'text',
      status: 'text',
      name_folded: 'bytes',
      created_at: 'bytes',
      last_updated_at: 'bytes',
      ends_at: 'bytes',
    },
  },
  {
    table: 'audit_logs',
    changes: 'audit_log_changes',
    columns: {
      id: 'text',
      organisation_id: 'text',
      timestamp: 'bytes',
      method: 'text',
      uri: 'text',
      request_id: 'text',
      user_id: 'text',
      user_type: 'text',
      workspace_id: 'text',
      response_status_code: 'integer',
      resource_type: 'text',
      action: 'text',
      client_ip: 'text',
      country: 'text',
    },
  },
];

const bytes = sql`text collate "C"`;

export async function listChanges(db: Db, engine: Store['engine']): Promise<void> {
  await (engine === 'postgres' ? unwatchOnPostgres(db) : unwatchOnSqlite(db));
  await db.schema.dropTable('table_changes').execute();
  // Searches that were counted went through names by their shards.
  for (const place of ['organisation', 'workspace']) await db.schema.dropIndex(`api_keys_${place}_names`).execute();
  await nameEnds(db, engine);
  if (engine === 'postgres') await tellEras(db);
  for (const { table, changes, columns } of noted) {
    await createChanges(db, engine, changes, columns);
    const names = Object.keys(columns);
    await (engine === 'postgres' ? noteOnPostgres(db, table, changes, names) : noteOnSqlite(db, table, changes, names));
  }
}

/** A key that never expires comes after every one that does. As a column, because SQLite enters no index at a pair with an expression in it. */
async function nameEnds(db: Db, engine: Store['engine']): Promise<void> {
  const type = engine === 'postgres' ? bytes : sql`text`;
  const kept = sql.raw(engine === 'postgres' ? 'stored' : 'virtual');
  await sql`alter table api_keys add column ends_at ${type}
    generated always as (coalesce(expires_at, '9999')) ${kept}`.execute(db);
  await indexEnds(db);
}

async function unwatchOnSqlite(db: Db): Promise<void> {
  for (const table of watchedTables) {
    for (const event of ['insert', 'update', 'delete']) {
      await sql`drop trigger ${sql.ref(`${table}_${event}_noted`)}`.execute(db);
    }
  }
}

async function unwatchOnPostgres(db: Db): Promise<void> {
  for (const table of watchedTables) {
    await sql`drop trigger ${sql.ref(`${table}_noted`)} on ${sql.table(table)}`.execute(db);
  }
  await sql`drop function note_table_change(), note_row_change()`.execute(db);
}

/**
 * Numbers of transactions say what came before what only as long as the same server runs on the same table: another one, that a
 * dump was put into, counts from elsewhere, and a table that was emptied or put back is another one too.
 */
const tellEras = (db: Db) =>
  sql`create function list_era(listed regclass) returns text language sql stable as $$
    select (extract(epoch from pg_postmaster_start_time()) * 1000000)::bigint || '-' || pg_relation_filenode(listed)
  $$`.execute(db);

async function createChanges(db: Db, engine: Store['engine'], changes: string, columns: Columns): Promise<void> {
  let table = db.schema.createTable(changes);
  if (engine === 'postgres') {
    table = table.addColumn('era', bytes, (c) => c.notNull()).addColumn('moment', sql`xid8`, (c) => c.notNull());
  } else {
    table = table.addColumn('moment', 'integer', (c) => c.primaryKey().autoIncrement());
  }
  // One for a row as it is now, minus one for a row as it was: what lists gained and lost is their sum.
  table = table.addColumn('sign', 'integer', (c) => c.notNull());
  for (const [name, type] of Object.entries(columns)) {
    const column: ColumnDataType | RawBuilder<unknown> =
      type === 'bytes' && engine === 'postgres' ? bytes : typeOf[type];
    table = table.addColumn(name, column);
  }
  await table.execute();
  if (engine !== 'postgres') return;
  await db.schema.createIndex(`${changes}_moments`).on(changes).columns(['era', 'moment']).execute();
}

const typeOf = { text: 'text', bytes: 'text', integer: 'integer' } as const;

async function noteOnSqlite(db: Db, table: string, changes: string, columns: readonly string[]): Promise<void> {
  const note = (row: 'old' | 'new') =>
    sql.raw(`insert into ${changes} (sign, ${columns.join(', ')})
    values (${row === 'old' ? -1 : 1}, ${valuesOf(row, columns)});`);
  const changed = sql.raw(columns.map((name) => `old.${name} is not new.${name}`).join(' or '));
  const after = (event: string, when: RawBuilder<unknown>, notes: RawBuilder<unknown>) =>
    sql`create trigger ${sql.ref(`${table}_${event}_noted`)} after ${sql.raw(event)} on ${sql.table(table)}
      ${when} begin ${notes} end`.execute(db);
  await after('insert', sql``, note('new'));
  await after('update', sql`when ${changed}`, sql`${note('old')} ${note('new')}`);
  await after('delete', sql``, note('old'));
}

/** Notes are only ever added, so that no writer waits for another or takes a row from it. */
async function noteOnPostgres(db: Db, table: string, changes: string, columns: readonly string[]): Promise<void> {
  const [before, now] = [valuesOf('old', columns), valuesOf('new', columns)];
  const note = (sign: string, values: string) =>
    sql.raw(`insert into ${changes} (era, moment, sign, ${columns.join(', ')})
    values (list_era(tg_relid), pg_current_xact_id(), ${sign}, ${values});`);
  const name = sql.ref(`note_${changes}`);
  await sql`create function ${name}() returns trigger language plpgsql as $$
    begin
      if tg_op = 'UPDATE' and row(${sql.raw(before)}) is not distinct from row(${sql.raw(now)}) then return null; end if;
      if tg_op != 'INSERT' then ${note('-1', before)} end if;
      if tg_op != 'DELETE' then ${note('1', now)} end if;
      return null;
    end
  $$`.execute(db);
  await sql`create trigger ${sql.ref(`${table}_noted`)} after insert or update or delete on ${sql.table(table)}
    for each row execute function ${name}()`.execute(db);
}

const valuesOf = (row: 'old' | 'new', columns: readonly string[]): string =>
  columns.map((name) => `${row}.${name}`).join(', ');
