/** The states of jobs of a cloud, in OpenAI's words: of batches and of tuning. */
import { objectOf, secondsOf, textOf, wordOf } from './json.ts';
import type { JsonObject } from './provider.ts';

const batchStates: ReadonlyMap<string, string> = new Map(
  Object.entries({
    QUEUED: 'validating',
    PENDING: 'validating',
    PAUSED: 'validating',
    RUNNING: 'in_progress',
    UPDATING: 'in_progress',
    SUCCEEDED: 'completed',
    PARTIALLY_SUCCEEDED: 'completed',
    FAILED: 'failed',
    CANCELLING: 'cancelling',
    CANCELLED: 'cancelled',
    EXPIRED: 'expired',
  }),
);

const tuningStates: ReadonlyMap<string, string> = new Map(
  Object.entries({
    QUEUED: 'queued',
    PENDING: 'queued',
    PAUSED: 'queued',
    RUNNING: 'running',
    UPDATING: 'running',
    CANCELLING: 'running',
    SUCCEEDED: 'succeeded',
    PARTIALLY_SUCCEEDED: 'succeeded',
    FAILED: 'failed',
    CANCELLED: 'cancelled',
    EXPIRED: 'failed',
  }),
);

/** `JOB_STATE_RUNNING` and `BATCH_STATE_RUNNING` are the same. */
const bare = (state: unknown): string => (textOf(state) ?? '').replace(/^(JOB|BATCH)_STATE_/, '');

export const batchStatus = (state: unknown): string => batchStates.get(bare(state)) ?? 'in_progress';
export const tuningStatus = (state: unknown): string => tuningStates.get(bare(state)) ?? 'running';

interface BatchFacts {
  id: string;
  state: unknown;
  endpoint: string;
  inputFileId: string | null;
  /** Where it lies once the batch is complete. */
  outputFileId: string | null;
  created: unknown;
  started: unknown;
  ended: unknown;
  counts: { total: number; completed: number; failed: number };
  error: unknown;
}

export function batchAnswer(batch: BatchFacts): JsonObject {
  const status = batchStatus(batch.state);
  const endedAt = (...states: string[]): number | null => (states.includes(status) ? secondsOf(batch.ended) : null);
  const message = textOf(objectOf(batch.error).message);
  const code = wordOf(objectOf(batch.error).code ?? 'failed');
  return {
    id: batch.id,
    object: 'batch',
    endpoint: batch.endpoint,
    errors: message === null ? null : { object: 'list', data: [{ code, message, param: null, line: null }] },
    input_file_id: batch.inputFileId,
    completion_window: '24h',
    status,
    output_file_id: status === 'completed' ? batch.outputFileId : null,
    error_file_id: null,
    created_at: secondsOf(batch.created),
    in_progress_at: secondsOf(batch.started),
    expires_at: null,
    finalizing_at: null,
    completed_at: endedAt('completed'),
    failed_at: endedAt('failed'),
    expired_at: endedAt('expired'),
    cancelling_at: null,
    cancelled_at: endedAt('cancelled'),
    request_counts: batch.counts,
    metadata: null,
  };
}
