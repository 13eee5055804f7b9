/** Handing MCP integrations of the organisation to workspaces. */
import type { Db } from '../../store/database.ts';
import { decode } from '../../store/json.ts';
import type { McpIntegrationTable } from '../../store/tables/mcp.ts';
import { archiveMcpServers, insertMcpServer } from '../mcp-servers/insert.ts';
import { freeMcpServerSlug } from './slugs.ts';

type Integration = Pick<McpIntegrationTable, 'id' | 'organisation_id' | 'slug' | 'name'>;

/** Enabling makes a server; disabling keeps it, so that its switches count again once it is enabled again. */
export async function setMcpGrant(
  db: Db,
  now: Date,
  integration: Integration,
  { workspaceId, enabled, createdBy }: { workspaceId: string; enabled: boolean; createdBy: string | null },
): Promise<void> {
  const at = now.toISOString();
  const state = { enabled: enabled ? 1 : 0, last_updated_at: at } as const;
  await db
    .insertInto('mcp_integration_workspaces')
    .values({ integration_id: integration.id, workspace_id: workspaceId, created_at: at, ...state })
    .onConflict((conflict) => conflict.columns(['integration_id', 'workspace_id']).doUpdateSet(state))
    .execute();
  if (enabled) await ensureMcpServer(db, now, integration, workspaceId, createdBy);
}

/** Gives the workspace a server of the integration, unless it has one. */
export async function ensureMcpServer(
  db: Db,
  now: Date,
  integration: Integration,
  workspaceId: string,
  createdBy: string | null,
): Promise<void> {
  const existing = await db
    .selectFrom('mcp_servers')
    .select('id')
    .where('integration_id', '=', integration.id)
    .where('workspace_id', '=', workspaceId)
    .where('status', '=', 'active')
    .executeTakeFirst();
  if (existing) return;
  await insertMcpServer(db, now, {
    organisationId: integration.organisation_id,
    workspaceId,
    integrationId: integration.id,
    slug: await freeMcpServerSlug(db, integration.organisation_id, integration.slug),
    name: integration.name,
    createdBy,
  });
}

/** What a new workspace starts with. */
export async function provisionMcpIntegrations(
  db: Db,
  now: Date,
  workspaceId: string,
  organisationId: string,
): Promise<void> {
  const integrations = await db
    .selectFrom('mcp_integrations')
    .selectAll()
    .where('organisation_id', '=', organisationId)
    .where('workspace_id', 'is', null)
    .where('status', '=', 'active')
    .where('global_workspace_access', 'is not', null)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  for (const integration of integrations) {
    if (!integration.global_workspace_access || !decode(integration.global_workspace_access).enabled) continue;
    await setMcpGrant(db, now, integration, { workspaceId, enabled: true, createdBy: null });
  }
}

/** Archives these integrations with their servers in every workspace. */
export async function archiveMcpIntegrations(db: Db, now: Date, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await db
    .updateTable('mcp_integrations')
    .set({ status: 'archived', configurations_sealed: null, last_updated_at: now.toISOString() })
    .where('id', 'in', ids)
    .execute();
  await db.deleteFrom('mcp_integration_workspaces').where('integration_id', 'in', ids).execute();
  await db.deleteFrom('mcp_capabilities').where('integration_id', 'in', ids).execute();
  const servers = await db
    .selectFrom('mcp_servers')
    .select('id')
    .where('integration_id', 'in', ids)
    .where('status', '=', 'active')
    .execute();
  await archiveMcpServers(
    db,
    now,
    servers.map(({ id }) => id),
  );
}

/** An archived workspace keeps no MCP integration of its own, no grant and no server. */
export async function archiveMcpOf(db: Db, now: Date, workspaceId: string): Promise<void> {
  const own = await db
    .selectFrom('mcp_integrations')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('status', '=', 'active')
    .execute();
  await archiveMcpIntegrations(
    db,
    now,
    own.map(({ id }) => id),
  );
  await db.deleteFrom('mcp_integration_workspaces').where('workspace_id', '=', workspaceId).execute();
  const servers = await db
    .selectFrom('mcp_servers')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('status', '=', 'active')
    .execute();
  await archiveMcpServers(
    db,
    now,
    servers.map(({ id }) => id),
  );
}
