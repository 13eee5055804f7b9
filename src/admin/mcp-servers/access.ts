/** Which MCP servers a caller may touch. */
import { notFound } from '../../http/errors.ts';
import { type Caller, mayInWorkspace, roleIn } from '../../identity/caller.ts';
import type { Db } from '../../store/database.ts';
import type { McpIntegrationTable, McpServerTable } from '../../store/tables/mcp.ts';
import type { NamedWorkspace } from '../kernel/endpoint.ts';
import { type Action, reachServerRow } from '../provisioning/access.ts';
import { mcpFamily } from '../provisioning/family.ts';
import { type PlacedServer, placedServers } from '../provisioning/servers.ts';

export type McpServerRow = PlacedServer<McpServerTable, McpIntegrationTable>;

/** The server of the caller's organisation that `reference` (id or slug) names, if the caller may do this to it. */
export async function reachMcpServer(
  db: Db,
  caller: Caller,
  workspace: NamedWorkspace | null,
  reference: string,
  action: Action,
): Promise<McpServerRow> {
  const server = await reachServerRow(mcpFamily, db, caller, workspace, reference, action);
  const [row] = await withMcpIntegrations(db, [server]);
  if (!row) throw notFound('MCP server');
  return row;
}

export const withMcpIntegrations = (db: Db, servers: readonly McpServerTable[]): Promise<McpServerRow[]> =>
  placedServers(mcpFamily, db, servers, (ids) =>
    db.selectFrom('mcp_integrations').selectAll().where('id', 'in', ids).where('status', '=', 'active').execute(),
  );

/** Managers and those who may change the server see and end anybody's sign-in; everybody else their own. */
export const managesConnections = (caller: Caller, workspaceId: string): boolean => {
  const role = roleIn(caller, workspaceId);
  return caller.kind === 'session'
    ? role === 'admin' || role === 'manager'
    : mayInWorkspace(caller, 'mcp_servers.update', workspaceId);
};
