/** Connects to Redis or Valkey: one server, a cluster or behind sentinels, with TLS and password, by one address. */
import { createCluster, createSentinel } from '@redis/client';
import { parseRedisUrl } from './address.ts';
import type { Redis } from './redis.ts';
import { connectSingleServer } from './single-server.ts';

const connectTimeoutMs = 2_000;
const longestPauseMs = 1_000;

const pauseMs = (attempt: number): number => Math.min(50 * 2 ** Math.min(attempt, 5), longestPauseMs);

/** The connection is made in the background and made again when it is lost; `onFault` hears why it is not there. */
export function connectRedis(url: string, onFault: (fault: Error) => void): Redis {
  const address = parseRedisUrl(url);
  if (!address) throw new Error('REDIS_URL is no address of Redis; see docs/limits.md');
  if (address.form === 'single') return connectSingleServer(address, { connectTimeoutMs, pauseMs, onFault });
  const credentials = {
    ...(address.username !== null && { username: address.username }),
    ...(address.password !== null && { password: address.password }),
  };
  const socket = {
    connectTimeout: connectTimeoutMs,
    reconnectStrategy: pauseMs,
    ...(address.tls && { tls: true as const }),
  };
  // What cannot be sent now must fail now: the caller has a policy for it, and a queue would only make it late.
  const common = { disableOfflineQueue: true, socket, ...credentials };
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
