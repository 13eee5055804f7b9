/** Secret references: where secrets are, and which workspaces may use them. */
import type { ManagerType } from '../../secrets/manager.ts';
import type { JsonText } from '../json.ts';
import type { Flag, Timestamp } from './columns.ts';

export interface SecretReferenceTable {
  id: string;
  organisation_id: string;
  slug: string;
  name: string;
  description: string | null;
  status: 'active' | 'archived';
  manager_type: ManagerType;
  /** Empty once it is archived. */
  auth_config_sealed: string;
  secret_path: string;
  secret_key: string | null;
  allow_all_workspaces: Flag;
  tags: JsonText<Record<string, string>> | null;
  created_by: string | null;
  created_at: Timestamp;
  last_updated_at: Timestamp;
}

interface SecretReferenceWorkspaceTable {
  reference_id: string;
  workspace_id: string;
}

/** While one master key takes the place of another: each, sealed under the other. */
interface MasterKeyTable {
  id: string;
  wrapped: string;
  role: 'next' | 'sealing' | 'previous';
  created_at: Timestamp;
}

export interface SecretTables {
  master_keys: MasterKeyTable;
  secret_references: SecretReferenceTable;
  secret_reference_workspaces: SecretReferenceWorkspaceTable;
}
