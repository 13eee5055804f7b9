/** Makes integrations; every way in which one comes passes here. */
import {
  type Configurations,
  type SecretMapping,
  type StoredPricingAdjustments,
  sealJson,
} from '../../catalog/saved.ts';
import type { Db } from '../../store/database.ts';
import { encode } from '../../store/json.ts';
import type { Vault } from '../../store/vault.ts';

interface NewIntegrationRow {
  organisationId: string;
  /** Null: of the organisation. */
  workspaceId: string | null;
  aiProviderId: string;
  slug: string;
  name: string;
  description?: string | null;
  keySealed?: string | null;
  configurationsSealed?: string | null;
  secretMappings?: readonly SecretMapping[];
  tags?: Record<string, string> | null;
  pricingAdjustments?: StoredPricingAdjustments | null;
  allowAllModels?: boolean;
  createdBy: string | null;
}

/** The caller has seen to it that the slug is free in the organisation. */
export async function insertIntegration(db: Db, now: Date, integration: NewIntegrationRow): Promise<string> {
  const id = Bun.randomUUIDv7();
  const at = now.toISOString();
  await db
    .insertInto('integrations')
    .values({
      id,
      organisation_id: integration.organisationId,
      workspace_id: integration.workspaceId,
      ai_provider_id: integration.aiProviderId,
      slug: integration.slug,
      name: integration.name,
      description: integration.description ?? null,
      status: 'active',
      key_sealed: integration.keySealed ?? null,
      configurations_sealed: integration.configurationsSealed ?? null,
      secret_mappings: encode([...(integration.secretMappings ?? [])]),
      tags: integration.tags ? encode(integration.tags) : null,
      pricing_adjustments: integration.pricingAdjustments ? encode(integration.pricingAdjustments) : null,
      allow_all_models: integration.allowAllModels === false ? 0 : 1,
      global_workspace_access: null,
      created_by: integration.createdBy,
      created_at: at,
      last_updated_at: at,
    })
    .execute();
  return id;
}

export const sealKey = (vault: Vault, key: string | null | undefined): string | null =>
  key ? vault.seal(key, 'integration-key') : null;

/** What holds nothing is not sealed. */
export const sealConfigurations = (vault: Vault, configurations: Configurations): string | null =>
  Object.keys(configurations).length === 0 ? null : sealJson(vault, configurations, 'integration-configurations');
