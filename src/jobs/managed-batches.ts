/** Runs the batches that clients have ordered of the gateway itself, some lines every few seconds. */
import type { Services } from '../admin/kernel/services.ts';
import { type ManagedFiles, sweepUploads } from '../batches/files.ts';
import { type CallAs, createBatchRunner } from '../batches/run.ts';
import type { Job } from './runner.ts';

/** What running a client's order takes besides the services. */
export interface OrderedWork {
  files: ManagedFiles;
  call: CallAs;
}

export function createManagedBatchRun({ store, vault, clock }: Services, { files, call }: OrderedWork): Job {
  const run = createBatchRunner({ store, vault, clock, files, call, pause: (ms) => Bun.sleep(ms) });
  return {
    name: 'managed-batches',
    everyMs: 5_000,
    async run(now) {
      await sweepUploads(store, now);
      await run();
    },
  };
}
