/** Jobs change many rows in small transactions, so that calls and other nodes are never kept waiting long. */
import type { Services } from '../admin/kernel/services.ts';
import type { Change } from '../store/changes.ts';
import type { Db } from '../store/database.ts';

export const batchSize = 500;

export interface Batch {
  /** How many rows were taken up; fewer than a full batch means that nothing is left. */
  taken: number;
  changes: readonly Change[];
}

/** Runs `work` until nothing is left; each run is one transaction, and its changes are told when it commits. `previous` is what the last run left. */
export async function inBatches<B extends Batch>(
  services: Services,
  work: (db: Db, previous: B | null) => Promise<B>,
): Promise<void> {
  for (let previous: B | null = null; ; ) {
    const batch: B = await services.store.atomically(async (tx) => {
      const done = await work(tx, previous);
      await services.feed.publish(tx, done.changes);
      return done;
    });
    services.feed.announce(batch.changes);
    if (batch.taken < batchSize) return;
    previous = batch;
  }
}
