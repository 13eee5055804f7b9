/** Connects to Redis or Valkey: one server, a cluster or behind sentinels, with TLS and password, by one address. */
import { createClient, createCluster, createSentinel } from '@redis/client';
import { parseRedisUrl } from './address.ts';

export interface Redis {
  /** Sends one command; `key` says which part of a cluster it goes to. Fails at once while there is no connection. */
  command(key: string, args: readonly string[]): Promise<unknown>;
  close(): Promise<void>;
}

const connectTimeoutMs = 2_000;
const longestPauseMs = 1_000;

/** The connection is made in the background and made again when it is lost; `onFault` hears why it is not there. */
export function connectRedis(url: string, onFault: (fault: Error) => void): Redis {
  const address = parseRedisUrl(url);
  if (!address) throw new Error('REDIS_URL is no address of Redis; see docs/limits.md');
  const credentials = {
    ...(address.username !== null && { username: address.username }),
    ...(address.password !== null && { password: address.password }),
  };
  const socket = {
    connectTimeout: connectTimeoutMs,
    reconnectStrategy: (attempts: number) => Math.min(50 * 2 ** Math.min(attempts, 5), longestPauseMs),
    ...(address.tls && { tls: true as const }),
  };
  // What cannot be sent now must fail now: the caller has a policy for it, and a queue would only make it late.
  const common = { disableOfflineQueue: true, socket, ...credentials };
  const [first] = address.hosts;
  if (!first) throw new Error('REDIS_URL names no host');
  if (address.form === 'cluster') {
    const cluster = createCluster({
      rootNodes: address.hosts.map(({ host, port }) => ({ socket: { ...socket, host, port } })),
      defaults: common,
    });
    cluster.on('error', onFault);
    cluster.connect().catch(onFault);
    return {
      command: (key, args) => cluster.sendCommand(key, false, [...args]),
      close: async () => cluster.destroy(),
    };
  }
  if (address.form === 'sentinel') {
    const sentinel = createSentinel({
      name: address.master,
      sentinelRootNodes: address.hosts.map(({ host, port }) => ({ host, port })),
      nodeClientOptions: common,
    });
    sentinel.on('error', onFault);
    sentinel.connect().catch(onFault);
    return {
      command: (_key, args) => sentinel.sendCommand(false, [...args]),
      close: async () => sentinel.destroy(),
    };
  }
  const client = createClient({
    ...common,
    socket: { ...socket, host: first.host, port: first.port },
    database: address.database,
  });
  client.on('error', onFault);
  client.connect().catch(onFault);
  return {
    command: (_key, args) => client.sendCommand([...args]),
    close: async () => client.destroy(),
  };
}
