/** Things that wait for a browser or a client to come back, each under a handle that nobody can guess and that counts once. */
import { randomBytes } from 'node:crypto';
import { digestOf } from '../identity/secrets.ts';
import type { Db, Store } from '../store/database.ts';
import type { OauthFlowTable } from '../store/tables/oauth.ts';
import type { Vault } from '../store/vault.ts';

type Kind = OauthFlowTable['kind'];

export interface Flows {
  /** The handle to carry. */
  begin(kind: Kind, payload: object, lifeMs: number): Promise<string>;
  /** What waits under a handle, without using it up. */
  look<T>(kind: Kind, handle: string): Promise<T | null>;
  /** Uses it up; null where it is unknown, expired or was used before. */
  take<T>(kind: Kind, handle: string): Promise<T | null>;
  /** The grant that a code was exchanged for, where it was. */
  grantOf(handle: string): Promise<string | null>;
  noteGrant(db: Db, handle: string, grantId: string): Promise<void>;
}

export function createFlows(store: Store, vault: Vault, now: () => Date): Flows {
  const { db } = store;
  const find = (tx: Db, kind: Kind, handle: string) =>
    tx
      .selectFrom('oauth_flows')
      .selectAll()
      .where('digest', '=', digestOf(handle))
      .where('kind', '=', kind)
      .where('used_at', 'is', null)
      .where('expires_at', '>', now().toISOString())
      .executeTakeFirst();
  const opened = <T>(row: OauthFlowTable): T => JSON.parse(vault.open(row.payload_sealed, `oauth-${row.kind}`));

  return {
    async begin(kind, payload, lifeMs) {
      const handle = randomBytes(32).toString('base64url');
      await db
        .insertInto('oauth_flows')
        .values({
          digest: digestOf(handle),
          kind,
          payload_sealed: vault.seal(JSON.stringify(payload), `oauth-${kind}`),
          expires_at: new Date(now().getTime() + lifeMs).toISOString(),
          used_at: null,
          grant_id: null,
        })
        .execute();
      return handle;
    },
    async look<T>(kind: Kind, handle: string) {
      const row = await find(db, kind, handle);
      return row ? opened<T>(row) : null;
    },
    take: <T>(kind: Kind, handle: string) =>
      store.atomically(async (tx) => {
        const row = await find(tx, kind, handle);
        if (!row) return null;
        // Of two that come at once, one finds it used.
        const { numUpdatedRows } = await tx
          .updateTable('oauth_flows')
          .set({ used_at: now().toISOString() })
          .where('digest', '=', row.digest)
          .where('used_at', 'is', null)
          .executeTakeFirst();
        return numUpdatedRows > 0n ? opened<T>(row) : null;
      }),
    async grantOf(handle) {
      const row = await db
        .selectFrom('oauth_flows')
        .select('grant_id')
        .where('digest', '=', digestOf(handle))
        .where('kind', '=', 'code')
        .executeTakeFirst();
      return row?.grant_id ?? null;
    },
    async noteGrant(tx, handle, grantId) {
      await tx.updateTable('oauth_flows').set({ grant_id: grantId }).where('digest', '=', digestOf(handle)).execute();
    },
  };
}
