/** Which MCP integrations a caller may touch. */
import { notFound } from '../../http/errors.ts';
import type { Caller } from '../../identity/caller.ts';
import type { Db } from '../../store/database.ts';
import type { McpIntegrationTable } from '../../store/tables/mcp.ts';
import * as shared from '../provisioning/access.ts';
import { mcpFamily } from '../provisioning/family.ts';

type Action = shared.Action;

export const integrationAccess = (action: Action) => shared.integrationAccess(mcpFamily, action);
export const organisationAccess = (action: 'read' | 'update') => shared.organisationAccess(mcpFamily, action);
export const mcpCatalogChange = shared.catalogChange;

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
  shared.requireIntegrationScope(mcpFamily, caller, row.workspace_id, action);
  return row;
}

export async function reachOrganisationIntegration(
  db: Db,
  caller: Caller,
  reference: string,
  action: 'read' | 'update',
): Promise<McpIntegrationTable> {
  const row = await reachMcpIntegration(db, caller, reference, action);
  shared.requireOfOrganisation(mcpFamily, row);
  return row;
}
