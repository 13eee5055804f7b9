/** The id of the installation: the same for every node that shares this store. */
import type { Db } from '../database.ts';

export async function installation(db: Db): Promise<void> {
  await db.schema
    .createTable('installation')
    .addColumn('id', 'integer', (c) => c.primaryKey())
    .addColumn('name', 'text', (c) => c.notNull())
    .execute();
}
