/** What the data plane may ask of the files and batches that the gateway keeps itself. */
import type { Clock } from '../clock.ts';
import type { Store } from '../store/database.ts';
import type { Vault } from '../store/vault.ts';
import { createManagedBatches, type ManagedBatches } from './batches.ts';
import { createManagedFiles, type ManagedFiles } from './files.ts';

export interface BatchService {
  files: ManagedFiles;
  batches: ManagedBatches;
}

export function openBatchService(store: Store, vault: Vault, clock: Clock, quotaBytes: number): BatchService {
  const files = createManagedFiles(store, vault, clock, quotaBytes);
  return { files, batches: createManagedBatches(store, vault, files, clock) };
}
