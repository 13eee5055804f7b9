/** Small facts that never change, by a key: memory answers, the database is asked only for what this process has not seen, and it is written behind. */
import type { MaybePromise } from '../maybe-promise.ts';
import type { Store } from './database.ts';

export interface WriteBehind<Fact extends object> {
  /** At once where this process knows it. `isAwaited`: another process may be about to write it. */
  get(key: string, isAwaited: boolean): MaybePromise<Fact | null>;
  /** Counts at once in this process, and in others within moments. What was put first stays. */
  put(key: string, fact: Fact): void;
  /** Writes what is waiting. */
  close(): Promise<void>;
}

interface Needs<Fact extends object> {
  store: Pick<Store, 'engine'>;
  read(key: string): Promise<Fact | null>;
  /** Leaves rows that are there already as they are. */
  write(rows: readonly (readonly [string, Fact])[]): Promise<void>;
  onFault(fault: unknown): void;
}

const mostKept = 200_000;
const writeMs = 25;
const retryMs = 1_000;
const rowsAtOnce = 200;
/** Another process writes what it puts within moments. */
const pausesMs = [50, 150];

export function createWriteBehind<Fact extends object>({
  store,
  read,
  write,
  onFault,
}: Needs<Fact>): WriteBehind<Fact> {
  const kept = new Map<string, Fact>();
  let waiting = new Map<string, Fact>();
  let timer: ReturnType<typeof setTimeout> | null = null;
  let writing = Promise.resolve();

  const keep = (key: string, fact: Fact) => {
    // The first key is the oldest; what is waiting to be written is asked for there.
    if (kept.size >= mostKept) for (const oldest of [...kept.keys()].slice(0, mostKept / 10)) kept.delete(oldest);
    kept.set(key, fact);
  };

  const flush = async () => {
    timer = null;
    const batch = waiting;
    const rows = [...batch];
    waiting = new Map();
    try {
      for (let from = 0; from < rows.length; from += rowsAtOnce) await write(rows.slice(from, from + rowsAtOnce));
    } catch (fault) {
      onFault(fault);
      // The newest wait first; a database that stays away must not fill the memory.
      for (const [key, fact] of batch) if (waiting.size < mostKept && !waiting.has(key)) waiting.set(key, fact);
      schedule(retryMs);
    }
  };

  const schedule = (ms: number) => {
    timer ??= setTimeout(() => {
      writing = writing.then(flush);
    }, ms);
  };

  const lookedUp = async (key: string, isAwaited: boolean): Promise<Fact | null> => {
    let found: Fact | null = await read(key);
    if (store.engine === 'postgres' && isAwaited) {
      for (const pause of pausesMs) {
        if (found) break;
        await Bun.sleep(pause);
        found = kept.get(key) ?? (await read(key));
      }
    }
    if (found) keep(key, found);
    return found;
  };

  return {
    get: (key, isAwaited) => kept.get(key) ?? waiting.get(key) ?? lookedUp(key, isAwaited),
    put(key, fact) {
      if (kept.has(key) || waiting.has(key)) return;
      keep(key, fact);
      if (waiting.size < mostKept) waiting.set(key, fact);
      schedule(writeMs);
    },
    async close() {
      if (timer) clearTimeout(timer);
      timer = null;
      await writing;
      if (waiting.size > 0) await flush();
      if (timer) clearTimeout(timer);
    },
  };
}
