/** Copies of saved state that are suspect, because the database has gone and notices may be missed. For a while they are better than turning every caller away. */

import type { ChangeFeed } from './changes.ts';
import { isAway } from './unavailable.ts';

/** How long a database that did not answer is left alone before it is asked again. */
const restMs = 1_000;
/** How long a call that a copy could answer waits for the database: one that hangs keeps a statement for seconds. */
const timeoutMs = 500;
const silent = Symbol('silent');

export class StaleCache<Value> {
  readonly #feed: Pick<ChangeFeed, 'live'>;
  readonly #now: () => number;
  readonly #graceMs: number;
  #copies = new Map<string, Value>();
  #lostAt = 0;
  #restUntil = 0;

  constructor(feed: Pick<ChangeFeed, 'live'>, now: () => number, graceMs: number) {
    this.#feed = feed;
    this.#now = now;
    this.#graceMs = graceMs;
  }

  /** Everything became suspect: notices were lost, or have just come back, and then the database speaks for itself. */
  markStale(known: ReadonlyMap<string, Value>): void {
    if (this.#feed.live) {
      this.#copies.clear();
      return;
    }
    if (this.#copies.size === 0) this.#lostAt = this.#now();
    for (const [id, value] of known) this.#copies.set(id, value);
  }

  /** Asks the database; where it cannot be reached, the copy answers, if there is one that is not too old. */
  read<T>(id: string, ask: () => Promise<T>, fromCopy: (copy: Value) => T): Promise<T> {
    return this.#feed.live ? ask() : this.#doubtfully(id, ask, fromCopy);
  }

  async #doubtfully<T>(id: string, ask: () => Promise<T>, fromCopy: (copy: Value) => T): Promise<T> {
    const copy = this.#copy(id);
    if (copy !== undefined && this.#now() < this.#restUntil) return fromCopy(copy);
    const answer = copy === undefined ? ask() : inTime(ask());
    const known = await answer.catch((fault: unknown): typeof silent => {
      if (!isAway(fault) || this.#copy(id) === undefined) throw fault;
      return silent;
    });
    if (known !== silent) return known;
    this.#restUntil = this.#now() + restMs;
    const last = this.#copy(id);
    // Where it is gone, notices came back meanwhile, and with them the database.
    return last === undefined ? ask() : fromCopy(last);
  }

  #copy(id: string): Value | undefined {
    return !this.#feed.live && this.#now() < this.#lostAt + this.#graceMs ? this.#copies.get(id) : undefined;
  }
}

/** The answer, or that none came in time. */
function inTime<T>(answer: Promise<T>): Promise<T | typeof silent> {
  const { promise, resolve } = Promise.withResolvers<typeof silent>();
  const timer = setTimeout(() => resolve(silent), timeoutMs);
  return Promise.race([answer, promise]).finally(() => clearTimeout(timer));
}
