/** Usage limits start anew when their window ends: those of keys, workspaces, providers and grants. */
import type { Services } from '../admin/kernel/services.ts';
import { usageLimitColumns } from '../admin/kernel/usage-limits.ts';
import { rollWindow } from '../limits/entries.ts';
import type { Change } from '../store/changes.ts';
import type { Db } from '../store/database.ts';
import { decode, encode } from '../store/json.ts';
import { type Batch, batchSize, inBatches } from './batches.ts';
import { forgetEndedWindows, resetPolicies } from './policies.ts';
import { resetGrants, resetProviders } from './providers.ts';
import type { Job } from './runner.ts';

interface WorkspaceBatch extends Batch {
  /** The id of the last workspace looked at. */
  last: string;
}

export const createUsageReset = (services: Services): Job => ({
  name: 'usage-reset',
  everyMs: 60_000,
  async run(now) {
    await inBatches(services, (db) => resetKeys(db, now));
    await inBatches<WorkspaceBatch>(services, (db, previous) => resetWorkspaces(db, now, previous?.last ?? ''));
    await inBatches(services, (db) => resetProviders(db, now));
    await inBatches(services, (db) => resetGrants(db, now));
    await inBatches(services, (db) => resetPolicies(db, now));
    await inBatches(services, (db) => forgetEndedWindows(db, now));
  },
});

async function resetKeys(db: Db, now: Date): Promise<Batch> {
  const at = now.toISOString();
  const keys = await db
    .selectFrom('api_keys')
    .select(['id', 'status', 'usage_limits'])
    .where('next_usage_reset_at', '<=', at)
    .where('status', '!=', 'archived')
    .orderBy('next_usage_reset_at')
    .limit(batchSize)
    .execute();
  for (const key of keys) {
    const limit = key.usage_limits === null ? null : rollWindow(decode(key.usage_limits), now);
    await db
      .updateTable('api_keys')
      .set({
        ...usageLimitColumns(limit),
        last_reset_at: at,
        ...(key.status === 'exhausted' && { status: 'active' }),
      })
      .where('id', '=', key.id)
      .execute();
  }
  return { taken: keys.length, changes: keys.map(({ id }): Change => ({ topic: 'api_key', id })) };
}

/** The workspaces after `after`, in the order of their ids: few enough to look at each that has a reset date. */
async function resetWorkspaces(db: Db, now: Date, after: string): Promise<WorkspaceBatch> {
  const rows = await db
    .selectFrom('workspaces')
    .select(['id', 'usage_limits'])
    .where('id', '>', after)
    .where('status', '=', 'active')
    .where('usage_limits', 'like', '%"next_usage_reset_at":"%')
    .orderBy('id')
    .limit(batchSize)
    .execute();
  const changes: Change[] = [];
  for (const row of rows) {
    const limits = decode(row.usage_limits);
    const rolled = limits.map((limit) => rollWindow(limit, now));
    if (rolled.every((limit, index) => limit === limits[index])) continue;
    await db
      .updateTable('workspaces')
      .set({ usage_limits: encode(rolled), last_reset_at: now.toISOString() })
      .where('id', '=', row.id)
      .execute();
    changes.push({ topic: 'workspace', id: row.id });
  }
  return { taken: rows.length, changes, last: rows.at(-1)?.id ?? after };
}
