/** A digest of everything the store keeps, to tell whether a call that was refused changed anything. */
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Store } from '../src/store/database.ts';

/** Tables that a refused call may write: the trail of it and the note of that, the sessions of those who called, and who runs the jobs. */
const apart = new Set(['audit_logs', 'audit_log_changes', 'sessions', 'leases']);

export async function createDigest({ db }: Store): Promise<() => Promise<string>> {
  const tables = (await db.introspection.getTables()).map((table) => table.name).filter((name) => !apart.has(name));
  return async () => {
    const contents = await Promise.all(
      tables.map(async (table) => {
        const { rows } = await sql`select * from ${sql.table(table)}`.execute(db);
        return [table, ...rows.map((row) => JSON.stringify(row)).sort()].join('\n');
      }),
    );
    return createHash('sha256').update(contents.join('\n')).digest('hex');
  };
}
