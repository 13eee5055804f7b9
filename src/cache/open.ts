/** Opens the cache of this node, and keeps it in step with the purges of all. */
import { throttled } from '../log.ts';
import type { ChangeFeed } from '../store/changes.ts';
import { createCache, type ResponseCache } from './cache.ts';
import { createMemoryEngine } from './memory-engine.ts';
import { purgesIn } from './purge.ts';

interface CacheNeeds {
  memoryBytes: number;
  now(): number;
  feed: ChangeFeed;
  warn(message: string): void;
}

export function openCache({ memoryBytes, now, feed, warn }: CacheNeeds): ResponseCache {
  const cache = createCache(createMemoryEngine(memoryBytes, now), throttled(warn));
  feed.subscribe((changes) => {
    if (changes === 'all') return;
    for (const scope of purgesIn(changes)) {
      cache.purge(scope).catch(() => warn('Cached answers could not be purged; they expire by themselves.'));
    }
  });
  return cache;
}
