/** Who made which task of a server, and with which tool: nobody else may ask for it. And whose results limits have counted. */
import { digestOf } from '../../catalog/digest.ts';
import type { Clock } from '../../clock.ts';
import type { MaybePromise } from '../../maybe-promise.ts';
import type { Store } from '../../store/database.ts';
import { createWriteBehind } from '../../store/write-behind.ts';

export interface TaskFacts {
  /** `user:` or `key:` and an id. */
  owner: string;
  /** The tool whose call made it: who may not use it may not ask for its tasks. */
  tool: string;
}

export interface TaskOwners {
  /** Null for a task that nobody made through this server. */
  of(serverId: string, taskId: string): MaybePromise<TaskFacts | null>;
  claim(serverId: string, taskId: string, facts: TaskFacts): void;
  /** Counts the result of a task unless it was counted before; rejects as `count` does, and then it counts the next time. */
  countOnce(serverId: string, taskId: string, facts: TaskFacts, count: () => MaybePromise<void>): Promise<void>;
  close(): Promise<void>;
}

export function createTaskOwners(store: Store, clock: Clock, onFault: (fault: unknown) => void): TaskOwners {
  const tasks = createWriteBehind<TaskFacts>({
    store,
    onFault,
    async read(key) {
      const query = store.db.selectFrom('mcp_tasks').select(['owner', 'tool']).where('key', '=', key);
      return (await query.executeTakeFirst()) ?? null;
    },
    async write(rows) {
      const created_at = clock.now().toISOString();
      await store.db
        .insertInto('mcp_tasks')
        .values(rows.map(([key, facts]) => ({ key, ...facts, created_at })))
        .onConflict((conflict) => conflict.column('key').doNothing())
        .execute();
    },
  });
  /** A result that is asked for twice at once is counted once. */
  const counting = new Map<string, Promise<void>>();

  const counted = async (key: string, facts: TaskFacts, count: () => MaybePromise<void>) => {
    if (await tasks.get(key, false)) return;
    await count();
    tasks.put(key, facts);
  };

  return {
    of: (serverId, taskId) => tasks.get(digestOf([serverId, taskId]), true),
    claim: (serverId, taskId, facts) => tasks.put(digestOf([serverId, taskId]), facts),
    countOnce(serverId, taskId, facts, count) {
      // A row of its own beside that of the task, for rows are never changed.
      const key = digestOf([serverId, taskId, 'result']);
      const known = counting.get(key);
      if (known) return known;
      const work = counted(key, facts, count).finally(() => counting.delete(key));
      counting.set(key, work);
      return work;
    },
    close: tasks.close,
  };
}
