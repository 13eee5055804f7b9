/** Rows that guardrails have let pass, as they go to a provider, with what was said of them: kept until their answers are checked. */
import type { Store } from '../store/database.ts';
import { decode } from '../store/json.ts';
import type { Vault } from '../store/vault.ts';
import type { InputVerdicts } from './guarded-calls.ts';
import type { ManagedBatchRow } from './rows.ts';

export interface CheckedRow {
  line: number;
  row: ManagedBatchRow;
  verdicts: InputVerdicts;
}

const readAtOnce = 200;

export class CheckedRows {
  readonly #store: Store;
  readonly #vault: Vault;

  constructor(store: Store, vault: Vault) {
    this.#store = store;
    this.#vault = vault;
  }

  /** A row that was checked again after an interruption stays as it was. */
  async keep(batchId: string, { line, ...checked }: CheckedRow): Promise<void> {
    const row = {
      batch_id: batchId,
      line,
      custom_id: checked.row.custom_id,
      row_sealed: this.#vault.seal(JSON.stringify(checked), sealPurpose(batchId)),
    };
    await this.#store.db
      .insertInto('checked_batch_rows')
      .values(row)
      .onConflict((conflict) => conflict.columns(['batch_id', 'line']).doNothing())
      .execute();
  }

  async find(batchId: string, customId: string): Promise<CheckedRow | null> {
    const row = await this.#store.db
      .selectFrom('checked_batch_rows')
      .selectAll()
      .where('batch_id', '=', batchId)
      .where('custom_id', '=', customId)
      .executeTakeFirst();
    return row ? { line: row.line, ...this.#opened(batchId, row.row_sealed) } : null;
  }

  /** As the lines of a file. */
  async *read(batchId: string): AsyncGenerator<Uint8Array> {
    for (let after = -1; ; ) {
      const rows = await this.#store.db
        .selectFrom('checked_batch_rows')
        .selectAll()
        .where('batch_id', '=', batchId)
        .where('line', '>', after)
        .orderBy('line')
        .limit(readAtOnce)
        .execute();
      for (const { row_sealed } of rows)
        yield Buffer.from(`${JSON.stringify(this.#opened(batchId, row_sealed).row)}\n`);
      const last = rows.at(-1);
      if (!last || rows.length < readAtOnce) return;
      after = last.line;
    }
  }

  async any(batchId: string): Promise<boolean> {
    const row = await this.#store.db
      .selectFrom('checked_batch_rows')
      .select('line')
      .where('batch_id', '=', batchId)
      .executeTakeFirst();
    return row !== undefined;
  }

  #opened(batchId: string, sealed: string): Omit<CheckedRow, 'line'> {
    return decode<Omit<CheckedRow, 'line'>>(this.#vault.open(sealed, sealPurpose(batchId)));
  }
}

const sealPurpose = (batchId: string): string => `checked-batch-rows:${batchId}`;
