/** What the JWT that ordered a batch has granted, so that any node can run it. */
import type { Db } from '../database.ts';

export async function batchTokens(db: Db): Promise<void> {
  await db.schema.alterTable('managed_batches').addColumn('token_grant', 'text').execute();
}
