/** Prices that are newer than the release. */
import type { Db } from '../database.ts';

export async function prices(db: Db): Promise<void> {
  await db.schema
    .createTable('price_files')
    .addColumn('name', 'text', (c) => c.primaryKey())
    .addColumn('content', 'text', (c) => c.notNull())
    .addColumn('revision', 'text', (c) => c.notNull())
    .addColumn('updated_at', 'text', (c) => c.notNull())
    .execute();
}
