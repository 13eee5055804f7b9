/** Rows of what the gateway may use: integrations with their models and workspaces, providers, and configs with their versions. */
import type {
  GlobalWorkspaceAccess,
  PricingConfig,
  SecretMapping,
  StoredPricingAdjustments,
} from '../../catalog/saved.ts';
import type { RateLimit, StoredUsageLimit } from '../../limits/entries.ts';
import type { JsonText } from '../json.ts';
import type { Flag, Timestamp } from './columns.ts';

/** One set of upstream credentials, of the organisation or, with a workspace, of that workspace alone. */
export interface IntegrationTable {
  id: string;
  organisation_id: string;
  workspace_id: string | null;
  ai_provider_id: string;
  slug: string;
  name: string;
  description: string | null;
  status: 'active' | 'archived';
  key_sealed: string | null;
  configurations_sealed: string | null;
  secret_mappings: JsonText<SecretMapping[]>;
  tags: JsonText<Record<string, string>> | null;
  pricing_adjustments: JsonText<StoredPricingAdjustments> | null;
  allow_all_models: Flag;
  global_workspace_access: JsonText<GlobalWorkspaceAccess> | null;
  created_by: string | null;
  created_at: Timestamp;
  last_updated_at: Timestamp;
}

/** What is set for a single model of an integration. */
export interface IntegrationModelTable {
  integration_id: string;
  slug: string;
  name: string | null;
  description: string | null;
  enabled: Flag;
  is_custom: Flag;
  is_finetune: Flag;
  base_model_slug: string | null;
  configurations_sealed: string | null;
  pricing_config: JsonText<PricingConfig> | null;
  created_at: Timestamp;
  last_updated_at: Timestamp;
}

/** What a workspace may use of an organisation's integration. */
export interface IntegrationWorkspaceTable {
  integration_id: string;
  workspace_id: string;
  enabled: Flag;
  status: 'active' | 'exhausted';
  usage_limits: JsonText<StoredUsageLimit> | null;
  /** The due date of `usage_limits`, apart so that the reset job can look it up. */
  next_usage_reset_at: Timestamp | null;
  rate_limits: JsonText<RateLimit[]>;
  last_reset_at: Timestamp | null;
  created_at: Timestamp;
  last_updated_at: Timestamp;
}

export type ProviderStatus = 'active' | 'exhausted' | 'expired' | 'archived';

/** An integration as one workspace uses it: what requests name as `@slug`. */
export interface ProviderTable {
  id: string;
  organisation_id: string;
  workspace_id: string;
  integration_id: string;
  slug: string;
  name: string;
  note: string | null;
  status: ProviderStatus;
  /** Of its own, over those of its integration. */
  secret_mappings: JsonText<SecretMapping[]>;
  usage_limits: JsonText<StoredUsageLimit> | null;
  /** The due date of `usage_limits`, apart so that the reset job can look it up. */
  next_usage_reset_at: Timestamp | null;
  rate_limits: JsonText<RateLimit[]>;
  expires_at: Timestamp | null;
  tags: JsonText<Record<string, string>> | null;
  last_reset_at: Timestamp | null;
  created_by: string | null;
  created_at: Timestamp;
  last_updated_at: Timestamp;
}

export interface ConfigTable {
  id: string;
  organisation_id: string;
  workspace_id: string;
  slug: string;
  name: string;
  is_default: Flag;
  status: 'active' | 'archived';
  owner_id: string | null;
  updated_by: string | null;
  /** The version that requests use. */
  version_id: string;
  created_at: Timestamp;
  last_updated_at: Timestamp;
}

export interface ConfigVersionTable {
  id: string;
  config_id: string;
  /** The config as JSON, encrypted: it may hold credentials. */
  config_sealed: string;
  created_at: Timestamp;
  created_by: string | null;
}

export interface CatalogTables {
  integrations: IntegrationTable;
  integration_models: IntegrationModelTable;
  integration_workspaces: IntegrationWorkspaceTable;
  providers: ProviderTable;
  configs: ConfigTable;
  config_versions: ConfigVersionTable;
}
