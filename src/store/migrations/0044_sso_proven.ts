/** When somebody first came in by the present identity provider: a new secret or other scopes do not undo it. */
import type { Db } from '../database.ts';

export async function ssoProven(db: Db): Promise<void> {
  await db.schema.alterTable('auth_settings').addColumn('sso_proven_at', 'text').execute();
  await db
    .updateTable('auth_settings')
    .set((row) => ({ sso_proven_at: row.ref('sso_verified_at') }))
    .execute();
}
