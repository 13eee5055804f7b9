/** Which agent integrations a caller may touch. */
import type { Caller } from '../../identity/caller.ts';
import type { Db } from '../../store/database.ts';
import type { AgentIntegrationTable } from '../../store/tables/agents.ts';
import { type Action, everyCaller, isNamed, reached, requireOfOrganisation } from '../provisioning/access.ts';
import { agentFamily } from '../provisioning/family.ts';

/** The active integration that `reference` (id or slug) names. */
export const findAgentIntegration = (
  db: Db,
  organisationId: string,
  reference: string,
): Promise<AgentIntegrationTable | undefined> =>
  db.selectFrom('agent_integrations').selectAll().where(isNamed(organisationId, reference)).executeTakeFirst();

export const reachAgentIntegration = async (db: Db, caller: Caller, reference: string, action: Action) =>
  reached(agentFamily, caller, await findAgentIntegration(db, caller.organisationId, reference), action);

export async function reachAgentOfOrganisation(db: Db, caller: Caller, reference: string, action: 'read' | 'update') {
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
