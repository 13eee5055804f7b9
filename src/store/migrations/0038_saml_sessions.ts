/** By which name a SAML identity provider knows the person of a session, so that it can end it. */
import type { Db } from '../database.ts';

export async function samlSessions(db: Db): Promise<void> {
  await db.schema.alterTable('sessions').addColumn('sso_subject', 'text').execute();
  await db.schema.createIndex('sessions_sso_subject').on('sessions').columns(['sso_subject']).execute();
}
