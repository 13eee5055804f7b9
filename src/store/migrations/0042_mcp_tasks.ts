/** Who made which task of an MCP server, and with which tool. */
import type { Db } from '../database.ts';

export async function mcpTasks(db: Db): Promise<void> {
  await db.schema
    .createTable('mcp_tasks')
    .addColumn('key', 'text', (column) => column.primaryKey())
    .addColumn('owner', 'text', (column) => column.notNull())
    .addColumn('tool', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute();
  await db.schema.createIndex('mcp_tasks_age').on('mcp_tasks').columns(['created_at']).execute();
}
