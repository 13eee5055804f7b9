/** Batches that a provider runs and guardrails check: what is known of them at the provider, and their rows while they are under way. */
import type { Db } from '../database.ts';

export async function providerBatches(db: Db): Promise<void> {
  const schema = db.schema;
  await schema.alterTable('managed_files').addColumn('provider_options', 'text').execute();
  await schema
    .alterTable('managed_batches')
    .addColumn('at_provider', 'integer', (c) => c.notNull().defaultTo(0))
    .execute();

  await schema
    .createTable('provider_batches')
    .addColumn('batch_id', 'text', (c) => c.primaryKey())
    .addColumn('organisation_id', 'text', (c) => c.notNull().references('organisations.id'))
    .addColumn('order_sealed', 'text', (c) => c.notNull())
    .addColumn('source_file_id', 'text')
    .addColumn('lines_checked', 'integer', (c) => c.notNull())
    .addColumn('checked_file_id', 'text')
    .addColumn('provider_input_id', 'text')
    .addColumn('submitted_at', 'text')
    .addColumn('provider_batch_id', 'text')
    .addColumn('output_id', 'text')
    .addColumn('error_id', 'text')
    .addColumn('output_folder', 'text')
    .addColumn('cancelled_there', 'integer', (c) => c.notNull())
    .addColumn('ended_as', 'text')
    .addColumn('raw_file_id', 'text')
    .addColumn('answers_checked', 'integer', (c) => c.notNull())
    .addColumn('failures', 'integer', (c) => c.notNull())
    .addColumn('due_at', 'text', (c) => c.notNull())
    .execute();
  for (const column of ['provider_batch_id', 'output_id', 'error_id']) {
    await schema
      .createIndex(`provider_batches_${column}`)
      .on('provider_batches')
      .columns(['organisation_id', column])
      .execute();
  }

  await schema
    .createTable('checked_batch_rows')
    .addColumn('batch_id', 'text', (c) => c.notNull())
    .addColumn('line', 'integer', (c) => c.notNull())
    .addColumn('custom_id', 'text', (c) => c.notNull())
    .addColumn('row_sealed', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('checked_batch_rows_pk', ['batch_id', 'line'])
    .execute();
  await schema
    .createIndex('checked_batch_rows_custom_id')
    .on('checked_batch_rows')
    .columns(['batch_id', 'custom_id'])
    .execute();
}
