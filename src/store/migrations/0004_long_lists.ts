/** What keeps long lists quick on PostgreSQL: texts that are searched without reading all of them, members that are put in order as bytes. */
import { type RawBuilder, sql } from 'kysely';
import { DatabaseError } from 'pg';
import type { Db, Store } from '../database.ts';

export async function longLists(db: Db, engine: Store['engine']): Promise<void> {
  if (engine !== 'postgres') return;
  await indexSearches(db);
  // Members that a search found are put in order by it: as bytes, not as words of the server's language.
  await sql`alter table workspace_members alter column created_at type text collate "C"`.execute(db);
}

async function indexSearches(db: Db): Promise<void> {
  const operators = await trigramOperators(db);
  if (!operators) return;
  // Without `fastupdate` a write finishes its own entries, instead of leaving them for every search to go through.
  const index = (name: string, table: string, column: string, rows: RawBuilder<unknown>) =>
    sql`create index ${sql.ref(name)} on ${sql.table(table)} using gin (${sql.ref(column)} ${operators})
      with (fastupdate = off) where ${rows}`.execute(db);
  await index('api_keys_search', 'api_keys', 'name_folded', sql`status != 'archived' and name_folded != ''`);
  await index('users_search', 'users', 'folded', sql`folded != ''`);
}

/** Null where the server does not have the extension, or does not let this program add it; searches then read every text. */
export async function trigramOperators(db: Db): Promise<RawBuilder<unknown> | null> {
  // A refusal would otherwise end the transaction of the whole migration.
  await sql`savepoint before_trigrams`.execute(db);
  try {
    await sql`create extension if not exists pg_trgm`.execute(db);
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    await sql`rollback to savepoint before_trigrams`.execute(db);
    return null;
  }
  // Somebody else may have put it in a schema of its own.
  const { rows } = await sql<{ home: string }>`select nspname as home from pg_extension
    join pg_namespace on pg_namespace.oid = extnamespace where extname = 'pg_trgm'`.execute(db);
  return rows[0] ? sql.id(rows[0].home, 'gin_trgm_ops') : null;
}
