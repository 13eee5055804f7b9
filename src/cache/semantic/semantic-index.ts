/** Where the questions of the semantic cache are kept and the nearest one is found. */
import type { MaybePromise } from '../../maybe-promise.ts';
import type { CachePlace, PurgeScope } from '../engine.ts';

export interface Neighbour {
  place: CachePlace;
  /** The cosine of the two vectors. */
  similarity: number;
}

export interface SemanticIndex {
  /** The nearest question of the partition that still counts; null when there is none, or nobody said so in time. */
  nearest(workspaceId: string, partition: string, vector: Float32Array): MaybePromise<Neighbour | null>;
  /** Happens beside the request; nobody waits for it. */
  add(partition: string, vector: Float32Array, place: CachePlace, ttlSeconds: number): void;
  purge(scope: PurgeScope): void;
  close(): Promise<void>;
}
