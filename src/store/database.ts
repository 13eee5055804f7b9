/** Opens the state store: SQLite in the data folder, or PostgreSQL when DATABASE_URL is set. The same queries run on both. */
import { Kysely, PostgresDialect, type Transaction } from 'kysely';
import { Pool, types } from 'pg';
import type { Schema } from './schema.ts';
import { sqliteDialect } from './sqlite.ts';

export type Db = Kysely<Schema>;
export type Tx = Transaction<Schema>;

export type StoreAddress = { engine: 'sqlite'; file: string } | { engine: 'postgres'; url: string };

export interface Store {
  readonly engine: StoreAddress['engine'];
  readonly address: StoreAddress;
  readonly db: Db;
  /** Runs `work` so that it happens wholly or not at all, as if no other write ran beside it. */
  atomically<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

const bigintOid = 20;
// Counts arrive as strings otherwise; none here comes near 2^53.
types.setTypeParser(bigintOid, Number);

export function openStore(address: StoreAddress): Store {
  const dialect =
    address.engine === 'sqlite'
      ? sqliteDialect(address.file)
      : new PostgresDialect({
          pool: new Pool({ connectionString: address.url, max: 10, connectionTimeoutMillis: 5000 }),
        });
  const db = new Kysely<Schema>({ dialect });
  return {
    engine: address.engine,
    address,
    db,
    atomically: (work) => (address.engine === 'sqlite' ? db.transaction().execute(work) : serializably(db, work)),
    close: () => db.destroy(),
  };
}

const serializationFailure = '40001';
const deadlock = '40P01';
const retries = 8;

/** PostgreSQL refuses a transaction that could not have run alone; running it again is the documented answer. */
async function serializably<T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await db.transaction().setIsolationLevel('serializable').execute(work);
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      const lostRace = code === serializationFailure || code === deadlock;
      if (!lostRace || attempt >= retries) throw error;
    }
  }
}
