/** Opens the state store: SQLite in the data folder, or PostgreSQL when DATABASE_URL is set. The same queries run on both. */
import { Kysely, type Transaction } from 'kysely';
import { postgresDialect } from './postgres.ts';
import type { Schema } from './schema.ts';
import { sqliteDialect } from './sqlite.ts';

export type Db = Kysely<Schema>;
type Tx = Transaction<Schema>;

export type StoreAddress = { engine: 'sqlite'; file: string } | { engine: 'postgres'; url: string };

export interface Store {
  readonly engine: StoreAddress['engine'];
  readonly address: StoreAddress;
  readonly db: Db;
  /** Runs `work` so that it happens wholly or not at all, as if no other write ran beside it. */
  atomically<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export function openStore(address: StoreAddress): Store {
  const dialect = address.engine === 'sqlite' ? sqliteDialect(address.file) : postgresDialect(address.url);
  const db = new Kysely<Schema>({ dialect });
  const losers = new Turns();
  return {
    engine: address.engine,
    address,
    db,
    atomically: (work) =>
      address.engine === 'sqlite' ? db.transaction().execute(work) : serializably(db, losers, work),
    close: () => db.destroy(),
  };
}

const serializationFailure = '40001';
const deadlock = '40P01';
/** Two that insert the same at once both saw nothing; the one that runs again sees the other, and refuses in words. */
const uniqueViolation = '23505';
const lostRaces: Record<string, number> = { [serializationFailure]: 24, [deadlock]: 24, [uniqueViolation]: 3 };
const longestPauseMs = 250;
/** Who lost so often waits for a turn: a crowd that runs at once on one row lets hardly anyone through. */
const racesAtOnce = 3;

/** PostgreSQL refuses a transaction that could not have run alone; running it again is the documented answer. */
async function serializably<T>(db: Db, losers: Turns, work: (tx: Tx) => Promise<T>): Promise<T> {
  const run = () => db.transaction().setIsolationLevel('serializable').execute(work);
  for (let attempt = 1; ; attempt++) {
    try {
      return await (attempt <= racesAtOnce ? run() : losers.take(run));
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : '';
      if (attempt >= (lostRaces[code] ?? 1)) throw error;
      // Losers that start again together would meet again; chance takes them apart.
      await Bun.sleep(Math.random() * Math.min(2 ** attempt, longestPauseMs));
    }
  }
}

/** Runs one at a time, in the order of asking. */
class Turns {
  #last: Promise<unknown> = Promise.resolve();

  take<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    // How a turn ended is its own caller's business.
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}
