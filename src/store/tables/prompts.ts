/** Prompts, their versions, labels, partials, collections and shares, as rows. */
import type { JsonText } from '../json.ts';

type Timestamp = string;

export interface CollectionTable {
  id: string;
  organisation_id: string;
  workspace_id: string;
  slug: string;
  name: string;
  parent_collection_id: string | null;
  /** How many collections it lies in. */
  depth: number;
  is_default: 0 | 1;
  status: 'active' | 'archived';
  created_at: Timestamp;
  last_updated_at: Timestamp;
}

export interface PromptTable {
  id: string;
  organisation_id: string;
  workspace_id: string;
  collection_id: string;
  slug: string;
  name: string;
  status: 'active' | 'archived';
  /** The published version. */
  default_version_id: string;
  latest_version_id: string;
  latest_version: number;
  created_at: Timestamp;
  last_updated_at: Timestamp;
}

export interface PromptVersionTable {
  id: string;
  prompt_id: string;
  version: number;
  model: string | null;
  /** The slug of a saved provider. */
  virtual_key: string;
  description: string;
  metadata: JsonText<Record<string, unknown>>;
  content_sealed: string;
  created_by: string;
  created_at: Timestamp;
}

/** Labels that people made; the universal ones are no rows. */
export interface PromptLabelTable {
  id: string;
  organisation_id: string;
  /** Null for a label of the whole organisation. */
  workspace_id: string | null;
  name: string;
  description: string;
  color_code: string;
  created_at: Timestamp;
  last_updated_at: Timestamp;
}

/** A label stands on one version of a prompt at most. */
export interface PromptVersionLabelTable {
  prompt_id: string;
  label_id: string;
  version_id: string;
  created_at: Timestamp;
}

export interface PromptPartialTable {
  id: string;
  organisation_id: string;
  workspace_id: string;
  collection_id: string;
  slug: string;
  name: string;
  status: 'active' | 'archived';
  default_version_id: string;
  latest_version_id: string;
  latest_version: number;
  created_at: Timestamp;
  last_updated_at: Timestamp;
}

export interface PromptPartialVersionTable {
  id: string;
  partial_id: string;
  version: number;
  description: string;
  string_sealed: string;
  created_by: string;
  created_at: Timestamp;
}

/** A prompt or partial that other workspaces of the organisation may use. */
export interface PromptShareTable {
  id: string;
  item_type: 'prompt' | 'partial';
  item_id: string;
  organisation_id: string;
  /** The workspace that owns the item. */
  workspace_id: string;
  audience: 'organisation' | 'workspaces';
  created_at: Timestamp;
}

export interface PromptShareWorkspaceTable {
  share_id: string;
  workspace_id: string;
}

export interface PromptTables {
  collections: CollectionTable;
  prompts: PromptTable;
  prompt_versions: PromptVersionTable;
  prompt_labels: PromptLabelTable;
  prompt_version_labels: PromptVersionLabelTable;
  prompt_partials: PromptPartialTable;
  prompt_partial_versions: PromptPartialVersionTable;
  prompt_shares: PromptShareTable;
  prompt_share_workspaces: PromptShareWorkspaceTable;
}
