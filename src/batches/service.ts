/** What the data plane may ask of the files and batches that the gateway keeps itself. */
import type { Clock } from '../clock.ts';
import type { Store } from '../store/database.ts';
import type { Vault } from '../store/vault.ts';
import { createManagedBatches, type ManagedBatches } from './batches.ts';
import { createManagedFiles, type ManagedFiles } from './files.ts';
import { createProviderBatches, type ProviderBatches } from './provider-batches.ts';

export interface BatchService {
  files: ManagedFiles;
  batches: ManagedBatches;
  /** Those that a provider runs between guardrails. */
  atProviders: ProviderBatches;
}

export function openBatchService(store: Store, vault: Vault, clock: Clock, quotaBytes: number): BatchService {
  const files = createManagedFiles(store, vault, clock, quotaBytes);
  const batches = createManagedBatches(store, vault, files, clock);
  return { files, batches, atProviders: createProviderBatches(store, vault, files, clock) };
}
