/** Makes servers in workspaces; every way in which one is made passes here. */
import type { Db } from '../../store/database.ts';
import type { Family } from './family.ts';
import type { ServerGuardrails } from './guardrails.ts';

interface NewServer {
  organisationId: string;
  workspaceId: string;
  integrationId: string;
  slug: string;
  name: string;
  description?: string | null;
  /** MCP servers may have their own. */
  guardrails?: ServerGuardrails;
  createdBy: string | null;
}

/** The caller has seen to it that the slug is free in the organisation. */
export async function insertServer({ servers }: Family, db: Db, now: Date, server: NewServer): Promise<string> {
  const id = Bun.randomUUIDv7();
  const at = now.toISOString();
  await db
    .insertInto(servers)
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
      ...server.guardrails,
      created_by: server.createdBy,
      created_at: at,
      last_updated_at: at,
    })
    .execute();
  return id;
}
