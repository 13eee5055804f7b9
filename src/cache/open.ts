/** Opens the cache of this node, and keeps it in step with the purges of all. */
import { throttled } from '../log.ts';
import { connectRedis } from '../redis/connect.ts';
import type { ChangeFeed } from '../store/changes.ts';
import { createCache, patienceMs, type ResponseCache } from './cache.ts';
import type { CacheEngine } from './engine.ts';
import { createMemoryEngine } from './memory-engine.ts';
import { purgesIn } from './purge.ts';
import { createRedisEngine } from './redis-engine.ts';
import { ThreadedIndex } from './semantic/threaded-index.ts';

interface CacheNeeds {
  /** Answers are kept here and shared by all nodes; null: in the memory of this one. */
  redisUrl: string | null;
  memoryBytes: number;
  /** Questions that the semantic index keeps for each workspace. */
  semanticEntries: number;
  now(): number;
  feed: ChangeFeed;
  warn(message: string): void;
}

export function openCache({ redisUrl, memoryBytes, semanticEntries, now, feed, warn }: CacheNeeds): ResponseCache {
  const told = throttled(warn);
  const engine = redisUrl === null ? createMemoryEngine(memoryBytes, now) : openRedisEngine(redisUrl, told);
  const index = new ThreadedIndex({ mostPerWorkspace: semanticEntries, patienceMs, warn: told });
  const cache = createCache(engine, index, told);
  feed.subscribe((changes) => {
    if (changes === 'all') return;
    for (const scope of purgesIn(changes)) {
      cache.purge(scope).catch(() => warn('Cached answers could not be purged; they expire by themselves.'));
    }
  });
  return cache;
}

function openRedisEngine(url: string, warn: (message: string) => void): CacheEngine {
  const redis = connectRedis(url, (fault) => warn(`The cache in Redis cannot be reached (${fault.message}).`));
  return { ...createRedisEngine(redis), close: () => redis.close() };
}
