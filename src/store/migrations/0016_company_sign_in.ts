/** Company sign-in: an organisation's rules for it, sign-ins that wait for their answer, and assertions that were used. */
import { sql } from 'kysely';
import type { Db } from '../database.ts';

export async function companySignIn(db: Db): Promise<void> {
  await db.schema
    .createTable('auth_settings')
    .addColumn('organisation_id', 'text', (c) => c.primaryKey().references('organisations.id'))
    .addColumn('login_method', 'text', (c) => c.notNull())
    .addColumn('disable_auto_provision_user', 'integer', (c) => c.notNull())
    .addColumn('jwt', 'text')
    .addColumn('sso', 'text')
    .addColumn('sso_client_id', 'text')
    .addColumn('sso_secrets_sealed', 'text')
    .addColumn('sso_verified_at', 'text')
    .addColumn('last_updated_at', 'text', (c) => c.notNull())
    .execute();
  await db.schema.createIndex('auth_settings_client').on('auth_settings').columns(['sso_client_id']).execute();

  await db.schema
    .createTable('sso_flows')
    .addColumn('state_digest', 'text', (c) => c.primaryKey())
    .addColumn('organisation_id', 'text', (c) => c.notNull().references('organisations.id'))
    .addColumn('payload_sealed', 'text', (c) => c.notNull())
    .addColumn('expires_at', 'text', (c) => c.notNull())
    .execute();
  await db.schema.createIndex('sso_flows_expiry').on('sso_flows').columns(['expires_at']).execute();

  await db.schema
    .createTable('sso_used_assertions')
    .addColumn('organisation_id', 'text', (c) => c.notNull().references('organisations.id'))
    .addColumn('assertion_digest', 'text', (c) => c.notNull())
    .addColumn('expires_at', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('sso_used_assertions_pk', ['organisation_id', 'assertion_digest'])
    .execute();
  await db.schema.createIndex('sso_used_assertions_expiry').on('sso_used_assertions').columns(['expires_at']).execute();

  await sql`alter table sessions add column sso_sealed text`.execute(db);
}
