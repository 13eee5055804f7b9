/** Rows of what the gateway keeps itself: files that were uploaded to it, the batches that it runs from them, and what came of each line. */
import type { TokenGrant } from '../identity/jwt/claims.ts';
import type { JsonText } from '../store/json.ts';
import type { Timestamp } from '../store/tables/columns.ts';

export interface ManagedFileTable {
  id: string;
  organisation_id: string;
  workspace_id: string;
  filename: string;
  purpose: string;
  bytes: number;
  lines: number;
  status: 'uploading' | 'processed';
  created_at: Timestamp;
}

/** A run of whole lines, encrypted. */
export interface ManagedFileChunkTable {
  file_id: string;
  sequence: number;
  /** The number of its first line, from 0. */
  first_line: number;
  content_sealed: string;
}

export type BatchStatus =
  | 'validating'
  | 'failed'
  | 'in_progress'
  | 'finalizing'
  | 'completed'
  | 'expired'
  | 'cancelling'
  | 'cancelled';

/** Something wrong with a line of the input, in the form that OpenAI's batches have. */
export interface BatchFault {
  code: string;
  message: string;
  line: number | null;
  param: string | null;
}

export interface ManagedBatchTable {
  id: string;
  organisation_id: string;
  workspace_id: string;
  /** Whose call each line is made as. */
  api_key_id: string;
  /** Of a batch that a JWT has ordered: what the token granted. */
  token_grant: JsonText<TokenGrant> | null;
  endpoint: string;
  completion_window: string;
  input_file_id: string;
  output_file_id: string | null;
  error_file_id: string | null;
  internal_output_file_id: string | null;
  status: BatchStatus;
  /** Headers of ours that every line is sent with, as JSON; encrypted. */
  options: string;
  metadata: JsonText<Record<string, string>> | null;
  faults: JsonText<BatchFault[]>;
  total: number;
  completed: number;
  failed: number;
  created_at: Timestamp;
  expires_at: Timestamp;
  in_progress_at: Timestamp | null;
  finalizing_at: Timestamp | null;
  completed_at: Timestamp | null;
  failed_at: Timestamp | null;
  expired_at: Timestamp | null;
  cancelling_at: Timestamp | null;
  cancelled_at: Timestamp | null;
}

/** What a line was answered; gone once the output files are written. */
export interface ManagedBatchRowTable {
  batch_id: string;
  line: number;
  failed: 0 | 1;
  result_sealed: string;
}
