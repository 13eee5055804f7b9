/** Which MCP integrations a caller may touch: those of the organisation and those of a workspace have scopes of their own. */
import { ApiError, forbidden, notFound } from '../../http/errors.ts';
import { type Caller, mayInOrganisation, mayInWorkspace } from '../../identity/caller.ts';
import type { Scope } from '../../identity/scopes.ts';
import type { Change } from '../../store/changes.ts';
import type { Db } from '../../store/database.ts';
import type { McpIntegrationTable } from '../../store/tables/mcp.ts';

type Action = 'create' | 'read' | 'update' | 'delete' | 'list';

export const everyCaller = ['admin-key', 'workspace-key', 'user-key', 'session'] as const;

/** One of the two families must be held, and the handler asks for the right one. */
export const integrationAccess = (action: Action) => ({
  callers: everyCaller,
  scope: { anyOf: [`organisation_mcp_integrations.${action}`, `workspace_mcp_integrations.${action}`] as const },
  level: 'workspace' as const,
});

/** Those who run the organisation hand its integrations out. */
export const organisationAccess = (action: 'read' | 'update') => ({
  callers: ['admin-key', 'session'] as const,
  scope: `organisation_mcp_integrations.${action}` as const,
  level: 'organisation' as const,
});

/** The active integration that `reference` (id or slug) names. */
export async function findMcpIntegration(
  db: Db,
  organisationId: string,
  reference: string,
): Promise<McpIntegrationTable | undefined> {
  return db
    .selectFrom('mcp_integrations')
    .selectAll()
    .where('organisation_id', '=', organisationId)
    .where((eb) => eb.or([eb('slug', '=', reference), eb('id', '=', reference)]))
    .where('status', '=', 'active')
    .executeTakeFirst();
}

export async function reachMcpIntegration(
  db: Db,
  caller: Caller,
  reference: string,
  action: Action,
): Promise<McpIntegrationTable> {
  const row = await findMcpIntegration(db, caller.organisationId, reference);
  if (!row) throw notFound('MCP integration');
  requireMcpIntegrationScope(caller, row.workspace_id, action);
  return row;
}

export async function reachOrganisationIntegration(
  db: Db,
  caller: Caller,
  reference: string,
  action: 'read' | 'update',
): Promise<McpIntegrationTable> {
  const row = await reachMcpIntegration(db, caller, reference, action);
  if (row.workspace_id !== null) {
    throw new ApiError(
      'AB01',
      'This MCP integration belongs to one workspace; only those of the organisation are handed out',
    );
  }
  return row;
}

export function requireMcpIntegrationScope(caller: Caller, workspaceId: string | null, action: Action): void {
  const scope: Scope =
    workspaceId === null ? `organisation_mcp_integrations.${action}` : `workspace_mcp_integrations.${action}`;
  const held = workspaceId === null ? mayInOrganisation(caller, scope) : mayInWorkspace(caller, scope, workspaceId);
  if (held) return;
  throw forbidden(
    workspaceId === null
      ? `An MCP integration of the organisation needs the scope ${scope}, which keys of a workspace cannot hold`
      : `An MCP integration of a workspace needs the scope ${scope} there`,
  );
}

/** Who must forget what they know: the workspace of the integration, or every workspace of the organisation. */
export const mcpCatalogChange = (row: Pick<McpIntegrationTable, 'organisation_id' | 'workspace_id'>): Change => ({
  topic: 'catalog',
  id: row.workspace_id ?? row.organisation_id,
});
