/** One step of a batch that a provider runs: what it works with, and how it is kept. */
import type { Clock } from '../clock.ts';
import type { Store } from '../store/database.ts';
import type { Vault } from '../store/vault.ts';
import { faultOf, keyGone } from './batch-faults.ts';
import type { CheckedRows } from './checked-rows.ts';
import type { ManagedFiles } from './files.ts';
import { type BatchEnd, finish } from './finish.ts';
import type { GuardedCalls } from './guarded-calls.ts';
import type { Called, ProviderCalls } from './provider-calls.ts';
import type { BatchResults } from './results.ts';
import type { BatchFault, ManagedBatchTable, ProviderBatchTable } from './schema.ts';

export interface RunParts {
  store: Store;
  vault: Vault;
  clock: Clock;
  files: ManagedFiles;
  results: BatchResults;
  guarded: GuardedCalls;
}

export interface Step extends RunParts {
  batch: ManagedBatchTable;
  state: ProviderBatchTable;
  calls: ProviderCalls;
  checked: CheckedRows;
}

/** Whether the next step can be made at once. */
export type Next = 'on' | 'wait';

const linesAtOnce = 25;
export const pollMs = 30_000;
/** Of one step, in a row. */
const mostFailures = 10;

export const ownerOf = ({ organisation_id, workspace_id }: ManagedBatchTable) => ({
  organisationId: organisation_id,
  workspaceId: workspace_id,
});

export async function remember({ store, batch }: Step, known: Partial<ProviderBatchTable>): Promise<Next> {
  await store.db
    .updateTable('provider_batches')
    .set({ failures: 0, ...known })
    .where('batch_id', '=', batch.id)
    .execute();
  return 'on';
}

export async function show({ store, batch }: Step, known: Partial<ManagedBatchTable>): Promise<void> {
  await store.db.updateTable('managed_batches').set(known).where('id', '=', batch.id).execute();
}

export async function end(step: Step, ending: { as?: BatchEnd; fault?: BatchFault | null }): Promise<Next> {
  await finish(step, step.batch, ending);
  const { raw_file_id } = step.state;
  if (raw_file_id) await step.files.discard(raw_file_id);
  return 'wait';
}

/** A step that failed is made again later, until it has failed too often. */
export async function failed<T>(
  step: Step,
  called: Exclude<Called<T>, { kind: 'answered' }>,
  as: BatchEnd,
  code: string,
): Promise<Next> {
  if (called.kind === 'key gone') return end(step, { as, fault: keyGone });
  const failures = step.state.failures + 1;
  if (called.kind === 'refused' || failures >= mostFailures)
    return end(step, { as, fault: faultOf(code, called.message) });
  await remember(step, { failures, due_at: later(step, Math.min(pollMs, 1_000 * 2 ** failures)) });
  return 'wait';
}

export const later = ({ clock }: Step, ms: number): string => new Date(clock.now().getTime() + ms).toISOString();

/** The next lines of a file. */
export async function linesFrom({ files }: Step, fileId: string, from: number): Promise<string[]> {
  const lines: string[] = [];
  for await (const { firstLine, text } of files.content(fileId, from)) {
    for (const [index, line] of text.trimEnd().split('\n').entries()) {
      if (firstLine + index < from) continue;
      lines.push(line);
      if (lines.length === linesAtOnce) return lines;
    }
  }
  return lines;
}
