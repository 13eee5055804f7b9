/** Files and batches that the gateway keeps and runs itself. */
import type { Db } from '../database.ts';

export async function batches(db: Db): Promise<void> {
  const schema = db.schema;

  await schema
    .createTable('managed_files')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('organisation_id', 'text', (c) => c.notNull().references('organisations.id'))
    .addColumn('workspace_id', 'text', (c) => c.notNull().references('workspaces.id'))
    .addColumn('filename', 'text', (c) => c.notNull())
    .addColumn('purpose', 'text', (c) => c.notNull())
    .addColumn('bytes', 'bigint', (c) => c.notNull())
    .addColumn('lines', 'integer', (c) => c.notNull())
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .execute();
  await schema
    .createIndex('managed_files_list')
    .on('managed_files')
    .columns(['workspace_id', 'status', 'created_at', 'id'])
    .execute();

  await schema
    .createTable('managed_file_chunks')
    .addColumn('file_id', 'text', (c) => c.notNull())
    .addColumn('sequence', 'integer', (c) => c.notNull())
    .addColumn('first_line', 'integer', (c) => c.notNull())
    .addColumn('content_sealed', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('managed_file_chunks_pk', ['file_id', 'sequence'])
    .execute();

  await schema
    .createTable('managed_batches')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('organisation_id', 'text', (c) => c.notNull().references('organisations.id'))
    .addColumn('workspace_id', 'text', (c) => c.notNull().references('workspaces.id'))
    .addColumn('api_key_id', 'text', (c) => c.notNull())
    .addColumn('endpoint', 'text', (c) => c.notNull())
    .addColumn('completion_window', 'text', (c) => c.notNull())
    .addColumn('input_file_id', 'text', (c) => c.notNull())
    .addColumn('output_file_id', 'text')
    .addColumn('error_file_id', 'text')
    .addColumn('internal_output_file_id', 'text')
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('options', 'text', (c) => c.notNull())
    .addColumn('metadata', 'text')
    .addColumn('faults', 'text', (c) => c.notNull())
    .addColumn('total', 'integer', (c) => c.notNull())
    .addColumn('completed', 'integer', (c) => c.notNull())
    .addColumn('failed', 'integer', (c) => c.notNull())
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('expires_at', 'text', (c) => c.notNull())
    .addColumn('in_progress_at', 'text')
    .addColumn('finalizing_at', 'text')
    .addColumn('completed_at', 'text')
    .addColumn('failed_at', 'text')
    .addColumn('expired_at', 'text')
    .addColumn('cancelling_at', 'text')
    .addColumn('cancelled_at', 'text')
    .execute();
  await schema
    .createIndex('managed_batches_list')
    .on('managed_batches')
    .columns(['workspace_id', 'created_at', 'id'])
    .execute();
  await schema.createIndex('managed_batches_status').on('managed_batches').columns(['status']).execute();

  await schema
    .createTable('managed_batch_rows')
    .addColumn('batch_id', 'text', (c) => c.notNull())
    .addColumn('line', 'integer', (c) => c.notNull())
    .addColumn('failed', 'integer', (c) => c.notNull())
    .addColumn('result_sealed', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('managed_batch_rows_pk', ['batch_id', 'line'])
    .execute();
}
