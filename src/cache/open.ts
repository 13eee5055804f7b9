/** Opens the cache of this node, and keeps it in step with the purges of all. */
import { throttled } from '../log.ts';
import { connectRedis } from '../redis/connect.ts';
import type { ChangeFeed } from '../store/changes.ts';
import { createCache, type ResponseCache } from './cache.ts';
import { createMemoryEngine } from './memory-engine.ts';
import { purgesIn } from './purge.ts';
import { createRedisEngine } from './redis-engine.ts';
import { SharedIndex } from './semantic/shared-index.ts';
import { ThreadedIndex } from './semantic/threaded-index.ts';

interface CacheNeeds {
  /** Answers are kept here and shared by all nodes; null: in the memory of this one. */
  redisUrl: string | null;
  memoryBytes: number;
  /** Questions that the semantic index keeps for each workspace. */
  semanticEntries: number;
  /** How long a request waits to be told of a hit. */
  timeoutMs: number;
  now(): number;
  feed: ChangeFeed;
  warn(message: string): void;
}

export function openCache(needs: CacheNeeds): ResponseCache {
  const { redisUrl, memoryBytes, semanticEntries, timeoutMs, now, feed, warn } = needs;
  const told = throttled(warn);
  const local = new ThreadedIndex({ mostPerWorkspace: semanticEntries, timeoutMs, warn: told });
  const redis =
    redisUrl && connectRedis(redisUrl, (fault) => told(`The cache in Redis cannot be reached (${fault.message}).`));
  const cache = redis
    ? createCache(
        { ...createRedisEngine(redis), close: () => redis.close() },
        new SharedIndex({
          redis,
          local,
          nodeId: Bun.randomUUIDv7(),
          mostPerWorkspace: semanticEntries,
          timeoutMs,
          now,
          warn: told,
        }),
        timeoutMs,
        told,
      )
    : createCache(createMemoryEngine(memoryBytes, now), local, timeoutMs, told);
  feed.subscribe((changes) => {
    if (changes === 'all') return;
    for (const scope of purgesIn(changes)) {
      cache.purge(scope).catch(() => warn('Cached answers could not be purged; they expire by themselves.'));
    }
  });
  return cache;
}
