/** Connections to PostgreSQL that give up on a server that went silent, instead of waiting for it forever. */
import {
  type Dialect,
  type PostgresCursor,
  PostgresDialect,
  type PostgresPool,
  type PostgresPoolClient,
  type PostgresQueryResult,
} from 'kysely';
import { Pool, type PoolClient, types } from 'pg';
import { isSilence } from './unavailable.ts';

/** No statement of a call comes near this; `query_timeout` in the address says otherwise. */
const answerTimeoutMs = 10_000;
const connectTimeoutMs = 5_000;
const closingPatienceMs = 2_000;

/**
 * The server's default speaks of spinning disks, and makes it read whole tables where an index has the answer. Helpers and
 * compiled plans take longer to start than anything here takes to run.
 */
const planForMemory = 'set random_page_cost = 1.1; set max_parallel_workers_per_gather = 0; set jit = off';

const bigintOid = 20;
// Counts arrive as strings otherwise; none here comes near 2^53.
types.setTypeParser(bigintOid, Number);

/** `unhurried`: for work that may take as long as it takes, such as a migration. */
export function postgresDialect(url: string, { unhurried = false } = {}): Dialect {
  const pool = new Pool({
    connectionString: url,
    max: 10,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    ...(unhurried ? {} : { query_timeout: answerTimeoutMs }),
  });
  // A server that restarts ends connections that nobody waits for; unheard, that news would end this program too.
  // Whoever does wait hears it from the query, and the pool replaces the connection.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return new PostgresDialect({ pool: forsaking(pool) });
}

/** A pool that throws away the connections on which an answer did not come: the next statement would only queue behind it. */
function forsaking(pool: Pool): PostgresPool {
  const known = new WeakMap<PoolClient, PostgresPoolClient>();
  return {
    async connect() {
      const client = await pool.connect();
      const guarded = known.get(client) ?? guard(client);
      if (!known.has(client)) {
        try {
          await guarded.query(planForMemory, []);
        } catch (error) {
          client.release(true);
          throw error;
        }
        known.set(client, guarded);
      }
      return guarded;
    },
    // A silent server does not say good-bye either.
    end: () => Promise.race([pool.end(), Bun.sleep(closingPatienceMs)]),
  };
}

function guard(client: PoolClient): PostgresPoolClient {
  const line: PostgresPoolClient = client;
  let silence: unknown;
  function query<R>(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>>;
  function query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>;
  function query<R>(
    asked: string | PostgresCursor<R>,
    parameters: readonly unknown[] = [],
  ): Promise<PostgresQueryResult<R>> | PostgresCursor<R> {
    if (typeof asked !== 'string') throw new Error('Streaming queries are not used on PostgreSQL');
    if (silence !== undefined) return Promise.reject(silence);
    return line.query<R>(asked, parameters).catch((error: unknown) => {
      if (isSilence(error)) silence = error;
      throw error;
    });
  }
  return { query, release: () => client.release(silence !== undefined) };
}
