/** What happens to providers by themselves: they expire, and their limits and those of grants start anew. */
import { recordSystemEvent } from '../admin/kernel/audit/audit.ts';
import type { Services } from '../admin/kernel/services.ts';
import { usageLimitColumns } from '../admin/kernel/usage-limits.ts';
import { queueNotice } from '../admin/notices/outbox.ts';
import { queueDeliveries } from '../admin/webhooks/queue.ts';
import { rollWindow, type StoredUsageLimit } from '../limits/entries.ts';
import type { Change } from '../store/changes.ts';
import type { Db } from '../store/database.ts';
import { decode, type JsonText } from '../store/json.ts';
import { workspaceAudience } from './audience.ts';
import { type Batch, batchSize, inBatches } from './batches.ts';
import type { Job } from './runner.ts';

export const createProviderExpiry = (services: Services): Job => ({
  name: 'provider-expiry',
  everyMs: 60_000,
  run: (now) => inBatches(services, (db) => expireProviders(db, services, now)),
});

async function expireProviders(db: Db, { settings, vault }: Services, now: Date): Promise<Batch> {
  const rows = await db
    .selectFrom('providers')
    .select(['id', 'organisation_id', 'workspace_id', 'slug', 'expires_at'])
    .where('status', 'in', ['active', 'exhausted'])
    .where('expires_at', '<=', now.toISOString())
    .orderBy('expires_at')
    .limit(batchSize)
    .execute();
  if (rows.length === 0) return { taken: 0, changes: [] };
  await db
    .updateTable('providers')
    .set({ status: 'expired', last_updated_at: now.toISOString() })
    .where(
      'id',
      'in',
      rows.map((row) => row.id),
    )
    .execute();
  for (const row of settings.auditLogs ? rows : []) {
    await recordSystemEvent(db, now, {
      organisationId: row.organisation_id,
      workspaceId: row.workspace_id,
      resource: 'provider',
      action: 'expire',
      resourceId: row.id,
      details: { slug: row.slug, expires_at: row.expires_at },
    });
  }
  for (const row of rows) {
    const { organisationName, recipients } = await workspaceAudience(db, row.organisation_id, row.workspace_id);
    await queueNotice(db, vault, now, {
      organisationId: row.organisation_id,
      template: 'virtualkey-expired-alert',
      recipients,
      fields: { virtualKeyName: row.slug, organisationName },
    });
    await queueDeliveries(db, now, {
      organisationId: row.organisation_id,
      workspaceId: row.workspace_id,
      event: 'provider.expired',
      data: { id: row.id, slug: row.slug, expires_at: row.expires_at },
    });
  }
  return { taken: rows.length, changes: changesOf(rows) };
}

const changesOf = (rows: readonly { workspace_id: string }[]): Change[] =>
  [...new Set(rows.map((row) => row.workspace_id))].map((id): Change => ({ topic: 'catalog', id }));

/** The columns of a limit whose window has ended. */
function rolled(stored: JsonText<StoredUsageLimit> | null, now: Date) {
  const limit = stored === null ? null : rollWindow(decode(stored), now);
  return { ...usageLimitColumns(limit), last_reset_at: now.toISOString() };
}

export async function resetProviders(db: Db, now: Date): Promise<Batch> {
  const rows = await db
    .selectFrom('providers')
    .select(['id', 'workspace_id', 'status', 'usage_limits'])
    .where('next_usage_reset_at', '<=', now.toISOString())
    .where('status', '!=', 'archived')
    .orderBy('next_usage_reset_at')
    .limit(batchSize)
    .execute();
  for (const row of rows) {
    await db
      .updateTable('providers')
      .set({ ...rolled(row.usage_limits, now), ...(row.status === 'exhausted' && { status: 'active' }) })
      .where('id', '=', row.id)
      .execute();
  }
  return { taken: rows.length, changes: changesOf(rows) };
}

export async function resetGrants(db: Db, now: Date): Promise<Batch> {
  const rows = await db
    .selectFrom('integration_workspaces')
    .select(['integration_id', 'workspace_id', 'usage_limits'])
    .where('next_usage_reset_at', '<=', now.toISOString())
    .orderBy('next_usage_reset_at')
    .limit(batchSize)
    .execute();
  for (const row of rows) {
    await db
      .updateTable('integration_workspaces')
      .set({ ...rolled(row.usage_limits, now), status: 'active' })
      .where('integration_id', '=', row.integration_id)
      .where('workspace_id', '=', row.workspace_id)
      .execute();
  }
  return { taken: rows.length, changes: changesOf(rows) };
}
