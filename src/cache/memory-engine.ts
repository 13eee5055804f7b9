/** The cache in memory: bounded in bytes; what was used longest ago is evicted first. */
import { type CacheEngine, type CacheEntry, type CachePlace, type PurgeScope, sizeOf } from './engine.ts';

interface Held {
  place: CachePlace;
  entry: CacheEntry;
  bytes: number;
  expiresAt: number;
}

/** What an entry costs besides its bytes. */
const overhead = 512;

export function createMemoryEngine(capacityBytes: number, now: () => number): CacheEngine {
  /** In the order of use, the longest unused first. */
  const held = new Map<string, Held>();
  let bytes = 0;

  const drop = (name: string, one: Held) => {
    held.delete(name);
    bytes -= one.bytes;
  };

  return {
    get(place) {
      const name = nameOf(place);
      const found = held.get(name);
      if (!found) return null;
      if (found.expiresAt <= now()) {
        drop(name, found);
        return null;
      }
      held.delete(name);
      held.set(name, found);
      return found.entry;
    },
    set(place, entry, ttlSeconds) {
      const name = nameOf(place);
      const old = held.get(name);
      if (old) drop(name, old);
      const size = sizeOf(entry) + overhead;
      if (size > capacityBytes) return;
      held.set(name, { place, entry, bytes: size, expiresAt: now() + ttlSeconds * 1000 });
      bytes += size;
      for (const [oldest, one] of held) {
        if (bytes <= capacityBytes) break;
        drop(oldest, one);
      }
    },
    purge(scope) {
      for (const [name, one] of held) if (isIn(scope, one.place)) drop(name, one);
    },
    async close() {
      held.clear();
      bytes = 0;
    },
  };
}

const nameOf = ({ workspaceId, namespace, key }: CachePlace): string => `${workspaceId} ${key} ${namespace}`;

const isIn = ({ workspaceId, namespace, key }: PurgeScope, place: CachePlace): boolean =>
  place.workspaceId === workspaceId &&
  (namespace === null || place.namespace === namespace) &&
  (key === null || place.key === key);
