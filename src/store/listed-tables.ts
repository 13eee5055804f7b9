/** The tables whose lists grow long: where their changes are noted, which rows are ever listed, and what lists ask of these. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { ListedAuditRow, ListedKey } from './list-tables.ts';

/** One of few values, a text that parts are looked for in, or a time as the program writes it. */
type ColumnKind = 'word' | 'text' | 'time';

export interface ListedTableFacts {
  changes: string;
  listed: RawBuilder<SqlBool>;
  /** Those that lists ask for and no index of their own finds. */
  columns: Readonly<Record<string, ColumnKind>>;
  /** The columns that lists are in the order of. */
  orders: readonly string[];
}

const keyColumns = {
  organisation_id: 'word',
  workspace_id: 'word',
  user_id: 'word',
  type: 'word',
  status: 'word',
  name_folded: 'text',
  created_at: 'time',
  last_updated_at: 'time',
  ends_at: 'time',
} satisfies Partial<Record<keyof ListedKey, ColumnKind>>;

const auditColumns = {
  organisation_id: 'word',
  timestamp: 'time',
  method: 'word',
  uri: 'text',
  user_id: 'word',
  user_type: 'word',
  workspace_id: 'word',
  response_status_code: 'word',
  resource_type: 'word',
  action: 'word',
  client_ip: 'word',
  country: 'word',
} satisfies Partial<Record<keyof ListedAuditRow, ColumnKind>>;

export type ListedTable = 'api_keys' | 'audit_logs';

export const listedTables: Readonly<Record<ListedTable, ListedTableFacts>> = {
  // Said with the word itself instead of a parameter: the indexes hold these keys only, and the engine must see that they will do.
  api_keys: {
    changes: 'api_key_changes',
    listed: sql`status != 'archived'`,
    columns: keyColumns,
    orders: ['name_folded', 'created_at', 'last_updated_at', 'ends_at'],
  },
  audit_logs: {
    changes: 'audit_log_changes',
    listed: sql`1 = 1`,
    columns: auditColumns,
    orders: ['timestamp'],
  },
};

export const namesOfListed: readonly ListedTable[] = ['api_keys', 'audit_logs'];
