/** Who made which task of a server, and with which tool: nobody else may ask for it. */
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
  return {
    of: (serverId, taskId) => tasks.get(digestOf([serverId, taskId]), true),
    claim: (serverId, taskId, facts) => tasks.put(digestOf([serverId, taskId]), facts),
    close: tasks.close,
  };
}
