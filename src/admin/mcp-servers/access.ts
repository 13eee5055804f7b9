/** Which MCP servers a caller may touch. */
import { forbidden, invalid, notFound } from '../../http/errors.ts';
import { type Caller, mayInWorkspace, roleIn } from '../../identity/caller.ts';
import type { Db } from '../../store/database.ts';
import type { McpIntegrationTable, McpServerTable } from '../../store/tables/mcp.ts';
import type { NamedWorkspace } from '../kernel/endpoint.ts';

type Action = 'create' | 'read' | 'update' | 'delete' | 'list';

export const serverAccess = (action: Action) => ({
  callers: ['admin-key', 'workspace-key', 'user-key', 'session'] as const,
  scope: `mcp_servers.${action}` as const,
  level: 'workspace' as const,
});

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
  const server = await db
    .selectFrom('mcp_servers')
    .selectAll()
    .where('organisation_id', '=', caller.organisationId)
    .where((eb) => eb.or([eb('id', '=', reference), eb('slug', '=', reference)]))
    .where('status', '=', 'active')
    .executeTakeFirst();
  if (!server || (workspace && server.workspace_id !== workspace.id)) throw notFound('MCP server');
  if (!mayInWorkspace(caller, `mcp_servers.${action}`, server.workspace_id)) {
    // Whoever cannot even read there is not told that it exists.
    if (!mayInWorkspace(caller, 'mcp_servers.read', server.workspace_id)) throw notFound('MCP server');
    throw forbidden(`This call needs the scope mcp_servers.${action} in the workspace of the server`);
  }
  const rows = await withIntegrations(db, [server]);
  const [row] = rows;
  if (!row) throw notFound('MCP server');
  return row;
}

/** Servers together with what they stand for; those of a deleted integration are left out. */
export async function withIntegrations(db: Db, servers: readonly McpServerTable[]): Promise<ServerRow[]> {
  if (servers.length === 0) return [];
  const integrationIds = [...new Set(servers.map((server) => server.integration_id))];
  const workspaceIds = [...new Set(servers.map((server) => server.workspace_id))];
  const integrations = await db.selectFrom('mcp_integrations').selectAll().where('id', 'in', integrationIds).execute();
  const workspaces = await db
    .selectFrom('workspaces')
    .select(['id', 'slug', 'name'])
    .where('id', 'in', workspaceIds)
    .execute();
  const grants = await db
    .selectFrom('mcp_integration_workspaces')
    .select(['integration_id', 'workspace_id'])
    .where('integration_id', 'in', integrationIds)
    .where('workspace_id', 'in', workspaceIds)
    .where('enabled', '=', 1)
    .execute();
  const granted = new Set(grants.map((grant) => `${grant.integration_id} ${grant.workspace_id}`));
  return servers.flatMap((server): ServerRow[] => {
    const integration = integrations.find(({ id }) => id === server.integration_id);
    const workspace = workspaces.find(({ id }) => id === server.workspace_id);
    if (integration?.status !== 'active' || !workspace) return [];
    return [
      {
        server,
        integration,
        workspace,
        granted:
          integration.workspace_id === server.workspace_id || granted.has(`${integration.id} ${server.workspace_id}`),
      },
    ];
  });
}

export function requireActiveWorkspace(workspace: NamedWorkspace | null): NamedWorkspace {
  if (!workspace) throw invalid('workspace_id', 'is required: name the workspace by its id or slug');
  if (workspace.status === 'archived') throw invalid('workspace_id', 'names an archived workspace');
  return workspace;
}

/** Managers and those who may change the server see and end anybody's sign-in; everybody else their own. */
export const managesConnections = (caller: Caller, workspaceId: string): boolean => {
  const role = roleIn(caller, workspaceId);
  return caller.kind === 'session'
    ? role === 'admin' || role === 'manager'
    : mayInWorkspace(caller, 'mcp_servers.update', workspaceId);
};
