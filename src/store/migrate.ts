/** Brings the state store to this program's version, once, however many nodes start together. */
import { Kysely, sql } from 'kysely';
import type { Db, Store } from './database.ts';
import { migrations } from './migrations/index.ts';
import { postgresDialect } from './postgres.ts';
import type { Schema } from './schema.ts';

export class NewerSchemaError extends Error {
  constructor(found: number, known: number) {
    super(
      `The database is at schema version ${found}, but this program knows only up to ${known}. Start a newer release of gw, or restore a backup made before the upgrade.`,
    );
  }
}

export interface MigrationReport {
  from: number;
  to: number;
}

const migrationLock = 7_270_318;

export async function migrate({ address, db }: Store, now: Date): Promise<MigrationReport> {
  if (address.engine === 'sqlite') return migrateOn(db, 'sqlite', now);
  // Filling a new index, or waiting for another node that does, may take longer than any call should.
  const patient = new Kysely<Schema>({ dialect: postgresDialect(address.url, { unhurried: true }) });
  try {
    return await migrateOn(patient, 'postgres', now);
  } finally {
    await patient.destroy();
  }
}

function migrateOn(db: Db, engine: Store['engine'], now: Date): Promise<MigrationReport> {
  return db.transaction().execute(async (tx) => {
    // SQLite transactions lock for writing from their start; PostgreSQL needs to be told.
    if (engine === 'postgres') await sql`select pg_advisory_xact_lock(${migrationLock})`.execute(tx);
    await tx.schema
      .createTable('schema_migrations')
      .ifNotExists()
      .addColumn('version', 'integer', (c) => c.primaryKey())
      .addColumn('name', 'text', (c) => c.notNull())
      .addColumn('applied_at', 'text', (c) => c.notNull())
      .execute();
    const found = await tx
      .selectFrom('schema_migrations')
      .select((eb) => eb.fn.max('version').as('version'))
      .executeTakeFirst();
    const from = found?.version ?? 0;
    if (from > migrations.length) throw new NewerSchemaError(from, migrations.length);
    for (const [index, migration] of migrations.entries()) {
      if (index < from) continue;
      await migration.up(tx, engine);
      await tx
        .insertInto('schema_migrations')
        .values({ version: index + 1, name: migration.name, applied_at: now.toISOString() })
        .execute();
    }
    return { from, to: migrations.length };
  });
}
