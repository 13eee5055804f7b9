/** The questions of all workspaces in memory: bounded for each, the longest unused one evicted first. */
import type { CachePlace, PurgeScope } from '../engine.ts';
import { Partition } from './partition.ts';
import type { Neighbour } from './semantic-index.ts';

interface Entry {
  partition: string;
  slot: number;
  place: CachePlace;
  expiresAt: number;
}

export class VectorIndex {
  readonly #mostPerWorkspace: number;
  readonly #now: () => number;
  /** By workspace; of each, the entries in the order of use, the longest unused first. */
  readonly #workspaces = new Map<string, Set<Entry>>();
  /** By workspace, partition and dimensions: only equal ones can be compared. */
  readonly #partitions = new Map<string, Partition<Entry>>();

  constructor(mostPerWorkspace: number, now: () => number) {
    this.#mostPerWorkspace = mostPerWorkspace;
    this.#now = now;
  }

  nearest(workspaceId: string, partition: string, vector: Float32Array): Neighbour | null {
    const vectors = this.#partitions.get(nameOf(workspaceId, partition, vector.length));
    for (;;) {
      const found = vectors?.nearest(vector);
      if (!found) return null;
      if (found.item.expiresAt > this.#now()) {
        const used = this.#workspaces.get(workspaceId);
        used?.delete(found.item);
        used?.add(found.item);
        return { place: found.item.place, similarity: found.similarity };
      }
      this.#drop(found.item);
    }
  }

  add(partition: string, vector: Float32Array, place: CachePlace, ttlSeconds: number): void {
    const { workspaceId } = place;
    const name = nameOf(workspaceId, partition, vector.length);
    const vectors = this.#partitions.get(name) ?? new Partition<Entry>(vector.length);
    this.#partitions.set(name, vectors);
    const entry: Entry = { partition: name, slot: 0, place, expiresAt: this.#now() + ttlSeconds * 1_000 };
    entry.slot = vectors.add(entry, vector);
    const all = this.#workspaces.get(workspaceId) ?? new Set();
    this.#workspaces.set(workspaceId, all.add(entry));
    const [oldest] = all;
    if (oldest && all.size > this.#mostPerWorkspace) this.#drop(oldest);
  }

  purge({ workspaceId, namespace, key }: PurgeScope): void {
    for (const entry of this.#workspaces.get(workspaceId) ?? []) {
      if (namespace !== null && entry.place.namespace !== namespace) continue;
      if (key === null || entry.place.key === key) this.#drop(entry);
    }
  }

  #drop(entry: Entry): void {
    const all = this.#workspaces.get(entry.place.workspaceId);
    all?.delete(entry);
    if (all?.size === 0) this.#workspaces.delete(entry.place.workspaceId);
    const vectors = this.#partitions.get(entry.partition);
    const moved = vectors?.remove(entry.slot);
    if (moved) moved.slot = entry.slot;
    if (vectors?.size === 0) this.#partitions.delete(entry.partition);
  }
}

const nameOf = (workspaceId: string, partition: string, dimensions: number): string =>
  `${workspaceId} ${dimensions} ${partition}`;
