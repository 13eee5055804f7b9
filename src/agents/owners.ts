/** Who owns which task and which conversation of an agent. */

import { digestOf } from '../catalog/digest.ts';
import type { Clock } from '../clock.ts';
import type { MaybePromise } from '../maybe-promise.ts';
import type { Store } from '../store/database.ts';
import { createWriteBehind } from '../store/write-behind.ts';

export interface Owner {
  workspaceId: string;
  /** `user:` or `key:` and an id. */
  owner: string;
}

export type Owned = 'task' | 'context';

export interface Owners {
  /** Null where nobody owns it. `agent` is the address of the agent: tenants that registered the same one share nothing. */
  of(agent: string, kind: Owned, id: string): MaybePromise<Owner | null>;
  /** Who claims first keeps it. */
  claim(agent: string, kind: Owned, id: string, owner: Owner): void;
  close(): Promise<void>;
}

export function createOwners(store: Store, clock: Clock, onFault: (fault: unknown) => void): Owners {
  const owners = createWriteBehind<Owner>({
    store,
    onFault,
    async read(key) {
      const row = await store.db.selectFrom('agent_owners').selectAll().where('key', '=', key).executeTakeFirst();
      return row ? { workspaceId: row.workspace_id, owner: row.owner } : null;
    },
    async write(rows) {
      const created_at = clock.now().toISOString();
      await store.db
        .insertInto('agent_owners')
        .values(rows.map(([key, { workspaceId, owner }]) => ({ key, workspace_id: workspaceId, owner, created_at })))
        .onConflict((conflict) => conflict.column('key').doNothing())
        .execute();
    },
  });
  return {
    // Clients choose the ids of conversations: most of them nobody owns yet.
    of: (agent, kind, id) => owners.get(keyOf(agent, kind, id), kind === 'task'),
    claim: (agent, kind, id, owner) => owners.put(keyOf(agent, kind, id), owner),
    close: owners.close,
  };
}

const keyOf = (agent: string, kind: Owned, id: string): string => digestOf([agent, kind, id]);
