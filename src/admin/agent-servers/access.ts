/** Which agent servers a caller may touch, and how they are shown. */
import type { z } from 'zod';
import { notFound } from '../../http/errors.ts';
import type { Caller } from '../../identity/caller.ts';
import type { Scope } from '../../identity/scopes.ts';
import type { Db } from '../../store/database.ts';
import type { AgentIntegrationTable, AgentServerTable } from '../../store/tables/agents.ts';
import type { NamedWorkspace } from '../kernel/endpoint.ts';
import { type Action, everyCaller, placesOf, reachServerRow } from '../provisioning/access.ts';
import { agentFamily } from '../provisioning/family.ts';
import type { agentServerRecord } from './schema.ts';

export interface AgentServerRow {
  server: AgentServerTable;
  integration: AgentIntegrationTable;
  workspace: { id: string; slug: string; name: string };
  granted: boolean;
}

/** `scope`: the one that counts where it is not that of servers themselves. */
export async function reachAgentServer(
  db: Db,
  caller: Caller,
  workspace: NamedWorkspace | null,
  reference: string,
  action: Action,
  scope?: Scope,
): Promise<AgentServerRow> {
  const server = await reachServerRow(agentFamily, db, caller, workspace, reference, action, scope);
  const [row] = await withAgentIntegrations(db, [server]);
  if (!row) throw notFound('agent server');
  return row;
}

/** Servers together with what they stand for; those of a deleted integration are left out. */
export async function withAgentIntegrations(db: Db, servers: readonly AgentServerTable[]): Promise<AgentServerRow[]> {
  if (servers.length === 0) return [];
  const { integrationIds, workspaces, isGranted } = await placesOf(agentFamily, db, servers);
  const integrations = await db
    .selectFrom('agent_integrations')
    .selectAll()
    .where('id', 'in', integrationIds)
    .where('status', '=', 'active')
    .execute();
  return servers.flatMap((server): AgentServerRow[] => {
    const integration = integrations.find(({ id }) => id === server.integration_id);
    const workspace = workspaces.get(server.workspace_id);
    if (!integration || !workspace) return [];
    return [{ server, integration, workspace, granted: isGranted(integration, server.workspace_id) }];
  });
}

export const ofSkills = (action: 'list' | 'update') => ({
  callers: everyCaller,
  scope: `agent_server_skills.${action}` as const,
  level: 'workspace' as const,
});

export const ofUserAccess = (action: 'list' | 'update') => ({
  callers: everyCaller,
  scope: `agent_server_user_access.${action}` as const,
  level: 'workspace' as const,
});

export const asAgentServer = (
  { server, integration, workspace, granted }: AgentServerRow,
  origin: string,
): z.output<ReturnType<typeof agentServerRecord>> => ({
  id: server.id,
  slug: server.slug,
  name: server.name,
  description: server.description,
  status: server.status,
  owner_id: server.created_by,
  organisation_id: server.organisation_id,
  workspace_id: server.workspace_id,
  workspace_name: workspace.name,
  workspace_slug: workspace.slug,
  agent_integration_id: integration.id,
  agent_integration_slug: integration.slug,
  protocol: integration.protocol,
  auth_type: integration.auth_type,
  url: `${origin}/v1/agent/${server.slug}`,
  default_user_access: server.default_user_access,
  enabled: granted,
  created_at: server.created_at,
  last_updated_at: server.last_updated_at,
});
