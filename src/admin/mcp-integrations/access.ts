/** Which MCP integrations a caller may touch. */
import type { Caller } from '../../identity/caller.ts';
import type { Db } from '../../store/database.ts';
import type { McpIntegrationTable } from '../../store/tables/mcp.ts';
import { type Action, isNamed, reached, requireOfOrganisation } from '../provisioning/access.ts';
import { mcpFamily } from '../provisioning/family.ts';

/** The active integration that `reference` (id or slug) names. */
export const findMcpIntegration = (
  db: Db,
  organisationId: string,
  reference: string,
): Promise<McpIntegrationTable | undefined> =>
  db.selectFrom('mcp_integrations').selectAll().where(isNamed(organisationId, reference)).executeTakeFirst();

export const reachMcpIntegration = async (db: Db, caller: Caller, reference: string, action: Action) =>
  reached(mcpFamily, caller, await findMcpIntegration(db, caller.organisationId, reference), action);

export async function reachMcpOfOrganisation(db: Db, caller: Caller, reference: string, action: 'read' | 'update') {
  const row = await reachMcpIntegration(db, caller, reference, action);
  requireOfOrganisation(mcpFamily, row);
  return row;
}
