/** What only one engine has, behind one word for both: the same queries work on each. */
import { type RawBuilder, sql } from 'kysely';
import { DatabaseError } from 'pg';
import type { Db, Store } from '../database.ts';

/** Text that lists are in the order of. PostgreSQL would otherwise sort it as words of the server's language, which is slower and another order than SQLite's. */
export const byteOrdered = (engine: Store['engine']): RawBuilder<unknown> =>
  engine === 'postgres' ? sql`text collate "C"` : sql`text`;

/** Searches for a part of a text without reading all of them, where the engine can. SQLite scans, which takes some ten milliseconds for 100,000 rows. */
export async function indexText(
  db: Db,
  engine: Store['engine'],
  { name, table, column }: { name: string; table: string; column: string },
): Promise<void> {
  if (engine !== 'postgres') return;
  const operators = await trigramOperators(db);
  if (!operators) return;
  // Without `fastupdate` a write finishes its own entries, instead of leaving them for every search to go through.
  await sql`create index ${sql.ref(name)} on ${sql.table(table)} using gin (${sql.ref(column)} ${operators})
    with (fastupdate = off) where ${sql.ref(column)} != ''`.execute(db);
}

/** Null where the server does not have the extension, or does not let this program add it; searches then read every text. */
async function trigramOperators(db: Db): Promise<RawBuilder<unknown> | null> {
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
