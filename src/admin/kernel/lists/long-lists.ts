/** Pages of the longest lists: of rows held in memory, or else found from what was once found out and is carried along with the changes since. */
import type { Store } from '../../../store/database.ts';
import { type Moments, momentsOf } from '../../../store/list-changes.ts';
import { type ListedTable, namesOfListed } from '../../../store/listed-tables.ts';
import { Tending } from './background-loop.ts';
import { type Bounds, HeldTable } from './held-table.ts';
import type { KnownList } from './known-list.ts';
import { readPage } from './list-reading.ts';
import { ListQueries, type LongList } from './long-list.ts';
import { countedPage, type PageOfIds } from './walk.ts';

const isUnknown = ({ few, marks }: KnownList): boolean => few === null && marks.size === 0;

const mostLists = 100;
/** A list that changes while it is read is read again, this often. */
const attempts = 4;

/** The store goes through fewer rows in no time; most take some 20 MB a table. */
const worthHolding: Bounds = { fewest: 5_000, most: 200_000 };
/** Often enough that also on a busy store not more has changed than can be followed. */
const tendEveryMs = 2_000;

export class LongLists {
  readonly #store: Pick<Store, 'db' | 'engine'>;
  readonly #moments: Moments;
  readonly #known = new Map<string, KnownList>();
  readonly #held: ReadonlyMap<ListedTable, HeldTable>;
  #tending: Tending | undefined;

  constructor(store: Pick<Store, 'db' | 'engine'>, bounds: Bounds = worthHolding) {
    this.#store = store;
    this.#moments = momentsOf(store.engine);
    this.#held = new Map(namesOfListed.map((table) => [table, new HeldTable(store, table, bounds)]));
  }

  /** Begins to hold rows in memory, in the background. A fault is told once, until it is over. */
  start(onFault: (fault: unknown) => void): void {
    let failing = false;
    this.#tending = new Tending(async (signal) => {
      try {
        await this.tend(signal);
        failing = false;
      } catch (fault) {
        if (!failing) onFault(fault);
        failing = true;
      }
    }, tendEveryMs);
  }

  async stop(): Promise<void> {
    await this.#tending?.stop();
  }

  /** Does at once what happens in the background otherwise. */
  async tend(signal?: AbortSignal): Promise<void> {
    const faults: unknown[] = [];
    for (const table of this.#held.values()) {
      if (!signal?.aborted) await table.tend(signal).catch((fault) => faults.push(fault));
    }
    if (faults.length > 0) throw faults[0];
  }

  /** Not for use inside a transaction, whose changes it does not see. */
  async page(list: LongList): Promise<PageOfIds> {
    const rows = await this.#held.get(list.table)?.current();
    return rows?.page(list) ?? this.#pageFromStore(list);
  }

  async #pageFromStore(list: LongList): Promise<PageOfIds> {
    const queries = new ListQueries(this.#store.db, list, this.#moments);
    const known = this.#recall(queries.name);
    let learning = isUnknown(known);
    for (let attempt = 0; attempt < attempts; attempt++) {
      const found = await readPage(list, queries, known);
      if (found) return found;
      if (!isUnknown(known)) continue;
      // What was learnt just now is lost again: a transaction is open since long ago, and nothing can be followed until it ends.
      if (learning) break;
      learning = true;
    }
    return countedPage({ matches: (there) => queries.rows(there, 'walk'), order: queries.order, page: list.page });
  }

  #recall(name: string): KnownList {
    const known = this.#known.get(name) ?? { few: null, marks: new Map() };
    // What was asked for last stands last, and is forgotten last.
    this.#known.delete(name);
    this.#known.set(name, known);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= mostLists) break;
      this.#known.delete(oldest);
    }
    return known;
  }
}
