/** Stored MCP integrations as callers see them. */
import type { z } from 'zod';
import { openMcpSettings } from '../../catalog/mcp/read.ts';
import { decode } from '../../store/json.ts';
import type { McpIntegrationTable } from '../../store/tables/mcp.ts';
import type { Vault } from '../../store/vault.ts';
import { maskedSettings } from './masking.ts';
import type { mcpIntegrationRecord, metadataRecord } from './schema.ts';

export function asMetadata(row: McpIntegrationTable): z.output<ReturnType<typeof metadataRecord>> {
  const known = decode(row.metadata);
  return {
    title: known.title ?? null,
    description: known.description ?? null,
    icons: [...(known.icons ?? [])],
    name: known.name ?? null,
    version: known.version ?? null,
    server_name: known.name ?? null,
    server_version: known.version ?? null,
    protocol_version: known.protocol_version ?? null,
    instructions: known.instructions ?? null,
    website_url: known.website_url ?? null,
    capability_flags: { ...known.capability_flags },
    sync_status: row.sync_status,
    last_synced_at: row.last_synced_at,
    sync_error: row.sync_error,
  };
}

export const asMcpIntegration = (
  row: McpIntegrationTable,
  vault: Vault,
): z.output<ReturnType<typeof mcpIntegrationRecord>> => ({
  id: row.id,
  slug: row.slug,
  name: row.name,
  description: row.description,
  url: row.url,
  transport: row.transport,
  auth_type: row.auth_type,
  configurations: maskedSettings(openMcpSettings(vault, row.configurations_sealed)),
  secret_mappings: decode(row.secret_mappings),
  global_workspace_access: row.global_workspace_access && decode(row.global_workspace_access),
  organisation_id: row.organisation_id,
  workspace_id: row.workspace_id,
  type: row.workspace_id === null ? 'organisation' : 'workspace',
  status: row.status,
  owner_id: row.created_by,
  created_at: row.created_at,
  last_updated_at: row.last_updated_at,
  metadata: asMetadata(row),
});
