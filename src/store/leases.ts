/** Leases in the database: what one node at a time may do, for as long as it says that it is at it. */
import type { Store } from './database.ts';

/** A node that died holds its lease at most this long. */
const leaseMs = 5 * 60_000;
/** A node at work renews its lease, so that work that takes longer is not taken up by another beside it. */
export const leaseRenewalMs = leaseMs / 5;

/** False while another holds it. */
export async function takeLease(store: Store, name: string, holder: string, now: Date): Promise<boolean> {
  const until = new Date(now.getTime() + leaseMs).toISOString();
  return store.atomically(async (tx) => {
    const lease = await tx.selectFrom('leases').selectAll().where('name', '=', name).executeTakeFirst();
    if (lease && lease.holder !== holder && isHeld(lease.expires_at, now)) return false;
    await tx
      .insertInto('leases')
      .values({ name, holder, expires_at: until })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ holder, expires_at: until }))
      .execute();
    return true;
  });
}

/** A lease that was given back meanwhile stays so. */
export async function renewLease(store: Store, name: string, holder: string, now: Date): Promise<void> {
  await store.db
    .updateTable('leases')
    .set({ expires_at: new Date(now.getTime() + leaseMs).toISOString() })
    .where('name', '=', name)
    .where('holder', '=', holder)
    .execute();
}

export async function releaseLease(store: Store, name: string, holder: string): Promise<void> {
  await store.db.deleteFrom('leases').where('name', '=', name).where('holder', '=', holder).execute();
}

/** An end that no node could have written by now comes from a clock that was wrong; it holds nobody. */
const isHeld = (expiresAt: string, now: Date): boolean =>
  expiresAt > now.toISOString() && Date.parse(expiresAt) - now.getTime() < 2 * leaseMs;
