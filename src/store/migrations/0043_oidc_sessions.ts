/** By which id an OpenID provider knows the session that opened ours, so that it can end it. */
import type { Db } from '../database.ts';

export async function oidcSessions(db: Db): Promise<void> {
  await db.schema.alterTable('sessions').addColumn('sso_session', 'text').execute();
  await db.schema.createIndex('sessions_sso_session').on('sessions').columns(['sso_session']).execute();
}
