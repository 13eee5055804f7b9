/** Batches that a provider runs between guardrails: made here, and what the provider writes for them is held back. */
import type { Clock } from '../clock.ts';
import type { OrderedBy } from '../identity/keyring.ts';
import type { Store } from '../store/database.ts';
import type { Vault } from '../store/vault.ts';
import { type NewBatch, newBatchRow } from './batches.ts';
import { decodedId } from './decoded-id.ts';
import type { ManagedFiles, Owner } from './files.ts';
import { orderPurpose, type ProviderOrder } from './provider-calls.ts';
import type { ManagedBatchTable, ManagedFileTable } from './schema.ts';

export interface NewProviderBatch extends NewBatch {
  order: ProviderOrder;
  /** Null where the rows are only at the provider. */
  file: ManagedFileTable | null;
}

export interface ProviderBatches {
  create(owner: Owner, by: OrderedBy, batch: NewProviderBatch): Promise<ManagedBatchTable>;
  /** The batch whose unchecked answers one of these ids names at the provider; null where none does. */
  heldBack(organisationId: string, ids: readonly string[]): Promise<ManagedBatchTable | null>;
  /** Whether a provider runs any for the organisation, so that it may write files that are not known yet. */
  areRunning(organisationId: string): Promise<boolean>;
}

export function createProviderBatches(store: Store, vault: Vault, files: ManagedFiles, clock: Clock): ProviderBatches {
  const { db } = store;
  return {
    async create(owner, by, { order, file, ...batch }) {
      await files.requireRoom(owner);
      const now = clock.now();
      const fresh = newBatchRow(vault, now, owner, by, batch);
      const row = { ...fresh, at_provider: 1 as const, total: file?.lines ?? 0 };
      await store.atomically(async (tx) => {
        await tx.insertInto('managed_batches').values(row).execute();
        await tx
          .insertInto('provider_batches')
          .values({
            batch_id: row.id,
            organisation_id: owner.organisationId,
            order_sealed: vault.seal(JSON.stringify(order), orderPurpose(row.id)),
            source_file_id: file?.id ?? null,
            lines_checked: 0,
            checked_file_id: null,
            provider_input_id: null,
            submitted_at: null,
            provider_batch_id: null,
            output_id: null,
            error_id: null,
            output_folder: null,
            cancelled_there: 0,
            ended_as: null,
            raw_file_id: null,
            answers_checked: 0,
            failures: 0,
            due_at: now.toISOString(),
          })
          .execute();
      });
      return row;
    },
    async heldBack(organisationId, ids) {
      const known = ids.filter((id) => id !== '' && isStorable(id));
      if (known.length === 0) return null;
      const row = await db
        .selectFrom('provider_batches')
        .innerJoin('managed_batches', 'managed_batches.id', 'provider_batches.batch_id')
        .selectAll('managed_batches')
        .where('provider_batches.organisation_id', '=', organisationId)
        .where(({ eb, or }) =>
          or([
            eb('provider_batch_id', 'in', known),
            eb('output_id', 'in', known),
            eb('error_id', 'in', known),
            eb('output_folder', 'in', known.flatMap(foldersOf)),
          ]),
        )
        .executeTakeFirst();
      return row ?? null;
    },
    async areRunning(organisationId) {
      const row = await db
        .selectFrom('provider_batches')
        .innerJoin('managed_batches', 'managed_batches.id', 'provider_batches.batch_id')
        .select('batch_id')
        .where('provider_batches.organisation_id', '=', organisationId)
        .where('provider_batch_id', 'is not', null)
        .where('managed_batches.status', 'in', ['in_progress', 'cancelling'])
        .executeTakeFirst();
      return row !== undefined;
    },
  };
}

/** PostgreSQL refuses to be asked for some of what clients write. */
const isStorable = (id: string): boolean => id.length <= 2_048 && id.isWellFormed() && !id.includes('\0');

const mostFolders = 50;

/** The folders above an object whose id is its address; the id itself where it has none, which names no folder. */
function foldersOf(id: string): string[] {
  const address = decodedId(id);
  if (!/^[a-z0-9]+:\/\//.test(address)) return [id];
  const parts = address.split('/').slice(0, mostFolders);
  return parts.slice(3).map((_, index) => `${parts.slice(0, index + 3).join('/')}/`);
}
