/** Which agent servers a caller may touch, and how they are shown. */
import type { z } from 'zod';
import { notFound } from '../../http/errors.ts';
import type { Caller } from '../../identity/caller.ts';
import type { Scope } from '../../identity/scopes.ts';
import type { Db } from '../../store/database.ts';
import type { AgentIntegrationTable, AgentServerTable } from '../../store/tables/agents.ts';
import type { NamedWorkspace } from '../kernel/endpoint.ts';
import { type Action, everyCaller, reachServerRow } from '../provisioning/access.ts';
import { agentFamily } from '../provisioning/family.ts';
import { type PlacedServer, placedServers, serverFields } from '../provisioning/servers.ts';
import type { agentServerRecord } from './schema.ts';

export type AgentServerRow = PlacedServer<AgentServerTable, AgentIntegrationTable>;

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

export const withAgentIntegrations = (db: Db, servers: readonly AgentServerTable[]): Promise<AgentServerRow[]> =>
  placedServers(agentFamily, db, servers, (ids) =>
    db.selectFrom('agent_integrations').selectAll().where('id', 'in', ids).where('status', '=', 'active').execute(),
  );

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

export const asAgentServer = (row: AgentServerRow, origin: string): z.output<ReturnType<typeof agentServerRecord>> => ({
  ...serverFields(row),
  agent_integration_id: row.integration.id,
  agent_integration_slug: row.integration.slug,
  protocol: row.integration.protocol,
  url: `${origin}/v1/agent/${row.server.slug}`,
});
