/** Guardrails of the tool calls of one MCP server, where they differ from those of its integration. */
import type { Db } from '../database.ts';

export async function mcpGuardrails(db: Db): Promise<void> {
  await db.schema.alterTable('mcp_servers').addColumn('input_guardrails', 'text').execute();
  await db.schema.alterTable('mcp_servers').addColumn('output_guardrails', 'text').execute();
}
