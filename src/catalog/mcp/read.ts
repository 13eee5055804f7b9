/** Reads the MCP servers of a workspace with everything that decides who may use what of them. */
import type { FindSource } from '../../secrets/mapping.ts';
import type { Db } from '../../store/database.ts';
import { decode } from '../../store/json.ts';
import type { McpIntegrationTable } from '../../store/tables/mcp.ts';
import type { Vault } from '../../store/vault.ts';
import { digestOf } from '../digest.ts';
import { readOwnSources, readServers, serverColumns, upstreamFields } from '../read-servers.ts';
import { openSettings } from '../sealed-settings.ts';
import type { CompiledApi } from './openapi/compile.ts';
import { compiledDocument } from './openapi/compiled.ts';
import type { CapabilityRules, McpCatalog, McpServer, McpUpstream } from './server.ts';
import { type McpSettings, mcpSettings } from './settings.ts';
import type { CapabilityType } from './types.ts';
import { templateMatcher } from './uri-template.ts';

type Row = Pick<
  McpIntegrationTable,
  | 'id'
  | 'slug'
  | 'organisation_id'
  | 'workspace_id'
  | 'url'
  | 'transport'
  | 'auth_type'
  | 'configurations_sealed'
  | 'secret_mappings'
>;

/** An integration as an upstream that can be called; servers add what is their own. */
export function upstreamOf(row: Row, vault: Vault, find: FindSource = () => null): McpUpstream {
  const stored = openSettings(vault, 'mcp-configurations', row.configurations_sealed);
  const { openapi, ...settings }: McpSettings = mcpSettings().parse(stored);
  return {
    ...upstreamFields(row, find),
    transport: row.transport,
    authType: row.auth_type,
    settings,
    api: row.transport === 'openapi' && openapi ? apiOf(openapi) : null,
    revision: digestOf([row.url, row.transport, row.auth_type, stored, ...decode(row.secret_mappings)]),
  };
}

function apiOf({ document, operations }: NonNullable<McpSettings['openapi']>): CompiledApi {
  const compiled = compiledDocument(document, operations);
  if (!compiled.ok) throw new Error(`its OpenAPI document ${compiled.fault}`);
  return compiled.api;
}

export const readUpstream = async (db: Db, row: Row, vault: Vault): Promise<McpUpstream> =>
  upstreamOf(row, vault, await readOwnSources(db, vault, row));

const nothing: McpCatalog = { servers: [], bySlug: () => null };

export async function readMcpCatalog(
  db: Db,
  vault: Vault,
  workspaceId: string,
  warn: (message: string) => void,
): Promise<McpCatalog> {
  const rows = await serverRows(db, workspaceId);
  if (rows.length === 0) return nothing;
  const [switches, overrides] = await Promise.all([capabilityRows(db, workspaceId), overrideRows(db, workspaceId)]);
  const family = { word: 'MCP', users: 'mcp_server_users', rows } as const;
  const servers = await readServers(
    db,
    vault,
    workspaceId,
    family,
    (row, base, find): McpServer => {
      const upstream = upstreamOf({ ...row, id: row.integration_id, slug: row.integration_slug }, vault, find);
      const { new_capabilities, pin_tools, input_guardrails, output_guardrails } = upstream.settings;
      return {
        ...upstream,
        ...base,
        description: row.description,
        capabilities: rulesOf(
          switches.filter(({ integration_id }) => integration_id === row.integration_id),
          overrides.filter(({ server_id }) => server_id === row.id),
          { onlyKnown: new_capabilities === 'disabled', pinned: pin_tools === true },
        ),
        guardrails: {
          input: row.input_guardrails ? decode(row.input_guardrails) : (input_guardrails ?? []),
          output: row.output_guardrails ? decode(row.output_guardrails) : (output_guardrails ?? []),
        },
        metadata: decode(row.metadata),
        createdAt: row.created_at,
        updatedAt: row.last_updated_at,
      };
    },
    warn,
  );
  const byServer = new Map(servers.map((server) => [server.slug, server]));
  const byIntegration = new Map(servers.map((server) => [server.integrationSlug, server]));
  return { servers, bySlug: (slug) => byServer.get(slug) ?? byIntegration.get(slug) ?? null };
}

interface Switch {
  type: CapabilityType;
  key: string;
  enabled: 0 | 1;
  pinned_digest?: string | null;
}

const named = (type: CapabilityType, key: string): string => `${type} ${key}`;

function rulesOf(
  integration: readonly Switch[],
  server: readonly Switch[],
  { onlyKnown, pinned }: { onlyKnown: boolean; pinned: boolean },
): CapabilityRules {
  const off = new Set(
    [...integration, ...server].filter(({ enabled }) => enabled === 0).map(({ type, key }) => named(type, key)),
  );
  const known = onlyKnown ? new Set(integration.map(({ type, key }) => named(type, key))) : null;
  const pins = pinned
    ? new Map(integration.filter(({ type }) => type === 'tool').map(({ key, pinned_digest }) => [key, pinned_digest]))
    : null;
  const allows: CapabilityRules['allows'] = (type, key) =>
    !off.has(named(type, key)) && (known?.has(named(type, key)) ?? true);
  return {
    allows,
    isOff: (type, key) => off.has(named(type, key)),
    templates: integration
      .filter(({ type }) => type === 'resource_template')
      .map(({ key }) => ({ matches: templateMatcher(key), enabled: allows('resource_template', key) })),
    pinOf: (tool) => pins?.get(tool) ?? null,
  };
}

const serverRows = (db: Db, workspaceId: string) =>
  db
    .selectFrom('mcp_servers as server')
    .innerJoin('mcp_integrations as integration', 'integration.id', 'server.integration_id')
    .leftJoin('mcp_integration_workspaces as grant', (join) =>
      join
        .onRef('grant.integration_id', '=', 'server.integration_id')
        .onRef('grant.workspace_id', '=', 'server.workspace_id'),
    )
    .select([
      ...serverColumns,
      'server.description',
      'server.input_guardrails',
      'server.output_guardrails',
      'server.created_at',
      'server.last_updated_at',
      'integration.transport',
      'integration.metadata',
    ])
    .where('server.workspace_id', '=', workspaceId)
    .where('server.status', '=', 'active')
    .where('integration.status', '=', 'active')
    .orderBy('server.created_at')
    .orderBy('server.id')
    .execute();

const ofWorkspace = (db: Db, workspaceId: string) =>
  db
    .selectFrom('mcp_servers')
    .where('mcp_servers.workspace_id', '=', workspaceId)
    .where('mcp_servers.status', '=', 'active');

const capabilityRows = (db: Db, workspaceId: string) =>
  db
    .selectFrom('mcp_capabilities')
    .select(['integration_id', 'type', 'key', 'enabled', 'pinned_digest'])
    .where('integration_id', 'in', ofWorkspace(db, workspaceId).select('integration_id'))
    .execute();

const overrideRows = (db: Db, workspaceId: string) =>
  db
    .selectFrom('mcp_server_capabilities')
    .select(['server_id', 'type', 'key', 'enabled'])
    .where('server_id', 'in', ofWorkspace(db, workspaceId).select('mcp_servers.id'))
    .where('enabled', '=', 0)
    .execute();
