/** What happens to policies by themselves: their periods end, and so do the windows that rate limits counted in. */
import { spanAt } from '../limits/limit.ts';
import { policySource } from '../limits/policy-source.ts';
import type { Change } from '../store/changes.ts';
import type { Db } from '../store/database.ts';
import { type Batch, batchSize } from './batches.ts';

/** Calls have counted in the new period since it began; this writes it down. */
export async function resetPolicies(db: Db, now: Date): Promise<Batch> {
  const policies = await db
    .selectFrom('policies')
    .selectAll()
    .where('next_usage_reset_at', '<=', now.toISOString())
    .where('status', '=', 'active')
    .orderBy('next_usage_reset_at')
    .limit(batchSize)
    .execute();
  for (const policy of policies) {
    const { epoch, endsAt } = spanAt(policySource(policy).window, now.getTime());
    await db
      .updateTable('policies')
      .set({
        epoch,
        next_usage_reset_at: endsAt === null ? null : new Date(endsAt).toISOString(),
        last_reset_at: now.toISOString(),
      })
      .where('id', '=', policy.id)
      .execute();
  }
  const workspaces = new Set(policies.map((policy) => policy.workspace_id));
  return { taken: policies.length, changes: [...workspaces].map((id): Change => ({ topic: 'catalog', id })) };
}

const keptMs = 3_600_000;

/** Deletes windows that ended a while ago. */
export async function forgetEndedWindows(db: Db, now: Date): Promise<Batch> {
  const ended = await db
    .selectFrom('limit_counters')
    .select('counter')
    .where('ends_at', '<', now.getTime() - keptMs)
    .limit(batchSize)
    .execute();
  if (ended.length === 0) return { taken: 0, changes: [] };
  const counters = ended.map(({ counter }) => counter);
  await db.deleteFrom('limit_counters').where('counter', 'in', counters).execute();
  return { taken: ended.length, changes: [] };
}
