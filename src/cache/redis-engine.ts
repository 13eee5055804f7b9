/** The cache in Redis or Valkey: shared by all nodes. Every entry is a key of its own that expires by itself. */
import { createHash } from 'node:crypto';
import type { Usage } from '../providers/provider.ts';
import type { CacheEngine, CacheEntry, CachePlace, PurgeScope } from './engine.ts';

/** The part of a connection that is needed here. */
export interface RedisCommands {
  /** Sends one command; `key` says which part of a cluster it goes to. */
  command(key: string, args: readonly string[]): Promise<unknown>;
}

interface Stored {
  body: string | null;
  stream: string | null;
  contentType: string;
  model: string;
  usage: Usage;
  cents: number | null;
}

const scanned = '500';

export function createRedisEngine(redis: RedisCommands): CacheEngine {
  return {
    async get(place) {
      const name = nameOf(place);
      const text = await redis.command(name, ['GET', name]);
      return typeof text === 'string' ? decoded(text) : null;
    },
    async set(place, entry, ttlSeconds) {
      const name = nameOf(place);
      await redis.command(name, ['SET', name, encoded(entry), 'EX', String(ttlSeconds)]);
    },
    async purge(scope) {
      const pattern = patternOf(scope);
      for (let cursor = '0'; ; ) {
        const [next, names] = pageOf(
          await redis.command(pattern, ['SCAN', cursor, 'MATCH', pattern, 'COUNT', scanned]),
        );
        for (const name of names) await redis.command(name, ['UNLINK', name]);
        if (next === '0') return;
        cursor = next;
      }
    },
    close: async () => undefined,
  };
}

/** A namespace is any text; its digest can stand in a pattern. */
const partition = (namespace: string): string =>
  namespace === '' ? '-' : createHash('sha256').update(namespace).digest('hex').slice(0, 32);

const nameOf = ({ workspaceId, namespace, key }: CachePlace): string =>
  `gw:cache:${workspaceId}:${partition(namespace)}:${key}`;

const patternOf = ({ workspaceId, namespace, key }: PurgeScope): string =>
  `gw:cache:${workspaceId}:${namespace === null ? '*' : partition(namespace)}:${key ?? '*'}`;

const base64 = (bytes: Uint8Array | null): string | null => bytes && Buffer.from(bytes).toString('base64');
const fromBase64 = (text: string | null): Uint8Array | null => (text === null ? null : Buffer.from(text, 'base64'));

const encoded = ({ body, stream, ...rest }: CacheEntry): string =>
  JSON.stringify({ ...rest, body: base64(body), stream: base64(stream) } satisfies Stored);

function decoded(text: string): CacheEntry | null {
  try {
    const { body, stream, ...rest }: Stored = JSON.parse(text);
    return { ...rest, body: fromBase64(body), stream: fromBase64(stream) };
  } catch {
    // Written by another release or by somebody else: a miss, and replaced by the answer.
    return null;
  }
}

function pageOf(answer: unknown): [cursor: string, names: string[]] {
  const [cursor, names] = Array.isArray(answer) ? answer : ['0', []];
  return [String(cursor), Array.isArray(names) ? names.map(String) : []];
}
