/** Equal calls that are under way together: one of them is made, the others wait for its answer. */
import type { CacheEntry, CachePlace } from '../../cache/engine.ts';

/** Waits for the call that leads; null: it brought nothing that can be shared. */
export type Wait = (timeoutMs: number) => Promise<CacheEntry | null | 'too late'>;

export class Coalescing {
  readonly #underway = new Map<string, Set<(entry: CacheEntry | null) => void>>();

  /** `lead`: nobody else makes this call; whoever is told so must call `finish`. */
  join(place: CachePlace): 'lead' | Wait {
    const name = nameOf(place);
    const waiting = this.#underway.get(name);
    if (!waiting) {
      this.#underway.set(name, new Set());
      return 'lead';
    }
    return (timeoutMs) =>
      new Promise((resolve) => {
        const timer = setTimeout(
          () => {
            waiting.delete(told);
            resolve('too late');
          },
          Math.max(0, timeoutMs),
        );
        const told = (entry: CacheEntry | null) => {
          clearTimeout(timer);
          resolve(entry);
        };
        waiting.add(told);
      });
  }

  finish(place: CachePlace, entry: CacheEntry | null): void {
    const name = nameOf(place);
    const waiting = this.#underway.get(name);
    this.#underway.delete(name);
    for (const told of waiting ?? []) told(entry);
  }
}

const nameOf = ({ workspaceId, namespace, key }: CachePlace): string => `${workspaceId} ${key} ${namespace}`;
