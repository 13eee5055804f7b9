/** What came of a batch's lines: kept one by one, as they are answered, until the output files are written. */
import type { LedgerEntry } from '../limits/engine.ts';
import type { Limits } from '../limits/limits.ts';
import type { Db, Store } from '../store/database.ts';
import type { Vault } from '../store/vault.ts';
import type { ManagedBatchTable } from './schema.ts';

export interface LineResult {
  line: number;
  failed: boolean;
  content: string;
  /** What the line takes of budgets, where no call of its own has counted it. */
  spent?: readonly LedgerEntry[];
}

type SpendLedger = Pick<Limits, 'recordWithin'>;

interface Counts {
  completed: number;
  failed: number;
}

/** More lines than are ever under way at once: whatever lies this far behind the last result has one. */
const furthestBehind = 200;
const readAtOnce = 200;

export class BatchResults {
  readonly #store: Store;
  readonly #vault: Vault;
  readonly #ledger: SpendLedger;
  /** Answers that an outage of the store kept us from keeping. They were paid for: nothing else of their batch is run before they are kept. */
  readonly #held = new Map<string, LineResult[]>();

  constructor(store: Store, vault: Vault, ledger: SpendLedger) {
    this.#store = store;
    this.#vault = vault;
    this.#ledger = ledger;
  }

  /** Of two answers to a line, which only two nodes at once can bring, the first stays, and it alone counts in budgets. */
  async keep(batchId: string, result: LineResult): Promise<void> {
    try {
      await this.#insert(batchId, result);
    } catch (fault) {
      this.#held.set(batchId, [...(this.#held.get(batchId) ?? []), result]);
      throw fault;
    }
  }

  async keepHeld(batchId: string): Promise<void> {
    const held = this.#held.get(batchId) ?? [];
    this.#held.delete(batchId);
    const ends = await Promise.allSettled(held.map((result) => this.keep(batchId, result)));
    const fault = ends.find((end) => end.status === 'rejected');
    if (fault) throw fault.reason;
  }

  /** Another node may have gone on with a batch meanwhile, and ended it. */
  async forgetEnded(): Promise<void> {
    if (this.#held.size === 0) return;
    const ids = [...this.#held.keys()];
    const open = await this.#store.db
      .selectFrom('managed_batches')
      .select('id')
      .where('id', 'in', ids)
      .where('finalizing_at', 'is', null)
      .execute();
    const isOpen = new Set(open.map(({ id }) => id));
    for (const id of ids) if (!isOpen.has(id)) this.#held.delete(id);
  }

  async has(batchId: string, line: number): Promise<boolean> {
    const row = await this.#store.db
      .selectFrom('managed_batch_rows')
      .select('line')
      .where('batch_id', '=', batchId)
      .where('line', '=', line)
      .executeTakeFirst();
    return row !== undefined;
  }

  async counts({ id }: ManagedBatchTable): Promise<Counts> {
    const rows = await this.#store.db
      .selectFrom('managed_batch_rows')
      .select(['failed', ({ fn }) => fn.countAll<number>().as('count')])
      .where('batch_id', '=', id)
      .groupBy('failed')
      .execute();
    const of = (failed: 0 | 1) => Number(rows.find((row) => row.failed === failed)?.count ?? 0);
    return { completed: of(0), failed: of(1) };
  }

  /** Tells the lines without a result: from which one on they lie, and which of those have one already. */
  async gaps({ id }: ManagedBatchTable, kept: number): Promise<{ from: number; answered: ReadonlySet<number> }> {
    const from = Math.max(0, kept - furthestBehind);
    const rows = await this.#store.db
      .selectFrom('managed_batch_rows')
      .select('line')
      .where('batch_id', '=', id)
      .where('line', '>=', from)
      .execute();
    return { from, answered: new Set(rows.map(({ line }) => line)) };
  }

  /** In the order of their lines, as lines of a file. */
  async *read({ id }: ManagedBatchTable, failed: 0 | 1): AsyncGenerator<Uint8Array> {
    for (let after = -1; ; ) {
      const rows = await this.#store.db
        .selectFrom('managed_batch_rows')
        .selectAll()
        .where('batch_id', '=', id)
        .where('failed', '=', failed)
        .where('line', '>', after)
        .orderBy('line')
        .limit(readAtOnce)
        .execute();
      for (const row of rows) yield Buffer.from(`${this.#vault.open(row.result_sealed, sealPurpose(id))}\n`);
      const last = rows.at(-1);
      if (!last || rows.length < readAtOnce) return;
      after = last.line;
    }
  }

  async #insert(batchId: string, { line, failed, content, spent = [] }: LineResult): Promise<void> {
    const row = {
      batch_id: batchId,
      line,
      failed: failed ? (1 as const) : (0 as const),
      result_sealed: this.#vault.seal(content, sealPurpose(batchId)),
    };
    const insert = (db: Db) =>
      db
        .insertInto('managed_batch_rows')
        .values(row)
        .onConflict((conflict) => conflict.columns(['batch_id', 'line']).doNothing())
        .executeTakeFirst();
    if (spent.length === 0) {
      await insert(this.#store.db);
      return;
    }
    const counted = await this.#store.db.transaction().execute(async (tx) => {
      const { numInsertedOrUpdatedRows = 0n } = await insert(tx);
      return numInsertedOrUpdatedRows > 0n ? this.#ledger.recordWithin(tx, spent) : null;
    });
    await counted?.();
  }
}

const sealPurpose = (batchId: string): string => `managed-batch:${batchId}`;
