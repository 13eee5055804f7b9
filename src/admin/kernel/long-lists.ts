/** Pages of the longest lists: what was once found out of one is carried along with the changes since, so that none is counted again. */
import type { Db, Store } from '../../store/database.ts';
import { type Moments, momentsOf } from '../../store/list-changes.ts';
import type { KnownList } from './known-list.ts';
import { readPage } from './list-reading.ts';
import { ListQueries, type LongList } from './long-list.ts';
import { countedPage, type PageOfIds } from './walk.ts';

const isUnknown = ({ few, marks }: KnownList): boolean => few === null && marks.size === 0;

const mostLists = 100;
/** A list that changes while it is read is read again, this often. */
const attempts = 4;

export class LongLists {
  readonly #moments: Moments;
  readonly #known = new Map<string, KnownList>();

  constructor(engine: Store['engine']) {
    this.#moments = momentsOf(engine);
  }

  /** Not for use inside a transaction: what it changed and takes back would be remembered. */
  async page<Tables, Named extends keyof Tables>(db: Db, list: LongList<Tables, Named>): Promise<PageOfIds> {
    const queries = new ListQueries(db, list, this.#moments);
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
    return countedPage({ ...list, matches: (there) => queries.rows(there, 'walk') });
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
