/** Which MCP servers a caller may touch. */
import { notFound } from '../../http/errors.ts';
import { type Caller, mayInWorkspace, roleIn } from '../../identity/caller.ts';
import type { Db } from '../../store/database.ts';
import type { McpIntegrationTable, McpServerTable } from '../../store/tables/mcp.ts';
import type { NamedWorkspace } from '../kernel/endpoint.ts';
import * as shared from '../provisioning/access.ts';
import { mcpFamily } from '../provisioning/family.ts';

type Action = shared.Action;

export const serverAccess = (action: Action) => shared.serverAccess(mcpFamily, action);
export const { requireActiveWorkspace } = shared;

export interface ServerRow {
  server: McpServerTable;
  integration: McpIntegrationTable;
  workspace: { id: string; slug: string; name: string };
  granted: boolean;
}

/** The server of the caller's organisation that `reference` (id or slug) names, if the caller may do this to it. */
export async function reachMcpServer(
  db: Db,
  caller: Caller,
  workspace: NamedWorkspace | null,
  reference: string,
  action: Action,
): Promise<ServerRow> {
  const server = await shared.reachServerRow(mcpFamily, db, caller, workspace, reference, action);
  const rows = await withIntegrations(db, [server]);
  const [row] = rows;
  if (!row) throw notFound('MCP server');
  return row;
}

/** Servers together with what they stand for; those of a deleted integration are left out. */
export async function withIntegrations(db: Db, servers: readonly McpServerTable[]): Promise<ServerRow[]> {
  if (servers.length === 0) return [];
  const { integrationIds, workspaces, isGranted } = await shared.placesOf(mcpFamily, db, servers);
  const integrations = await db.selectFrom('mcp_integrations').selectAll().where('id', 'in', integrationIds).execute();
  return servers.flatMap((server): ServerRow[] => {
    const integration = integrations.find(({ id }) => id === server.integration_id);
    const workspace = workspaces.get(server.workspace_id);
    if (integration?.status !== 'active' || !workspace) return [];
    return [{ server, integration, workspace, granted: isGranted(integration, server.workspace_id) }];
  });
}

/** Managers and those who may change the server see and end anybody's sign-in; everybody else their own. */
export const managesConnections = (caller: Caller, workspaceId: string): boolean => {
  const role = roleIn(caller, workspaceId);
  return caller.kind === 'session'
    ? role === 'admin' || role === 'manager'
    : mayInWorkspace(caller, 'mcp_servers.update', workspaceId);
};
