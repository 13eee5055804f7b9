/** Finds the nearest question of a partition, in memory: a scan over signs picks candidates, which are then compared exactly. */
import type { CachePlace, PurgeScope } from './engine.ts';

export interface Neighbour {
  place: CachePlace;
  /** The cosine of the two vectors. */
  similarity: number;
}

export interface SemanticIndex {
  /** The nearest question of the partition that still counts; null when there is none. */
  nearest(workspaceId: string, partition: string, vector: Float32Array): Neighbour | null;
  add(partition: string, vector: Float32Array, place: CachePlace, ttlSeconds: number): void;
  purge(scope: PurgeScope): void;
}

interface Entry {
  vector: Float32Array;
  /** One bit for the sign of each dimension. */
  signs: Uint32Array;
  partition: string;
  place: CachePlace;
  expiresAt: number;
}

/** 6 kB each at 1,536 dimensions. */
const mostPerWorkspace = 5_000;
/** Fewer are compared exactly at once. */
const fewEntries = 64;
const candidates = 32;

export function createSemanticIndex(now: () => number): SemanticIndex {
  /** By workspace; of each, the entries in the order of use, the longest unused first. */
  const workspaces = new Map<string, Set<Entry>>();
  /** By workspace and partition. */
  const partitions = new Map<string, Set<Entry>>();
  const nameOf = (workspaceId: string, partition: string) => `${workspaceId} ${partition}`;

  const drop = (entry: Entry) => {
    const { workspaceId } = entry.place;
    const name = nameOf(workspaceId, entry.partition);
    workspaces.get(workspaceId)?.delete(entry);
    const bucket = partitions.get(name);
    bucket?.delete(entry);
    if (bucket?.size === 0) partitions.delete(name);
  };

  return {
    nearest(workspaceId, partition, vector) {
      const bucket = partitions.get(nameOf(workspaceId, partition));
      if (!bucket) return null;
      const asked = normalised(vector);
      const at = now();
      for (const entry of bucket) if (entry.expiresAt <= at) drop(entry);
      let best: { entry: Entry; similarity: number } | null = null;
      for (const entry of bucket.size > fewEntries ? likely(bucket, signsOf(asked)) : bucket) {
        const similarity = product(asked, entry.vector);
        if (!best || similarity > best.similarity) best = { entry, similarity };
      }
      if (!best) return null;
      const used = workspaces.get(workspaceId);
      used?.delete(best.entry);
      used?.add(best.entry);
      return { place: best.entry.place, similarity: best.similarity };
    },
    add(partition, vector, place, ttlSeconds) {
      const unit = normalised(vector);
      const entry: Entry = {
        vector: unit,
        signs: signsOf(unit),
        partition,
        place,
        expiresAt: now() + ttlSeconds * 1000,
      };
      const { workspaceId } = place;
      const all = workspaces.get(workspaceId) ?? new Set();
      workspaces.set(workspaceId, all.add(entry));
      const name = nameOf(workspaceId, partition);
      partitions.set(name, (partitions.get(name) ?? new Set()).add(entry));
      if (all.size <= mostPerWorkspace) return;
      for (const oldest of all) {
        drop(oldest);
        break;
      }
    },
    purge({ workspaceId, namespace, key }) {
      for (const entry of workspaces.get(workspaceId) ?? []) {
        if (namespace !== null && entry.place.namespace !== namespace) continue;
        if (key === null || entry.place.key === key) drop(entry);
      }
    },
  };
}

/** Those whose signs differ least. */
function likely(bucket: Iterable<Entry>, signs: Uint32Array): Entry[] {
  const near: { entry: Entry; distance: number }[] = [];
  let worst = Number.POSITIVE_INFINITY;
  for (const entry of bucket) {
    const distance = differences(signs, entry.signs);
    if (near.length >= candidates && distance >= worst) continue;
    near.push({ entry, distance });
    if (near.length > candidates * 2) {
      near.sort((one, other) => one.distance - other.distance);
      near.length = candidates;
      worst = near.at(-1)?.distance ?? worst;
    }
  }
  return near
    .sort((one, other) => one.distance - other.distance)
    .slice(0, candidates)
    .map(({ entry }) => entry);
}

function normalised(vector: Float32Array): Float32Array {
  const length = Math.sqrt(product(vector, vector));
  return length === 0 ? vector : vector.map((value) => value / length);
}

function product(one: Float32Array, other: Float32Array): number {
  if (one.length !== other.length) return 0;
  let sum = 0;
  for (let at = 0; at < one.length; at++) sum += (one[at] ?? 0) * (other[at] ?? 0);
  return sum;
}

function signsOf(vector: Float32Array): Uint32Array {
  const signs = new Uint32Array(Math.ceil(vector.length / 32));
  for (let at = 0; at < vector.length; at++) {
    if ((vector[at] ?? 0) > 0) signs[at >>> 5] = (signs[at >>> 5] ?? 0) | (1 << (at & 31));
  }
  return signs;
}

function differences(one: Uint32Array, other: Uint32Array): number {
  if (one.length !== other.length) return Number.POSITIVE_INFINITY;
  let count = 0;
  for (let at = 0; at < one.length; at++) count += bitsIn((one[at] ?? 0) ^ (other[at] ?? 0));
  return count;
}

/** Adds the bits of a word in pairs, then fours, then bytes. */
function bitsIn(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
