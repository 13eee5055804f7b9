/** Rows of log exports. */
import type { ExportQuery } from '../../logs/exports/write.ts';
import type { JsonText } from '../json.ts';

export type ExportStatus = 'draft' | 'in_progress' | 'success' | 'failed' | 'stopped';

export interface LogExportTable {
  id: string;
  organisation_id: string;
  workspace_id: string | null;
  /** As the caller wrote them. */
  filters: JsonText<Record<string, unknown>>;
  /** What they come to; visibility was decided when it was saved. */
  query: JsonText<ExportQuery>;
  requested_data: JsonText<string[]>;
  status: ExportStatus;
  description: string | null;
  error: string | null;
  total_records: number;
  written_records: number;
  created_by: string;
  /** The person behind a user key or a session; their user keys see the export too. */
  owner_user_id: string | null;
  created_at: string;
  last_updated_at: string;
  finished_at: string | null;
}

export interface LogExportTables {
  log_exports: LogExportTable;
}
