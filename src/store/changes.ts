/** Change notices: who keeps a copy of saved state hears what changed, in this process at once and on other nodes of one PostgreSQL within a second. */
import { sql } from 'kysely';
import { Client } from 'pg';
import type { Db, Store } from './database.ts';

export interface Change {
  /** `catalog`: what the gateway may use in the workspace with this id, or in every workspace of the organisation with this id. */
  topic:
    | 'organisation'
    | 'workspace'
    | 'user'
    | 'api_key'
    | 'catalog'
    | 'cache'
    | 'mcp_connection'
    | 'mcp_session'
    | 'oauth_grant'
    | 'limit';
  /** Of a `limit`: the organisation, the epoch at which its counter starts anew, and the counter, with bars between them. */
  id: string;
}

/** `all`: notices may have been missed, so every copy is suspect. */
export type ChangeListener = (changes: readonly Change[] | 'all') => void;

export interface ChangeFeed {
  subscribe(listener: ChangeListener): void;
  /** Tells the other nodes when the transaction of `tx` commits. */
  publish(tx: Db, changes: readonly Change[]): Promise<void>;
  /** Tells this process; called after the commit. */
  announce(changes: readonly Change[]): void;
  /** False while notices from other nodes may be lost: copies must not be trusted. */
  readonly live: boolean;
  close(): Promise<void>;
}

const channel = 'gw_changes';
/** PostgreSQL refuses a notice of 8,000 bytes or more; a change is about 70. */
const changesPerNotice = 80;
const reconnectDelayMs = 500;
const closingPatienceMs = 2_000;
const heartbeatMs = 2_000;
const heartbeatTimeoutMs = 3_000;

export async function openChangeFeed(store: Store, warn: (message: string) => void): Promise<ChangeFeed> {
  const listeners: ChangeListener[] = [];
  const announce = (changes: readonly Change[] | 'all') => {
    for (const listener of listeners) listener(changes);
  };
  if (store.address.engine === 'sqlite') {
    return {
      subscribe: (listener) => void listeners.push(listener),
      publish: async () => undefined,
      announce,
      live: true,
      close: async () => undefined,
    };
  }
  const subscription = listen(store.address.url, announce, warn);
  await subscription.started;
  return {
    subscribe: (listener) => void listeners.push(listener),
    async publish(tx, changes) {
      for (let start = 0; start < changes.length; start += changesPerNotice) {
        const payload = JSON.stringify(changes.slice(start, start + changesPerNotice));
        await sql`select pg_notify(${channel}, ${payload})`.execute(tx);
      }
    },
    announce,
    get live() {
      return subscription.live();
    },
    close: subscription.close,
  };
}

function listen(url: string, announce: (changes: readonly Change[] | 'all') => void, warn: (message: string) => void) {
  let live = false;
  let closed = false;
  let client: Client | undefined;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let heartbeat: ReturnType<typeof setInterval> | undefined;

  const lost = (reason: string) => {
    if (closed || retry) return;
    clearInterval(heartbeat);
    live = false;
    announce('all');
    warn(`Change notices from PostgreSQL are interrupted (${reason}); reading the database directly and reconnecting.`);
    client?.removeAllListeners();
    client?.on('error', () => undefined);
    void client?.end().catch(() => undefined);
    retry = setTimeout(() => {
      retry = undefined;
      void connect();
    }, reconnectDelayMs);
  };

  const connect = async () => {
    const current = new Client({
      connectionString: url,
      connectionTimeoutMillis: 5000,
      keepAlive: true,
      query_timeout: heartbeatTimeoutMs,
    });
    client = current;
    client.on('error', (error) => lost(error.message));
    client.on('end', () => lost('connection closed'));
    client.on('notification', (message) => {
      if (message.payload) announce(JSON.parse(message.payload) as Change[]);
    });
    try {
      await client.connect();
      await client.query(`listen ${channel}`);
      live = true;
      announce('all');
      // A line that carries nothing looks like one on which there is nothing to tell.
      heartbeat = setInterval(() => {
        current.query('select 1').catch((error: Error) => {
          if (client === current) lost(error.message);
        });
      }, heartbeatMs);
    } catch (error) {
      lost(error instanceof Error ? error.message : String(error));
    }
  };

  return {
    started: connect(),
    live: () => live,
    async close() {
      closed = true;
      clearTimeout(retry);
      clearInterval(heartbeat);
      await Promise.race([client?.end(), Bun.sleep(closingPatienceMs)]);
    },
  };
}
