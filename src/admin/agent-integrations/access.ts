/** Which agent integrations a caller may touch. */
import { notFound } from '../../http/errors.ts';
import type { Caller } from '../../identity/caller.ts';
import type { Db } from '../../store/database.ts';
import type { AgentIntegrationTable } from '../../store/tables/agents.ts';
import { type Action, everyCaller, requireIntegrationScope, requireOfOrganisation } from '../provisioning/access.ts';
import { agentFamily } from '../provisioning/family.ts';

/** The active integration that `reference` (id or slug) names. */
export const findAgentIntegration = (
  db: Db,
  organisationId: string,
  reference: string,
): Promise<AgentIntegrationTable | undefined> =>
  db
    .selectFrom('agent_integrations')
    .selectAll()
    .where('organisation_id', '=', organisationId)
    .where((eb) => eb.or([eb('slug', '=', reference), eb('id', '=', reference)]))
    .where('status', '=', 'active')
    .executeTakeFirst();

export async function reachAgentIntegration(
  db: Db,
  caller: Caller,
  reference: string,
  action: Action,
): Promise<AgentIntegrationTable> {
  const row = await findAgentIntegration(db, caller.organisationId, reference);
  if (!row) throw notFound('agent integration');
  requireIntegrationScope(agentFamily, caller, row.workspace_id, action);
  return row;
}

export async function reachAgentOfOrganisation(
  db: Db,
  caller: Caller,
  reference: string,
  action: 'read' | 'update',
): Promise<AgentIntegrationTable> {
  const row = await reachAgentIntegration(db, caller, reference, action);
  requireOfOrganisation(agentFamily, row);
  return row;
}

/** Skills of integrations have scopes of their own; the integration itself must be within reach besides. */
export const skillsAccess = (action: 'list' | 'update') => ({
  callers: everyCaller,
  scope: `agent_integration_skills.${action}` as const,
  level: 'workspace' as const,
});
