/** Counts what is written to the store, to tell whether a call that was refused changed anything. */
import { sql } from 'kysely';
import type { Store } from '../src/store/database.ts';

/** Tables that a refused call may write: the trail of it and the note of that, the sessions of those who called, and who runs the jobs. */
const apart = new Set(['audit_logs', 'audit_log_changes', 'sessions', 'leases']);

/** Answers how many rows were inserted, updated or deleted since; what a transaction took back does not count. */
export async function countChanges({ db, engine }: Store): Promise<() => Promise<number>> {
  const tables = (await db.introspection.getTables()).map((table) => table.name).filter((name) => !apart.has(name));
  const run = (text: string) => sql.raw(text).execute(db);
  if (engine === 'sqlite') {
    await run('create table test_changes (id integer primary key)');
    for (const table of tables) {
      for (const event of ['insert', 'update', 'delete']) {
        await run(
          `create trigger test_${event}_${table} after ${event} on ${table} begin insert into test_changes values (null); end`,
        );
      }
    }
  } else {
    await run('create table test_changes (id bigint generated always as identity primary key)');
    await run(
      'create function test_change() returns trigger language plpgsql as $$ begin insert into test_changes default values; return null; end $$',
    );
    for (const table of tables) {
      await run(
        `create trigger test_change after insert or update or delete on ${table} for each row execute function test_change()`,
      );
    }
  }
  return async () => {
    const { rows } = await sql<{ count: number }>`select max(id) as count from test_changes`.execute(db);
    return Number(rows[0]?.count ?? 0);
  };
}
