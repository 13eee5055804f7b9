/** Reads the MCP servers of a workspace with everything that decides who may use what of them. */
import { createHash } from 'node:crypto';
import { type FindSource, usesOf } from '../../secrets/mapping.ts';
import type { Db } from '../../store/database.ts';
import { decode } from '../../store/json.ts';
import type { McpIntegrationTable } from '../../store/tables/mcp.ts';
import type { Vault } from '../../store/vault.ts';
import { readSources } from '../read-secrets.ts';
import type { CompiledApi } from './openapi/compile.ts';
import { compiledDocument } from './openapi/compiled.ts';
import type { CapabilityRules, McpCatalog, McpServer, McpUpstream } from './server.ts';
import { type McpSettings, mcpSettings } from './settings.ts';
import type { CapabilityType } from './types.ts';
import { templateMatcher } from './uri-template.ts';

const purpose = 'mcp-configurations';

export const sealMcpSettings = (vault: Vault, settings: Readonly<Record<string, unknown>>): string | null =>
  Object.keys(settings).length === 0 ? null : vault.seal(JSON.stringify(settings), purpose);

export const openMcpSettings = (vault: Vault, sealed: string | null): Record<string, unknown> =>
  sealed === null ? {} : JSON.parse(vault.open(sealed, purpose));

/** An integration as an upstream that can be called; servers add what is their own. */
export function upstreamOf(
  row: Pick<
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
  >,
  vault: Vault,
  find: FindSource = () => null,
): McpUpstream {
  const stored = openMcpSettings(vault, row.configurations_sealed);
  const { openapi, ...settings }: McpSettings = mcpSettings().parse(stored);
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
    transport: row.transport,
    authType: row.auth_type,
    settings,
    api: row.transport === 'openapi' && openapi ? apiOf(openapi) : null,
    revision: digestOf([row.url, row.transport, row.auth_type, stored, ...mappings]),
  };
}

function apiOf({ document, operations }: NonNullable<McpSettings['openapi']>): CompiledApi {
  const compiled = compiledDocument(document, operations);
  if (!compiled.ok) throw new Error(`its OpenAPI document ${compiled.fault}`);
  return compiled.api;
}

/** With the references that its settings are mapped to, for calls that are made outside a workspace's catalog. */
export async function readUpstream(db: Db, row: Parameters<typeof upstreamOf>[0], vault: Vault): Promise<McpUpstream> {
  const place = { organisationId: row.organisation_id, workspaceId: row.workspace_id };
  const sources = await readSources(db, vault, place, decode(row.secret_mappings));
  return upstreamOf(row, vault, sources(row.workspace_id));
}

export const digestOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 22);

const nothing: McpCatalog = { servers: [], bySlug: () => null };

export async function readMcpCatalog(
  db: Db,
  vault: Vault,
  workspaceId: string,
  warn: (message: string) => void,
): Promise<McpCatalog> {
  const rows = await serverRows(db, workspaceId);
  if (rows.length === 0) return nothing;
  const [switches, overrides, access] = await Promise.all([
    capabilityRows(db, workspaceId),
    overrideRows(db, workspaceId),
    accessRows(db, workspaceId),
  ]);
  const place = { organisationId: rows[0]?.organisation_id ?? '', workspaceId };
  const mappings = rows.flatMap(({ secret_mappings }) => decode(secret_mappings));
  const sources = await readSources(db, vault, place, mappings);
  const servers = rows.flatMap((row): McpServer[] => {
    try {
      const upstream = upstreamOf(
        { ...row, id: row.integration_id, slug: row.integration_slug },
        vault,
        sources(row.integration_workspace_id),
      );
      const { new_capabilities, pin_tools } = upstream.settings;
      return [
        {
          ...upstream,
          id: row.id,
          slug: row.slug,
          workspaceId,
          name: row.name,
          description: row.description,
          integrationSlug: row.integration_slug,
          granted: row.integration_workspace_id === workspaceId || row.grant_enabled === 1,
          defaultAccess: row.default_user_access,
          users: new Map(
            access.filter(({ server_id }) => server_id === row.id).map((one) => [one.user_id, one.enabled === 1]),
          ),
          capabilities: rulesOf(
            switches.filter(({ integration_id }) => integration_id === row.integration_id),
            overrides.filter(({ server_id }) => server_id === row.id),
            { onlyKnown: new_capabilities === 'disabled', pinned: pin_tools === true },
          ),
          guardrails: {
            input: row.input_guardrails ? decode(row.input_guardrails) : (upstream.settings.input_guardrails ?? []),
            output: row.output_guardrails ? decode(row.output_guardrails) : (upstream.settings.output_guardrails ?? []),
          },
          metadata: decode(row.metadata),
          createdAt: row.created_at,
          updatedAt: row.last_updated_at,
        },
      ];
    } catch (fault) {
      warn(`The MCP server ${row.slug} cannot be used: ${fault instanceof Error ? fault.message : String(fault)}`);
      return [];
    }
  });
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
      'server.id',
      'server.slug',
      'server.name',
      'server.description',
      'server.default_user_access',
      'server.input_guardrails',
      'server.output_guardrails',
      'server.created_at',
      'server.last_updated_at',
      'integration.id as integration_id',
      'integration.slug as integration_slug',
      'integration.organisation_id',
      'integration.workspace_id as integration_workspace_id',
      'integration.workspace_id',
      'integration.url',
      'integration.transport',
      'integration.auth_type',
      'integration.configurations_sealed',
      'integration.secret_mappings',
      'integration.metadata',
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

const accessRows = (db: Db, workspaceId: string) =>
  db
    .selectFrom('mcp_server_users')
    .select(['server_id', 'user_id', 'enabled'])
    .where('server_id', 'in', ofWorkspace(db, workspaceId).select('mcp_servers.id'))
    .execute();
