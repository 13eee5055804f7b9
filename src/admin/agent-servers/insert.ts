/** Makes agent servers; every way in which one is made passes here. */
import type { Db } from '../../store/database.ts';
import type { NewServer } from '../provisioning/family.ts';

export async function insertAgentServer(db: Db, now: Date, server: NewServer): Promise<string> {
  const id = Bun.randomUUIDv7();
  const at = now.toISOString();
  await db
    .insertInto('agent_servers')
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
      created_by: server.createdBy,
      created_at: at,
      last_updated_at: at,
    })
    .execute();
  return id;
}
