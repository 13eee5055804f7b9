/** What is kept of an answer, and where: one interface for memory and Redis. */
import type { MaybePromise } from '../maybe-promise.ts';
import type { Usage } from '../providers/provider.ts';

export interface CachePlace {
  workspaceId: string;
  /** The client's own partition; empty where it named none. */
  namespace: string;
  /** A digest of everything that the answer depends on. */
  key: string;
}

export interface CacheEntry {
  /** The whole answer; null where only a stream of it was seen. */
  body: Uint8Array | null;
  /** The answer as it was streamed; null where it was not. */
  stream: Uint8Array | null;
  contentType: string;
  model: string;
  usage: Usage;
  /** What the call cost, in US cents; null where nobody knows. */
  cents: number | null;
}

/** Which entries are to go: those of a workspace, of one of its namespaces, or a single one. */
export interface PurgeScope {
  workspaceId: string;
  namespace: string | null;
  key: string | null;
}

export interface CacheEngine {
  get(place: CachePlace): MaybePromise<CacheEntry | null>;
  set(place: CachePlace, entry: CacheEntry, ttlSeconds: number): MaybePromise<void>;
  purge(scope: PurgeScope): MaybePromise<void>;
  close(): Promise<void>;
}

/** Larger answers are not kept. */
export const largestEntry = 10 * 1024 * 1024;

export const sizeOf = ({ body, stream }: CacheEntry): number => (body?.length ?? 0) + (stream?.length ?? 0);
