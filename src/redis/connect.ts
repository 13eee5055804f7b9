/** Connects to Redis or Valkey: one server, a cluster or behind sentinels, with TLS and password, by one address. */
import { createClient, createCluster, createSentinel } from '@redis/client';

export interface Redis {
  /** Sends one command; `key` says which part of a cluster it goes to. Fails at once while there is no connection. */
  command(key: string, args: readonly string[]): Promise<unknown>;
  close(): Promise<void>;
}

/** The address in its parts: `redis[s]://user:password@host:port/0`, `redis[s]+cluster://h1:p1,h2:p2`, `redis[s]+sentinel://h1:p1,h2:p2/master-name`. */
export interface RedisAddress {
  form: 'single' | 'cluster' | 'sentinel';
  tls: boolean;
  username: string | null;
  password: string | null;
  hosts: readonly { host: string; port: number }[];
  /** The number of the database. */
  database: number;
  /** The name that sentinels know the master by. */
  master: string;
}

const pattern = /^redis(s?)(?:\+(cluster|sentinel))?:\/\/(?:([^@/]*)@)?([^/?]+)(?:\/([^?]*))?$/;

/** Null when it is no address of Redis. */
export function parseRedisUrl(url: string): RedisAddress | null {
  const match = pattern.exec(url);
  if (!match) return null;
  const [, secure, kind, userinfo, hostList = '', path = ''] = match;
  const form = kind === 'cluster' || kind === 'sentinel' ? kind : 'single';
  const hosts = hostList.split(',').map((text) => hostOf(text, form === 'sentinel' ? 26_379 : 6_379));
  if (hosts.some((host) => host === null) || (form === 'single' && hosts.length > 1)) return null;
  if (form === 'single' && !/^\d*$/.test(path)) return null;
  const [username, password] = userinfo === undefined ? [null, null] : credentialsOf(userinfo);
  return {
    form,
    tls: secure === 's',
    username,
    password,
    hosts: hosts.filter((host) => host !== null),
    database: form === 'single' ? Number(path) : 0,
    master: form === 'sentinel' ? path || 'mymaster' : '',
  };
}

function hostOf(text: string, defaultPort: number): { host: string; port: number } | null {
  const match = /^(\[[0-9a-fA-F:]+\]|[^:\s]+)(?::(\d{1,5}))?$/.exec(text.trim());
  return match?.[1] ? { host: match[1].replace(/^\[|\]$/g, ''), port: Number(match[2] ?? defaultPort) } : null;
}

function credentialsOf(userinfo: string): [string | null, string | null] {
  const colon = userinfo.indexOf(':');
  if (colon === -1) return [null, decodeURIComponent(userinfo)];
  return [decodeURIComponent(userinfo.slice(0, colon)) || null, decodeURIComponent(userinfo.slice(colon + 1))];
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
