/** Who owns which task and which conversation of an agent. Memory answers; the database is asked only for what this process has not seen, and written behind. */

import { digestOf } from '../catalog/digest.ts';
import type { Clock } from '../clock.ts';
import type { Store } from '../store/database.ts';

export interface Owner {
  workspaceId: string;
  /** `user:` or `key:` and an id. */
  owner: string;
}

export type Owned = 'task' | 'context';

export interface Owners {
  /** Null where nobody owns it. `agent` is the address of the agent: tenants that registered the same one share nothing. */
  of(agent: string, kind: Owned, id: string): Promise<Owner | null>;
  /** Counts at once in this process, and in others within moments. Who claims first keeps it. */
  claim(agent: string, kind: Owned, id: string, owner: Owner): void;
  close(): Promise<void>;
}

const mostKept = 200_000;
const writeMs = 25;
const rowsAtOnce = 200;
/** Another process writes what it claims within moments. */
const pausesMs = [50, 150];

export function createOwners(store: Store, clock: Clock, onFault: (fault: unknown) => void): Owners {
  const kept = new Map<string, Owner>();
  let waiting = new Map<string, Owner>();
  let timer: ReturnType<typeof setTimeout> | null = null;
  let writing = Promise.resolve();

  const keep = (key: string, owner: Owner) => {
    // The first key is the oldest; what is waiting to be written is asked for there.
    if (kept.size >= mostKept) for (const oldest of [...kept.keys()].slice(0, mostKept / 10)) kept.delete(oldest);
    kept.set(key, owner);
  };

  const write = async () => {
    timer = null;
    const rows = [...waiting].map(([key, { workspaceId, owner }]) => ({
      key,
      workspace_id: workspaceId,
      owner,
      created_at: clock.now().toISOString(),
    }));
    const batch = waiting;
    waiting = new Map();
    try {
      for (let from = 0; from < rows.length; from += rowsAtOnce) {
        await store.db
          .insertInto('agent_owners')
          .values(rows.slice(from, from + rowsAtOnce))
          .onConflict((conflict) => conflict.column('key').doNothing())
          .execute();
      }
    } catch (fault) {
      onFault(fault);
      // The newest wait first; a database that stays away must not fill the memory.
      for (const [key, owner] of batch) if (waiting.size < mostKept && !waiting.has(key)) waiting.set(key, owner);
      schedule(retryMs);
    }
  };

  const schedule = (ms: number) => {
    timer ??= setTimeout(() => {
      writing = writing.then(write);
    }, ms);
  };

  const read = async (key: string): Promise<Owner | null> => {
    const row = await store.db.selectFrom('agent_owners').selectAll().where('key', '=', key).executeTakeFirst();
    return row ? { workspaceId: row.workspace_id, owner: row.owner } : null;
  };

  return {
    async of(agent, kind, id) {
      const key = keyOf(agent, kind, id);
      const known = kept.get(key) ?? waiting.get(key);
      if (known) return known;
      let found = await read(key);
      if (store.engine === 'postgres') {
        for (const pause of pausesMs) {
          if (found || kind === 'context') break;
          await Bun.sleep(pause);
          found = kept.get(key) ?? (await read(key));
        }
      }
      if (found) keep(key, found);
      return found;
    },
    claim(agent, kind, id, owner) {
      const key = keyOf(agent, kind, id);
      if (kept.has(key) || waiting.has(key)) return;
      keep(key, owner);
      if (waiting.size < mostKept) waiting.set(key, owner);
      schedule(writeMs);
    },
    async close() {
      if (timer) clearTimeout(timer);
      timer = null;
      await writing;
      if (waiting.size > 0) await write();
      if (timer) clearTimeout(timer);
    },
  };
}

const retryMs = 1_000;

const keyOf = (agent: string, kind: Owned, id: string): string => digestOf([agent, kind, id]);
