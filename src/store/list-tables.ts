/** The tables that triggers keep beside those that are listed, so that lists need not count. */
import type { ApiKeyStatus, ApiKeyType } from './schema.ts';

/** How often a table was changed, in shards, so that its writers do not meet. Triggers write it. */
export interface TableChangesTable {
  table_name: string;
  shard: string;
  changes: number;
}

/** How many keys of each kind there are, in shards. Triggers write it. */
export interface ApiKeyTallyTable {
  organisation_id: string;
  /** Empty for keys of the organisation itself. */
  workspace_id: string;
  type: ApiKeyType;
  status: ApiKeyStatus;
  shard: string;
  keys: number;
}
