/** The address of Redis or Valkey, in its parts. */

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
  if (userinfo !== undefined && /%(?![0-9a-f]{2})/i.test(userinfo)) return null;
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
  const port = Number(match?.[2] ?? defaultPort);
  return match?.[1] && port <= 65_535 ? { host: match[1].replace(/^\[|\]$/g, ''), port } : null;
}

function credentialsOf(userinfo: string): [string | null, string | null] {
  const colon = userinfo.indexOf(':');
  if (colon === -1) return [null, decodeURIComponent(userinfo)];
  return [decodeURIComponent(userinfo.slice(0, colon)) || null, decodeURIComponent(userinfo.slice(colon + 1))];
}
