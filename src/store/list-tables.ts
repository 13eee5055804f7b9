/** The tables that triggers keep beside those that are listed, so that lists need not count. */
import type { GeneratedAlways } from 'kysely';
import type { ApiKeyStatus, ApiKeyTable, ApiKeyType, AuditLogTable } from './schema.ts';

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

/** What the store works out of a key by itself. */
export interface KeyOrder {
  /** When the key expires; `9999` when it never does. */
  ends_at: GeneratedAlways<string>;
}

/** A row as it became or as it was. Triggers write it; when it was written is told by each engine in its own way. */
interface Noted {
  sign: 1 | -1;
}

/** What lists of keys may ask of a key. */
export type ListedKey = Pick<
  ApiKeyTable & KeyOrder,
  | 'id'
  | 'organisation_id'
  | 'workspace_id'
  | 'user_id'
  | 'type'
  | 'status'
  | 'name_folded'
  | 'created_at'
  | 'last_updated_at'
  | 'ends_at'
>;

export type ApiKeyChangeTable = ListedKey & Noted;

/** What the list of the audit trail may ask of a row. */
export type ListedAuditRow = Omit<
  AuditLogTable,
  'request_body' | 'query_params' | 'request_headers' | 'resource_id' | 'details'
>;

export type AuditLogChangeTable = ListedAuditRow & Noted;
