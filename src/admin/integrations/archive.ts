/** Taking integrations away, with everything made from them. Rows stay, so that their slugs do too and logs go on naming them. */
import type { Db } from '../../store/database.ts';

/** Archives these integrations, their grants and their providers in every workspace. */
export async function archiveIntegrations(db: Db, now: Date, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const at = now.toISOString();
  await db
    .updateTable('integrations')
    // An archived integration needs no credentials.
    .set({ status: 'archived', key_sealed: null, configurations_sealed: null, last_updated_at: at })
    .where('id', 'in', ids)
    .execute();
  await db.deleteFrom('integration_models').where('integration_id', 'in', ids).execute();
  await db.deleteFrom('integration_workspaces').where('integration_id', 'in', ids).execute();
  await db
    .updateTable('providers')
    .set({ status: 'archived', next_usage_reset_at: null, last_updated_at: at })
    .where('integration_id', 'in', ids)
    .where('status', '!=', 'archived')
    .execute();
}

/** An archived workspace keeps no integration of its own and no grant of the organisation's. */
export async function archiveIntegrationsOf(db: Db, now: Date, workspaceId: string): Promise<void> {
  const own = await db
    .selectFrom('integrations')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('status', '=', 'active')
    .execute();
  await archiveIntegrations(
    db,
    now,
    own.map(({ id }) => id),
  );
  await db.deleteFrom('integration_workspaces').where('workspace_id', '=', workspaceId).execute();
}
