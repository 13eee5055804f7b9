/** Stored integrations as callers see them. */
import type { z } from 'zod';
import type { GlobalWorkspaceAccess } from '../../catalog/saved.ts';
import { openConfigurations } from '../../catalog/saved.ts';
import type { Db } from '../../store/database.ts';
import { decode } from '../../store/json.ts';
import type { IntegrationTable } from '../../store/tables/catalog.ts';
import type { Vault } from '../../store/vault.ts';
import { countOf } from '../kernel/lists/list-queries.ts';
import { masked, maskedConfigurations } from './masking.ts';
import type { globalAccessRecord, integrationRecord, listedIntegration } from './schema.ts';

export const asListed = (row: IntegrationTable): z.output<ReturnType<typeof listedIntegration>> => ({
  object: 'integration',
  id: row.id,
  organisation_id: row.organisation_id,
  workspace_id: row.workspace_id,
  type: row.workspace_id === null ? 'organisation' : 'workspace',
  ai_provider_id: row.ai_provider_id,
  name: row.name,
  slug: row.slug,
  description: row.description,
  status: row.status,
  tags: row.tags && decode(row.tags),
  created_at: row.created_at,
  last_updated_at: row.last_updated_at,
});

export async function integrationRecordOf(
  db: Db,
  vault: Vault,
  row: IntegrationTable,
): Promise<z.output<ReturnType<typeof integrationRecord>>> {
  return {
    ...asListed(row),
    masked_key: maskedKeyOf(vault, row),
    configurations: maskedConfigurations(openConfigurations(vault, row.configurations_sealed)),
    global_workspace_access_settings: globalAccessOf(row),
    allow_all_models: row.allow_all_models === 1,
    workspace_count: row.workspace_id === null ? await grantedWorkspaces(db, row.id) : 1,
    secret_mappings: decode(row.secret_mappings),
    pricing_adjustments: row.pricing_adjustments && decode(row.pricing_adjustments),
  };
}

export const maskedKeyOf = (vault: Vault, row: Pick<IntegrationTable, 'key_sealed'>): string | null =>
  row.key_sealed === null ? null : masked(vault.open(row.key_sealed, 'integration-key'));

const noAccess: GlobalWorkspaceAccess = {
  enabled: false,
  usage_limits: [],
  rate_limits: [],
  create_default_provider: true,
  default_provider_slug: null,
};

export const storedGlobalAccess = (row: Pick<IntegrationTable, 'global_workspace_access'>): GlobalWorkspaceAccess =>
  row.global_workspace_access ? decode(row.global_workspace_access) : noAccess;

export function globalAccessOf(
  row: Pick<IntegrationTable, 'global_workspace_access'>,
): z.output<ReturnType<typeof globalAccessRecord>> {
  const { enabled, usage_limits, rate_limits } = storedGlobalAccess(row);
  return { enabled, usage_limits, rate_limits };
}

function grantedWorkspaces(db: Db, integrationId: string): Promise<number> {
  const grants = db
    .selectFrom('integration_workspaces as grant')
    .innerJoin('workspaces as workspace', 'workspace.id', 'grant.workspace_id')
    .where('grant.integration_id', '=', integrationId)
    .where('grant.enabled', '=', 1)
    .where('workspace.status', '=', 'active');
  return countOf(grants);
}
