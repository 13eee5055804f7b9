/** Stored MCP integrations as callers see them. */
import type { z } from 'zod';
import { decode } from '../../store/json.ts';
import type { McpIntegrationTable } from '../../store/tables/mcp.ts';
import type { Vault } from '../../store/vault.ts';
import { mcpFamily } from '../provisioning/family.ts';
import { integrationFields } from '../provisioning/integrations.ts';
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
  ...integrationFields(mcpFamily, row, vault),
  transport: row.transport,
  auth_type: row.auth_type,
  metadata: asMetadata(row),
});
