/** Exports of logs: what was asked for, and how far it is. */
import type { Db } from '../database.ts';

export async function logExports(db: Db): Promise<void> {
  await db.schema
    .createTable('log_exports')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('organisation_id', 'text', (c) => c.notNull().references('organisations.id'))
    .addColumn('workspace_id', 'text', (c) => c.references('workspaces.id'))
    .addColumn('filters', 'text', (c) => c.notNull())
    .addColumn('query', 'text', (c) => c.notNull())
    .addColumn('requested_data', 'text', (c) => c.notNull())
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('description', 'text')
    .addColumn('error', 'text')
    .addColumn('total_records', 'integer', (c) => c.notNull())
    .addColumn('written_records', 'integer', (c) => c.notNull())
    .addColumn('created_by', 'text', (c) => c.notNull())
    .addColumn('owner_user_id', 'text')
    .addColumn('created_at', 'text', (c) => c.notNull())
    .addColumn('last_updated_at', 'text', (c) => c.notNull())
    .addColumn('finished_at', 'text')
    .execute();
  await db.schema
    .createIndex('log_exports_list')
    .on('log_exports')
    .columns(['organisation_id', 'created_at', 'id'])
    .execute();
  await db.schema.createIndex('log_exports_status').on('log_exports').columns(['status', 'finished_at']).execute();
}
