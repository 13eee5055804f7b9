/** Reads the servers of a workspace, of MCP or of agents, with what decides who may use them. */
import { type FindSource, usesOf } from '../secrets/mapping.ts';
import type { Db } from '../store/database.ts';
import { decode, type JsonText } from '../store/json.ts';
import type { Vault } from '../store/vault.ts';
import type { AccessRules } from './access-rules.ts';
import { readSources } from './read-secrets.ts';
import type { SecretMapping } from './saved.ts';

/** Of the join of a server, its integration and the grant: what both families read. */
export const serverColumns = [
  'server.id',
  'server.slug',
  'server.name',
  'server.default_user_access',
  'integration.id as integration_id',
  'integration.slug as integration_slug',
  'integration.organisation_id',
  'integration.workspace_id',
  'integration.url',
  'integration.auth_type',
  'integration.configurations_sealed',
  'integration.secret_mappings',
  'grant.enabled as grant_enabled',
] as const;

interface ServerRow {
  id: string;
  slug: string;
  name: string;
  default_user_access: 'allow' | 'deny';
  integration_id: string;
  integration_slug: string;
  organisation_id: string;
  /** Of the integration; null: the organisation's. */
  workspace_id: string | null;
  secret_mappings: JsonText<SecretMapping[]>;
  grant_enabled: 0 | 1 | null;
}

interface IntegrationRow {
  id: string;
  slug: string;
  organisation_id: string;
  workspace_id: string | null;
  url: string;
  secret_mappings: JsonText<SecretMapping[]>;
}

/** What must be known of any integration to call it; `find` answers the references that its settings are mapped to. */
export function upstreamFields(row: IntegrationRow, find: FindSource) {
  const secrets = usesOf(decode(row.secret_mappings), find);
  return {
    ...(secrets && { secrets }),
    id: row.id,
    integrationId: row.id,
    slug: row.slug,
    organisationId: row.organisation_id,
    workspaceId: row.workspace_id,
    url: row.url,
  };
}

/** The references that an integration is mapped to, for calls that are made outside a workspace's catalog. */
export async function readOwnSources(db: Db, vault: Vault, row: IntegrationRow): Promise<FindSource> {
  const place = { organisationId: row.organisation_id, workspaceId: row.workspace_id };
  const sources = await readSources(db, vault, place, decode(row.secret_mappings));
  return sources(row.workspace_id);
}

/** What every server has, beside its upstream. */
export interface ServerBase extends AccessRules {
  id: string;
  slug: string;
  workspaceId: string;
  name: string;
  integrationSlug: string;
}

interface Family<Row> {
  /** As warnings name it. */
  word: 'MCP' | 'agent';
  users: 'mcp_server_users' | 'agent_server_users';
  rows: readonly Row[];
}

/** One that cannot be read, say because its settings do not open, is left out with a warning. */
export async function readServers<Row extends ServerRow, Server>(
  db: Db,
  vault: Vault,
  workspaceId: string,
  { word, users, rows }: Family<Row>,
  build: (row: Row, base: ServerBase, find: FindSource) => Server,
  warn: (message: string) => void,
): Promise<Server[]> {
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const access = await db
    .selectFrom(users)
    .select(['server_id', 'user_id', 'enabled'])
    .where('server_id', 'in', ids)
    .execute();
  const place = { organisationId: rows[0]?.organisation_id ?? '', workspaceId };
  const mappings = rows.flatMap(({ secret_mappings }) => decode(secret_mappings));
  const sources = await readSources(db, vault, place, mappings);
  return rows.flatMap((row): Server[] => {
    const base: ServerBase = {
      id: row.id,
      slug: row.slug,
      workspaceId,
      name: row.name,
      integrationSlug: row.integration_slug,
      granted: row.workspace_id === workspaceId || row.grant_enabled === 1,
      defaultAccess: row.default_user_access,
      users: new Map(
        access.filter(({ server_id }) => server_id === row.id).map((one) => [one.user_id, one.enabled === 1]),
      ),
    };
    try {
      return [build(row, base, sources(row.workspace_id))];
    } catch (fault) {
      warn(`The ${word} server ${row.slug} cannot be used: ${fault instanceof Error ? fault.message : String(fault)}`);
      return [];
    }
  });
}
