/** Makes MCP servers; every way in which one is made passes here. */
import type { Db } from '../../store/database.ts';
import type { ServerGuardrails } from './guardrails.ts';

interface NewMcpServer {
  organisationId: string;
  workspaceId: string;
  integrationId: string;
  slug: string;
  name: string;
  description?: string | null;
  guardrails?: ServerGuardrails;
  createdBy: string | null;
}

/** The caller has seen to it that the slug is free in the organisation. */
export async function insertMcpServer(db: Db, now: Date, server: NewMcpServer): Promise<string> {
  const id = Bun.randomUUIDv7();
  const at = now.toISOString();
  await db
    .insertInto('mcp_servers')
    .values({
      id,
      organisation_id: server.organisationId,
      workspace_id: server.workspaceId,
      integration_id: server.integrationId,
      slug: server.slug,
      name: server.name,
      description: server.description ?? null,
      status: 'active',
      default_user_access: 'allow',
      input_guardrails: null,
      output_guardrails: null,
      ...server.guardrails,
      created_by: server.createdBy,
      created_at: at,
      last_updated_at: at,
    })
    .execute();
  return id;
}
