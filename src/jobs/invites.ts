/** Marks invites that ran out of time as expired. */
import type { Services } from '../admin/kernel/services.ts';
import type { Db } from '../store/database.ts';
import { batchSize, inBatches } from './batches.ts';
import type { Job } from './runner.ts';

export const createInviteExpiry = (services: Services): Job => ({
  name: 'invite-expiry',
  everyMs: 5 * 60_000,
  run: (now) => inBatches(services, async (db) => ({ taken: await expireSome(db, now), changes: [] })),
});

async function expireSome(db: Db, now: Date): Promise<number> {
  const due = await db
    .selectFrom('invites')
    .select('id')
    .where('status', '=', 'pending')
    .where('expires_at', '<=', now.toISOString())
    .orderBy('expires_at')
    .limit(batchSize)
    .execute();
  if (due.length === 0) return 0;
  const ids = due.map((invite) => invite.id);
  await db.updateTable('invites').set({ status: 'expired' }).where('id', 'in', ids).execute();
  return due.length;
}
