/** Runs the batches that clients have ordered of the gateway itself, some lines every few seconds. */
import type { Services } from '../admin/kernel/services.ts';
import { type ManagedFiles, sweepUploads } from '../batches/files.ts';
import type { CallAs, GuardedCalls } from '../batches/guarded-calls.ts';
import { createBatchRunner } from '../batches/run.ts';
import type { Job } from './runner.ts';

/** What running a client's order takes besides the services. */
export interface OrderedWork {
  files: ManagedFiles;
  call: CallAs;
  guarded: GuardedCalls;
}

/** Less than the pace of the job, so that slow batches do not slow it down. */
const timeoutMs = 4_000;

export function createManagedBatchRun(
  { store, vault, clock, limits }: Services,
  { files, call, guarded }: OrderedWork,
): Job {
  const runner = createBatchRunner({
    store,
    vault,
    clock,
    files,
    call,
    guarded,
    ledger: limits,
    pause: (ms) => Bun.sleep(ms),
    timeoutMs,
    holder: Bun.randomUUIDv7(),
  });
  return {
    name: 'managed-batches',
    everyMs: 5_000,
    async run(now) {
      await sweepUploads(store, now);
      await runner.round();
    },
    ended: () => runner.ended(),
  };
}
