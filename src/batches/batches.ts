/** Batches that the gateway runs itself: made, found, listed, cancelled. Running them is the job's part. */
import type { Clock } from '../clock.ts';
import type { OrderedBy } from '../identity/keyring.ts';
import type { Store } from '../store/database.ts';
import { encode } from '../store/json.ts';
import type { Vault } from '../store/vault.ts';
import { isId, type ManagedFiles, type Owner } from './files.ts';
import { readRow } from './rows.ts';
import type { ManagedBatchTable } from './schema.ts';

export interface NewBatch {
  inputFileId: string;
  endpoint: string;
  completionWindow: string;
  options: Record<string, string>;
  metadata: Record<string, string> | null;
}

/** The batch cannot be made; the message says why. */
export class BatchRefusal extends Error {
  readonly field: string;

  constructor(field: string, message: string) {
    super(message);
    this.field = field;
  }
}

export interface ManagedBatches {
  create(owner: Owner, by: OrderedBy, batch: NewBatch): Promise<ManagedBatchTable>;
  find(owner: Owner, id: string): Promise<ManagedBatchTable | null>;
  list(owner: Owner, query: { after: string | null; limit: number }): Promise<BatchPage>;
  /** Null when there is none; a batch that has ended stays as it is. */
  cancel(owner: Owner, id: string): Promise<ManagedBatchTable | null>;
}

interface BatchPage {
  batches: ManagedBatchTable[];
  hasMore: boolean;
}

const batchPrefix = 'gw_batch_';
const windowMs = 24 * 60 * 60_000;

/** Headers may hold credentials. */
export const optionsPurpose = (batchId: string): string => `managed-batch-options:${batchId}`;

export function createManagedBatches(store: Store, vault: Vault, files: ManagedFiles, clock: Clock): ManagedBatches {
  const { db } = store;
  const find: ManagedBatches['find'] = async ({ workspaceId }, id) => {
    if (!isId(id)) return null;
    const row = await db
      .selectFrom('managed_batches')
      .selectAll()
      .where('id', '=', id)
      .where('workspace_id', '=', workspaceId)
      .executeTakeFirst();
    return row ?? null;
  };
  return {
    find,
    async create(owner, by, batch) {
      const file = await files.find(owner, batch.inputFileId);
      if (!file) throw new BatchRefusal('input_file_id', `no file "${batch.inputFileId}" is kept in this workspace`);
      if (file.purpose !== 'batch') {
        throw new BatchRefusal(
          'input_file_id',
          `the file was uploaded for "${file.purpose}"; upload it with purpose=batch`,
        );
      }
      // Its results are kept whole, so that room is asked for before anything is spent.
      await files.requireRoom(owner);
      await requireRows(files, file.id, batch.endpoint);
      const now = clock.now();
      const fresh = newBatchRow(vault, now, owner, by, batch);
      const row = { ...fresh, status: 'in_progress' as const, total: file.lines, in_progress_at: now.toISOString() };
      await db.insertInto('managed_batches').values(row).execute();
      return row;
    },
    async list({ workspaceId }, { after, limit }) {
      let query = db
        .selectFrom('managed_batches')
        .selectAll()
        .where('workspace_id', '=', workspaceId)
        .orderBy('id', 'desc')
        .limit(limit + 1);
      if (after !== null) query = query.where('id', '<', after);
      const rows = await query.execute();
      return { batches: rows.slice(0, limit), hasMore: rows.length > limit };
    },
    async cancel(owner, id) {
      if (!isId(id)) return null;
      await db
        .updateTable('managed_batches')
        .set({ status: 'cancelling', cancelling_at: clock.now().toISOString() })
        .where('id', '=', id)
        .where('workspace_id', '=', owner.workspaceId)
        .where('status', 'in', ['validating', 'in_progress'])
        .execute();
      return find(owner, id);
    },
  };
}

/** A batch that has not begun. */
export function newBatchRow(vault: Vault, now: Date, owner: Owner, by: OrderedBy, batch: NewBatch): ManagedBatchTable {
  const id = batchPrefix + Bun.randomUUIDv7();
  return {
    id,
    organisation_id: owner.organisationId,
    workspace_id: owner.workspaceId,
    api_key_id: by.keyId,
    token_grant: by.grant && encode(by.grant),
    endpoint: batch.endpoint,
    completion_window: batch.completionWindow,
    input_file_id: batch.inputFileId,
    output_file_id: null,
    error_file_id: null,
    internal_output_file_id: null,
    status: 'validating',
    options: vault.seal(JSON.stringify(batch.options), optionsPurpose(id)),
    metadata: batch.metadata && encode(batch.metadata),
    faults: encode([]),
    total: 0,
    completed: 0,
    failed: 0,
    created_at: now.toISOString(),
    expires_at: new Date(now.getTime() + windowMs).toISOString(),
    in_progress_at: null,
    finalizing_at: null,
    completed_at: null,
    failed_at: null,
    expired_at: null,
    cancelling_at: null,
    cancelled_at: null,
    at_provider: 0,
  };
}

/** Every line must ask for the batch's endpoint, under an id of its own. */
export async function requireRows(files: ManagedFiles, fileId: string, endpoint: string): Promise<void> {
  const seen = new Set<string>();
  for await (const { firstLine, text } of files.content(fileId)) {
    for (const [index, line] of text.trimEnd().split('\n').entries()) {
      const { custom_id, url } = readRow(line);
      const place = `line ${firstLine + index + 1}`;
      if (url !== endpoint) {
        throw new BatchRefusal('endpoint', `${place} asks for ${url}, but the batch is for ${endpoint}`);
      }
      if (seen.has(custom_id)) throw new BatchRefusal('input_file_id', `${place} repeats the custom_id "${custom_id}"`);
      seen.add(custom_id);
    }
  }
}
