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
  /** Of rows that guardrails check before a provider gets them: the headers of their upload, as JSON; encrypted. */
  provider_options: string | null;
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
  | 'file_upload_failed'
  | 'batch_start_failed'
  | 'in_progress'
  | 'finalizing'
  | 'processing_post_request_guardrails'
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
  /** 1: the provider runs it, between our checks of its rows and of its answers. */
  at_provider: 0 | 1;
}

/** How a batch stands that a provider runs. */
export interface ProviderBatchTable {
  batch_id: string;
  organisation_id: string;
  /** What the client asked for, as JSON; encrypted. */
  order_sealed: string;
  /** The rows as the client wrote them; null while they are only at the provider. */
  source_file_id: string | null;
  lines_checked: number;
  /** The rows that passed, as they go to the provider. */
  checked_file_id: string | null;
  provider_input_id: string | null;
  /** Set before the provider is asked to begin: it may have begun, even where no answer is known. */
  submitted_at: Timestamp | null;
  provider_batch_id: string | null;
  /** What the provider wrote: nobody but us reads it. */
  output_id: string | null;
  error_id: string | null;
  /** Where it writes, in storage whose ids are addresses. */
  output_folder: string | null;
  /** 1: the provider was asked to cancel it. */
  cancelled_there: 0 | 1;
  ended_as: 'completed' | 'failed' | 'expired' | 'cancelled' | null;
  /** A copy of what the provider wrote, until all of it is checked. */
  raw_file_id: string | null;
  answers_checked: number;
  /** How often in a row the next step has failed. */
  failures: number;
  /** When the next step is due. */
  due_at: Timestamp;
}

/** A row that guardrails let pass, with what they said of it; gone once the batch has ended. */
export interface CheckedBatchRowTable {
  batch_id: string;
  line: number;
  custom_id: string;
  row_sealed: string;
}

/** What a line was answered; gone once the output files are written. */
export interface ManagedBatchRowTable {
  batch_id: string;
  line: number;
  failed: 0 | 1;
  result_sealed: string;
}
