/** Kysely on Bun's own SQLite: one connection, write-ahead log, transactions that lock for writing from their start. */
import { Database, SQLiteError, type SQLQueryBindings } from 'bun:sqlite';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';

/** At the start nobody else waits for this program yet. */
const startTimeoutMs = 5_000;
const pageCacheKilobytes = 16_384;
const busyTimeoutMs = 5;
const lockPauseMs = 20;
const lockAttempts = 250;

export function sqliteDialect(file: string): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new BunSqliteDriver(file),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

class BunSqliteDriver implements Driver {
  readonly #file: string;
  #database: Database | undefined;
  #connection: BunSqliteConnection | undefined;
  /** The end of the queue for the one connection: a transaction holds it until it ends. */
  #tail: Promise<void> = Promise.resolve();
  #release: () => void = () => undefined;

  constructor(file: string) {
    this.#file = file;
  }

  async init(): Promise<void> {
    const database = new Database(this.#file, { create: true, strict: false });
    database.run(`PRAGMA busy_timeout = ${startTimeoutMs}`);
    database.run('PRAGMA journal_mode = WAL');
    // An acknowledged administrative write survives a power cut as well as a kill.
    database.run('PRAGMA synchronous = FULL');
    database.run('PRAGMA foreign_keys = ON');
    // The default of 2 MB is less than one index of a large organisation, which would be read anew for every list.
    database.run(`PRAGMA cache_size = -${pageCacheKilobytes}`);
    database.run(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    this.#database = database;
    this.#connection = new BunSqliteConnection(database);
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    const previous = this.#tail;
    let free: () => void = () => undefined;
    this.#tail = new Promise((resolve) => {
      free = resolve;
    });
    await previous;
    this.#release = free;
    if (!this.#connection) throw new Error('The SQLite database is closed');
    return this.#connection;
  }

  async releaseConnection(): Promise<void> {
    this.#release();
  }

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    // Waiting inside SQLite blocks the whole program, so the long wait for another process happens out here,
    // and the connection is lent to readers meanwhile: they need no lock.
    for (let attempt = 1; ; attempt++) {
      try {
        await connection.executeQuery(CompiledQuery.raw('begin immediate'));
        return;
      } catch (error) {
        const busy = error instanceof SQLiteError && error.code === 'SQLITE_BUSY';
        if (!busy || attempt >= lockAttempts) throw error;
        this.#release();
        await Bun.sleep(lockPauseMs);
        await this.acquireConnection();
      }
    }
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('commit'));
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    // A full disk ends the transaction by itself; that is the fault to tell, not that there is nothing left to undo.
    if (!this.#database?.inTransaction) return;
    await connection.executeQuery(CompiledQuery.raw('rollback'));
  }

  async destroy(): Promise<void> {
    await this.#tail;
    this.#connection = undefined;
    this.#database?.close();
  }
}

class BunSqliteConnection implements DatabaseConnection {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const statement = this.#database.query<R, SQLQueryBindings[]>(query.sql);
    const parameters = query.parameters as SQLQueryBindings[];
    if (statement.columnNames.length > 0) return { rows: statement.all(...parameters) };
    const { changes, lastInsertRowid } = statement.run(...parameters);
    return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
  }

  // biome-ignore lint/correctness/useYield: nothing here reads more rows than a page, so there is nothing to stream.
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('Streaming queries are not used on SQLite');
  }
}
