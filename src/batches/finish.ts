/** The end of a batch: what came of its lines becomes files. */
import type { Clock } from '../clock.ts';
import type { Store } from '../store/database.ts';
import { encode } from '../store/json.ts';
import { type ManagedFiles, resultLimits } from './files.ts';
import type { BatchResults } from './results.ts';
import type { BatchFault, BatchStatus, ManagedBatchTable } from './schema.ts';

interface EndingParts {
  store: Store;
  clock: Clock;
  files: ManagedFiles;
  results: BatchResults;
}

/** How a batch may end. */
export type BatchEnd = Extract<
  BatchStatus,
  'completed' | 'cancelled' | 'expired' | 'failed' | 'file_upload_failed' | 'batch_start_failed'
>;

interface Ending {
  fault?: BatchFault | null;
  as?: BatchEnd;
}

/** Writes what there is into output and error files; the results themselves are no longer needed then. */
export async function finish(
  parts: EndingParts,
  batch: ManagedBatchTable,
  { fault = null, as }: Ending = {},
): Promise<void> {
  const { store, clock } = parts;
  const started = clock.now().toISOString();
  await store.db
    .updateTable('managed_batches')
    .set({ finalizing_at: started, ...(batch.status === 'in_progress' && { status: 'finalizing' as const }) })
    .where('id', '=', batch.id)
    .where('finalizing_at', 'is', null)
    .execute();
  const output = await writeResults(parts, batch, 0);
  const errors = await writeResults(parts, batch, 1);
  const counts = await parts.results.counts(batch);
  const status = as ?? (fault ? 'failed' : endOf(batch, clock.now()));
  const ended = clock.now().toISOString();
  await store.atomically(async (tx) => {
    await tx
      .updateTable('managed_batches')
      .set({
        ...counts,
        status,
        output_file_id: output,
        error_file_id: errors,
        ...(fault && { faults: encode([fault]) }),
        ...(failures.has(status) && { failed_at: ended }),
        ...(status === 'completed' && { completed_at: ended }),
        ...(status === 'cancelled' && { cancelled_at: ended }),
        ...(status === 'expired' && { expired_at: ended }),
      })
      .where('id', '=', batch.id)
      .execute();
    await tx.deleteFrom('managed_batch_rows').where('batch_id', '=', batch.id).execute();
    if (batch.at_provider) await tx.deleteFrom('checked_batch_rows').where('batch_id', '=', batch.id).execute();
  });
}

const failures: ReadonlySet<BatchEnd> = new Set<BatchEnd>(['failed', 'file_upload_failed', 'batch_start_failed']);

function endOf(
  { status, expires_at }: ManagedBatchTable,
  now: Date,
): Extract<BatchStatus, 'completed' | 'cancelled' | 'expired'> {
  if (status === 'cancelling') return 'cancelled';
  return expires_at <= now.toISOString() ? 'expired' : 'completed';
}

/** Null when no line ended so. A file that an interrupted run has left is written anew; the sweep of uploads takes the old one. */
async function writeResults(parts: EndingParts, batch: ManagedBatchTable, failed: 0 | 1): Promise<string | null> {
  const owner = { organisationId: batch.organisation_id, workspaceId: batch.workspace_id };
  const results = parts.results.read(batch, failed);
  const first = await results.next();
  if (first.done) return null;
  const filename = `${batch.id}_${failed ? 'error' : 'output'}.jsonl`;
  const purpose = failed ? 'batch_error' : 'batch_output';
  const file = await parts.files.write(owner, { filename, purpose }, andThen(first.value, results), resultLimits);
  return file.id;
}

async function* andThen<T>(first: T, rest: AsyncGenerator<T>): AsyncGenerator<T> {
  yield first;
  yield* rest;
}
