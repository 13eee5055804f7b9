/** Handing integrations of the organisation to workspaces, and the servers that come and go with that. */
import type { Db } from '../../store/database.ts';
import { decode } from '../../store/json.ts';
import type { Family } from './family.ts';
import { insertServer } from './insert-server.ts';
import { freeServerSlug } from './slugs.ts';

interface Integration {
  id: string;
  organisation_id: string;
  slug: string;
  name: string;
}

/** Rows are kept, so that their slugs stay taken and logs still name them. What depends on them is deleted. */
export async function archiveServers(family: Family, db: Db, now: Date, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await db
    .updateTable(family.servers)
    .set({ status: 'archived', last_updated_at: now.toISOString() })
    .where('id', 'in', ids)
    .execute();
  for (const table of family.ofServer) await db.deleteFrom(table).where('server_id', 'in', ids).execute();
}

/** Enabling makes a server; disabling keeps it, so that its switches count again once it is enabled again. */
export async function setGrant(
  family: Family,
  db: Db,
  now: Date,
  integration: Integration,
  { workspaceId, enabled, createdBy }: { workspaceId: string; enabled: boolean; createdBy: string | null },
): Promise<void> {
  const at = now.toISOString();
  const state = { enabled: enabled ? 1 : 0, last_updated_at: at } as const;
  await db
    .insertInto(family.grants)
    .values({ integration_id: integration.id, workspace_id: workspaceId, created_at: at, ...state })
    .onConflict((conflict) => conflict.columns(['integration_id', 'workspace_id']).doUpdateSet(state))
    .execute();
  if (enabled) await ensureServer(family, db, now, integration, workspaceId, createdBy);
}

/** Gives the workspace a server of the integration, unless it has one. */
export async function ensureServer(
  family: Family,
  db: Db,
  now: Date,
  integration: Integration,
  workspaceId: string,
  createdBy: string | null,
): Promise<void> {
  const existing = await db
    .selectFrom(family.servers)
    .select('id')
    .where('integration_id', '=', integration.id)
    .where('workspace_id', '=', workspaceId)
    .where('status', '=', 'active')
    .executeTakeFirst();
  if (existing) return;
  await insertServer(family, db, now, {
    organisationId: integration.organisation_id,
    workspaceId,
    integrationId: integration.id,
    slug: await freeServerSlug(family, db, integration.organisation_id, integration.slug),
    name: integration.name,
    createdBy,
  });
}

/** What a new workspace starts with. */
export async function provisionIntegrations(
  family: Family,
  db: Db,
  now: Date,
  workspaceId: string,
  organisationId: string,
): Promise<void> {
  const integrations = await db
    .selectFrom(family.integrations)
    .select(['id', 'organisation_id', 'slug', 'name', 'global_workspace_access'])
    .where('organisation_id', '=', organisationId)
    .where('workspace_id', 'is', null)
    .where('status', '=', 'active')
    .where('global_workspace_access', 'is not', null)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  for (const integration of integrations) {
    if (!integration.global_workspace_access || !decode(integration.global_workspace_access).enabled) continue;
    await setGrant(family, db, now, integration, { workspaceId, enabled: true, createdBy: null });
  }
}

/** Archives these integrations with their servers in every workspace. */
export async function archiveIntegrations(family: Family, db: Db, now: Date, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await db
    .updateTable(family.integrations)
    .set({ status: 'archived', configurations_sealed: null, last_updated_at: now.toISOString() })
    .where('id', 'in', ids)
    .execute();
  await db.deleteFrom(family.grants).where('integration_id', 'in', ids).execute();
  await db.deleteFrom(family.offers).where('integration_id', 'in', ids).execute();
  await archiveServersOf(family, db, now, 'integration_id', ids);
}

async function archiveServersOf(
  family: Family,
  db: Db,
  now: Date,
  owner: 'integration_id' | 'workspace_id',
  ids: readonly string[],
): Promise<void> {
  const servers = await db
    .selectFrom(family.servers)
    .select('id')
    .where(owner, 'in', ids)
    .where('status', '=', 'active')
    .execute();
  await archiveServers(
    family,
    db,
    now,
    servers.map(({ id }) => id),
  );
}

/** An archived workspace keeps no integration of its own, no grant and no server. */
export async function archiveAllOf(family: Family, db: Db, now: Date, workspaceId: string): Promise<void> {
  const own = await db
    .selectFrom(family.integrations)
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('status', '=', 'active')
    .execute();
  await archiveIntegrations(
    family,
    db,
    now,
    own.map(({ id }) => id),
  );
  await db.deleteFrom(family.grants).where('workspace_id', '=', workspaceId).execute();
  await archiveServersOf(family, db, now, 'workspace_id', [workspaceId]);
}

/** How many workspaces each integration is handed to. */
export async function grantCounts(
  family: Family,
  db: Db,
  ids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom(family.grants)
    .select(['integration_id', (eb) => eb.fn.countAll<number>().as('total')])
    .where('integration_id', 'in', ids)
    .where('enabled', '=', 1)
    .groupBy('integration_id')
    .execute();
  return new Map(rows.map(({ integration_id, total }) => [integration_id, Number(total)]));
}

/** Whether the workspace may use the integration: its own, or one that the organisation handed to it. */
export async function isHandedTo(
  family: Family,
  db: Db,
  integration: { id: string; workspace_id: string | null },
  workspaceId: string,
): Promise<boolean> {
  if (integration.workspace_id === workspaceId) return true;
  const grant = await db
    .selectFrom(family.grants)
    .select('enabled')
    .where('integration_id', '=', integration.id)
    .where('workspace_id', '=', workspaceId)
    .executeTakeFirst();
  return grant?.enabled === 1;
}
