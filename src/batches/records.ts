/** Files and batches as clients see them, in OpenAI's form. */
import { decode } from '../store/json.ts';
import type { ManagedBatchTable, ManagedFileTable } from './schema.ts';

const seconds = (time: string | null): number | null => (time === null ? null : Math.floor(Date.parse(time) / 1000));

export const fileRecord = (file: ManagedFileTable): object => ({
  id: file.id,
  object: 'file',
  bytes: file.bytes,
  created_at: seconds(file.created_at),
  filename: file.filename,
  purpose: file.purpose,
  status: file.status,
  status_details: null,
});

export function batchRecord(batch: ManagedBatchTable) {
  const faults = decode(batch.faults);
  return {
    id: batch.id,
    object: 'batch' as const,
    endpoint: batch.endpoint,
    errors: faults.length > 0 ? { object: 'list' as const, data: faults } : null,
    input_file_id: batch.input_file_id,
    completion_window: batch.completion_window,
    status: batch.status,
    output_file_id: batch.output_file_id,
    error_file_id: batch.error_file_id,
    internal_output_file_id: batch.internal_output_file_id,
    created_at: seconds(batch.created_at) ?? 0,
    in_progress_at: seconds(batch.in_progress_at),
    expires_at: seconds(batch.expires_at) ?? 0,
    finalizing_at: seconds(batch.finalizing_at),
    completed_at: seconds(batch.completed_at),
    failed_at: seconds(batch.failed_at),
    expired_at: seconds(batch.expired_at),
    cancelling_at: seconds(batch.cancelling_at),
    cancelled_at: seconds(batch.cancelled_at),
    request_counts: { total: batch.total, completed: batch.completed, failed: batch.failed },
    metadata: batch.metadata === null ? null : decode(batch.metadata),
    // What guardrails say stands with each row of the output.
    ...(batch.at_provider === 1 && { hook_results: { before_request_hooks: [], after_request_hooks: [] } }),
  };
}
