/** One Redis server, over the client that the runtime brings: with limits on every level a call costs two thirds of what it costs over `@redis/client`, which is used for clusters and sentinels. */
import type { RedisAddress } from './address.ts';
import type { Redis } from './redis.ts';

/** A connection whose other end has gone without a word is noticed by its silence. */
const pingEveryMs = 5_000;
const longestSilenceMs = 15_000;

interface SingleServerOptions {
  connectTimeoutMs: number;
  /** How long to wait before this attempt to connect again. */
  pauseMs(attempt: number): number;
  onFault(fault: Error): void;
}

export function connectSingleServer(address: RedisAddress, options: SingleServerOptions): Redis {
  const { connectTimeoutMs, pauseMs, onFault } = options;
  const client = new Bun.RedisClient(urlOf(address), {
    connectionTimeout: connectTimeoutMs,
    idleTimeout: longestSilenceMs,
    enableOfflineQueue: false,
    autoReconnect: false,
  });
  let attempts = 0;
  let isClosed = false;
  let retry: ReturnType<typeof setTimeout> | undefined;

  function connect(): void {
    client.connect().then(
      () => {
        attempts = 0;
      },
      // `onclose` is told of the same and tries again.
      () => undefined,
    );
  }

  client.onclose = (fault) => {
    if (isClosed) return;
    onFault(new Error(`${fault.message}; if it lasts, check address, password and TLS of REDIS_URL`));
    clearTimeout(retry);
    retry = setTimeout(connect, pauseMs(attempts++));
  };
  const pings = setInterval(() => {
    // A ping that fails closes the connection, which is told above.
    if (client.connected) client.send('PING', []).catch(() => undefined);
  }, pingEveryMs);
  connect();
  return {
    command: (_key, [name = '', ...args]) => client.send(name, args),
    async close() {
      isClosed = true;
      clearTimeout(retry);
      clearInterval(pings);
      client.close();
    },
  };
}

function urlOf({ tls, username, password, hosts, database }: RedisAddress): string {
  const [first] = hosts;
  if (!first) throw new Error('REDIS_URL names no host');
  const host = first.host.includes(':') ? `[${first.host}]` : first.host;
  const credentials = password === null ? '' : `${encodeURIComponent(username ?? '')}:${encodeURIComponent(password)}@`;
  return `${tls ? 'rediss' : 'redis'}://${credentials}${host}:${first.port}/${database}`;
}
