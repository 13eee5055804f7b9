/** Reads the agent servers of a workspace with everything that decides who may use what of them. */
import type { FindSource } from '../../secrets/mapping.ts';
import type { Db } from '../../store/database.ts';
import { decode } from '../../store/json.ts';
import type { AgentIntegrationTable } from '../../store/tables/agents.ts';
import type { Vault } from '../../store/vault.ts';
import { digestOf } from '../digest.ts';
import { readOwnSources, readServers, serverColumns, upstreamFields } from '../read-servers.ts';
import { openSettings } from '../sealed-settings.ts';
import { type AgentCard, interfacesOf } from './card.ts';
import type { AgentCatalog, AgentServer, AgentUpstream } from './server.ts';
import { agentSettings } from './settings.ts';

type Row = Pick<
  AgentIntegrationTable,
  'id' | 'slug' | 'organisation_id' | 'workspace_id' | 'url' | 'auth_type' | 'configurations_sealed' | 'secret_mappings'
>;

/** An integration as an agent that can be called; servers add what is their own. */
function agentUpstreamOf(row: Row, vault: Vault, find: FindSource): AgentUpstream {
  const stored = openSettings(vault, 'agent-configurations', row.configurations_sealed);
  return {
    ...upstreamFields(row, find),
    transport: 'http',
    authType: row.auth_type,
    settings: agentSettings().parse(stored),
    revision: digestOf([row.url, row.auth_type, stored, ...decode(row.secret_mappings)]),
  };
}

export const readAgentUpstream = async (db: Db, row: Row, vault: Vault): Promise<AgentUpstream> =>
  agentUpstreamOf(row, vault, await readOwnSources(db, vault, row));

export const noAgents: AgentCatalog = { find: () => null };

export async function readAgentCatalog(
  db: Db,
  vault: Vault,
  workspaceId: string,
  warn: (message: string) => void,
): Promise<AgentCatalog> {
  const rows = await serverRows(db, workspaceId);
  if (rows.length === 0) return noAgents;
  const [integrationSkills, serverSkills] = await Promise.all([
    integrationSkillsOff(db, workspaceId),
    serverSkillsOff(db, workspaceId),
  ]);
  const family = { word: 'agent', users: 'agent_server_users', rows } as const;
  const servers = await readServers(
    db,
    vault,
    workspaceId,
    family,
    (row, base, find): AgentServer => {
      const card: AgentCard | null = row.agent_card === null ? null : decode(row.agent_card);
      return {
        ...agentUpstreamOf({ ...row, id: row.integration_id, slug: row.integration_slug }, vault, find),
        ...base,
        cardDigest: row.card_digest,
        interfaces: card && interfacesOf(card),
        skillsOff: new Set([
          ...integrationSkills.filter((one) => one.integration_id === row.integration_id).map((one) => one.skill_id),
          ...serverSkills.filter((one) => one.server_id === row.id).map((one) => one.skill_id),
        ]),
      };
    },
    warn,
  );
  const byIntegration = new Map(servers.map((server) => [server.integrationSlug, server]));
  const byName = new Map(servers.flatMap((server) => [server.id, server.slug].map((name) => [name, server])));
  return { find: (reference) => byName.get(reference) ?? byIntegration.get(reference) ?? null };
}

const serverRows = (db: Db, workspaceId: string) =>
  db
    .selectFrom('agent_servers as server')
    .innerJoin('agent_integrations as integration', 'integration.id', 'server.integration_id')
    .leftJoin('agent_integration_workspaces as grant', (join) =>
      join
        .onRef('grant.integration_id', '=', 'server.integration_id')
        .onRef('grant.workspace_id', '=', 'server.workspace_id'),
    )
    .select([...serverColumns, 'integration.agent_card', 'integration.card_digest'])
    .where('server.workspace_id', '=', workspaceId)
    .where('server.status', '=', 'active')
    .where('integration.status', '=', 'active')
    .orderBy('server.created_at')
    .orderBy('server.id')
    .execute();

const ofWorkspace = (db: Db, workspaceId: string) =>
  db
    .selectFrom('agent_servers')
    .where('agent_servers.workspace_id', '=', workspaceId)
    .where('agent_servers.status', '=', 'active');

const integrationSkillsOff = (db: Db, workspaceId: string) =>
  db
    .selectFrom('agent_skills')
    .select(['integration_id', 'skill_id'])
    .where('integration_id', 'in', ofWorkspace(db, workspaceId).select('integration_id'))
    .where('enabled', '=', 0)
    .execute();

const serverSkillsOff = (db: Db, workspaceId: string) =>
  db
    .selectFrom('agent_server_skills')
    .select(['server_id', 'skill_id'])
    .where('server_id', 'in', ofWorkspace(db, workspaceId).select('agent_servers.id'))
    .where('enabled', '=', 0)
    .execute();
