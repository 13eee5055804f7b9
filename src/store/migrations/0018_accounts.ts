/** Accounts: a password for each organisation that took it, proof of addresses, and links that set a password anew. */
import { sql } from 'kysely';
import type { Db } from '../database.ts';

export async function accounts(db: Db): Promise<void> {
  await db.schema
    .createTable('user_passwords')
    .addColumn('user_id', 'text', (c) => c.notNull().references('users.id'))
    .addColumn('organisation_id', 'text', (c) => c.notNull().references('organisations.id'))
    .addColumn('password_hash', 'text', (c) => c.notNull())
    .addColumn('last_updated_at', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('user_passwords_pk', ['user_id', 'organisation_id'])
    .execute();
  // A password of before opened every organisation of its person, and goes on doing so.
  await sql`insert into user_passwords (user_id, organisation_id, password_hash, last_updated_at)
    select member.user_id, member.organisation_id, person.password_hash, person.last_updated_at
    from organisation_members member join users person on person.id = member.user_id
    where person.password_hash is not null`.execute(db);
  await sql`alter table users drop column password_hash`.execute(db);
  await sql`alter table users add column email_proven_at text`.execute(db);
  await sql`alter table sessions add column password_hash text`.execute(db);

  await db.schema
    .createTable('password_resets')
    .addColumn('token_digest', 'text', (c) => c.primaryKey())
    .addColumn('user_id', 'text', (c) => c.notNull().references('users.id'))
    .addColumn('organisation_id', 'text', (c) => c.notNull().references('organisations.id'))
    .addColumn('created_by', 'text', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('expires_at', 'text', (c) => c.notNull())
    .execute();
  await db.schema
    .createIndex('password_resets_user')
    .on('password_resets')
    .columns(['user_id', 'organisation_id'])
    .execute();
}
