/** The cache as the data plane uses it: a store that is slow, full or gone is a miss, never an error. */
import type { MaybePromise } from '../maybe-promise.ts';
import type { CacheEngine, CacheEntry, CachePlace, PurgeScope } from './engine.ts';
import type { SemanticIndex } from './semantic/semantic-index.ts';

export interface ResponseCache {
  /** Null when nothing is there, or nobody said so in time. */
  get(place: CachePlace): MaybePromise<CacheEntry | null>;
  /** Happens beside the request; nobody waits for it. */
  set(place: CachePlace, entry: CacheEntry, ttlSeconds: number): void;
  purge(scope: PurgeScope): Promise<void>;
  readonly semanticIndex: SemanticIndex;
  close(): Promise<void>;
}

export function createCache(
  engine: CacheEngine,
  semanticIndex: SemanticIndex,
  /** How long a request waits to be told of a hit. */
  timeoutMs: number,
  warn: (message: string) => void,
): ResponseCache {
  const told = (fault: unknown) =>
    warn(
      `The cache cannot be reached (${fault instanceof Error ? fault.message : String(fault)}); calls go on without it.`,
    );
  return {
    get(place) {
      const found = engine.get(place);
      return found instanceof Promise ? inTime(found, timeoutMs, told) : found;
    },
    set(place, entry, ttlSeconds) {
      const stored = engine.set(place, entry, ttlSeconds);
      if (stored instanceof Promise) stored.catch(told);
    },
    semanticIndex,
    async purge(scope) {
      semanticIndex.purge(scope);
      await engine.purge(scope);
    },
    async close() {
      await semanticIndex.close();
      await engine.close();
    },
  };
}

function inTime(
  reading: Promise<CacheEntry | null>,
  timeoutMs: number,
  told: (fault: unknown) => void,
): Promise<CacheEntry | null> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      told(new Error(`no answer within ${timeoutMs} ms`));
      resolve(null);
    }, timeoutMs);
    reading.then(
      (entry) => {
        clearTimeout(timer);
        resolve(entry);
      },
      (fault) => {
        clearTimeout(timer);
        told(fault);
        resolve(null);
      },
    );
  });
}
