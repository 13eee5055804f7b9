/** Guardrails, their versions, and plugins. */
import type { SecretMapping } from '../../catalog/saved.ts';
import type { JsonText } from '../json.ts';

export interface GuardrailTable {
  id: string;
  organisation_id: string;
  /** Null for a guardrail of the organisation itself. */
  workspace_id: string | null;
  slug: string;
  name: string;
  status: 'active' | 'archived';
  version_id: string;
  owner_id: string | null;
  updated_by: string | null;
  created_at: string;
  last_updated_at: string;
}

export interface GuardrailVersionTable {
  id: string;
  guardrail_id: string;
  /** Checks and actions, sealed: checks may hold credentials. */
  content_sealed: string;
  created_at: string;
  created_by: string | null;
}

export interface PluginTable {
  organisation_id: string;
  plugin: string;
  enabled: 0 | 1;
  credentials_sealed: string;
  secret_mappings: JsonText<SecretMapping[]>;
  created_at: string;
  last_updated_at: string;
}

export interface GuardrailTables {
  guardrails: GuardrailTable;
  guardrail_versions: GuardrailVersionTable;
  plugins: PluginTable;
}
