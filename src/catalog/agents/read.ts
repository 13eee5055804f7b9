/** Reads the agent servers of a workspace with everything that decides who may use what of them. */
import { type FindSource, usesOf } from '../../secrets/mapping.ts';
import type { Db } from '../../store/database.ts';
import { decode } from '../../store/json.ts';
import type { AgentIntegrationTable } from '../../store/tables/agents.ts';
import type { Vault } from '../../store/vault.ts';
import { digestOf } from '../mcp/read.ts';
import { readSources } from '../read-secrets.ts';
import { type AgentCard, interfacesOf } from './card.ts';
import type { AgentCatalog, AgentServer, AgentUpstream } from './server.ts';
import { type AgentSettings, agentSettings } from './settings.ts';

const purpose = 'agent-configurations';

export const sealAgentSettings = (vault: Vault, settings: Readonly<Record<string, unknown>>): string | null =>
  Object.keys(settings).length === 0 ? null : vault.seal(JSON.stringify(settings), purpose);

export const openAgentSettings = (vault: Vault, sealed: string | null): Record<string, unknown> =>
  sealed === null ? {} : JSON.parse(vault.open(sealed, purpose));

type Row = Pick<
  AgentIntegrationTable,
  'id' | 'slug' | 'organisation_id' | 'workspace_id' | 'url' | 'auth_type' | 'configurations_sealed' | 'secret_mappings'
>;

/** An integration as an agent that can be called; servers add what is their own. */
export function agentUpstreamOf(row: Row, vault: Vault, find: FindSource = () => null): AgentUpstream {
  const stored = openAgentSettings(vault, row.configurations_sealed);
  const settings: AgentSettings = agentSettings().parse(stored);
  const mappings = decode(row.secret_mappings);
  const secrets = usesOf(mappings, find);
  return {
    ...(secrets && { secrets }),
    id: row.id,
    integrationId: row.id,
    slug: row.slug,
    organisationId: row.organisation_id,
    workspaceId: row.workspace_id,
    url: row.url,
    transport: 'http',
    authType: row.auth_type,
    settings,
    revision: digestOf([row.url, row.auth_type, stored, ...mappings]),
  };
}

/** With the references that its settings are mapped to, for calls that are made outside a workspace's catalog. */
export async function readAgentUpstream(db: Db, row: Row, vault: Vault): Promise<AgentUpstream> {
  const place = { organisationId: row.organisation_id, workspaceId: row.workspace_id };
  const sources = await readSources(db, vault, place, decode(row.secret_mappings));
  return agentUpstreamOf(row, vault, sources(row.workspace_id));
}

export const noAgents: AgentCatalog = { find: () => null };

export async function readAgentCatalog(
  db: Db,
  vault: Vault,
  workspaceId: string,
  warn: (message: string) => void,
): Promise<AgentCatalog> {
  const rows = await serverRows(db, workspaceId);
  if (rows.length === 0) return noAgents;
  const [integrationSkills, serverSkills, access] = await Promise.all([
    integrationSkillsOff(db, workspaceId),
    serverSkillsOff(db, workspaceId),
    accessRows(db, workspaceId),
  ]);
  const place = { organisationId: rows[0]?.organisation_id ?? '', workspaceId };
  const mappings = rows.flatMap(({ secret_mappings }) => decode(secret_mappings));
  const sources = await readSources(db, vault, place, mappings);
  const servers = rows.flatMap((row): AgentServer[] => {
    try {
      const upstream = agentUpstreamOf(
        { ...row, id: row.integration_id, slug: row.integration_slug },
        vault,
        sources(row.integration_workspace_id),
      );
      const card: AgentCard | null = row.agent_card === null ? null : decode(row.agent_card);
      return [
        {
          ...upstream,
          id: row.id,
          slug: row.slug,
          workspaceId,
          name: row.name,
          integrationSlug: row.integration_slug,
          granted: row.integration_workspace_id === workspaceId || row.grant_enabled === 1,
          defaultAccess: row.default_user_access,
          users: new Map(
            access.filter(({ server_id }) => server_id === row.id).map((one) => [one.user_id, one.enabled === 1]),
          ),
          cardDigest: row.card_digest,
          interfaces: card && interfacesOf(card),
          skillsOff: new Set([
            ...integrationSkills.filter((one) => one.integration_id === row.integration_id).map((one) => one.skill_id),
            ...serverSkills.filter((one) => one.server_id === row.id).map((one) => one.skill_id),
          ]),
        },
      ];
    } catch (fault) {
      warn(`The agent server ${row.slug} cannot be used: ${fault instanceof Error ? fault.message : String(fault)}`);
      return [];
    }
  });
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
    .select([
      'server.id',
      'server.slug',
      'server.name',
      'server.default_user_access',
      'integration.id as integration_id',
      'integration.slug as integration_slug',
      'integration.organisation_id',
      'integration.workspace_id as integration_workspace_id',
      'integration.workspace_id',
      'integration.url',
      'integration.auth_type',
      'integration.configurations_sealed',
      'integration.secret_mappings',
      'integration.agent_card',
      'integration.card_digest',
      'grant.enabled as grant_enabled',
    ])
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

const accessRows = (db: Db, workspaceId: string) =>
  db
    .selectFrom('agent_server_users')
    .select(['server_id', 'user_id', 'enabled'])
    .where('server_id', 'in', ofWorkspace(db, workspaceId).select('agent_servers.id'))
    .execute();
