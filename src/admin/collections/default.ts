/** The collection that every workspace has from its beginning. */
import type { Db } from '../../store/database.ts';
import { slugOf } from '../kernel/slug.ts';

export async function insertDefaultCollection(
  db: Db,
  now: Date,
  { organisationId, workspaceId }: { organisationId: string; workspaceId: string },
): Promise<void> {
  const at = now.toISOString();
  await db
    .insertInto('collections')
    .values({
      id: Bun.randomUUIDv7(),
      organisation_id: organisationId,
      workspace_id: workspaceId,
      slug: slugOf('collection', 'default'),
      name: 'Default',
      parent_collection_id: null,
      depth: 0,
      is_default: 1,
      status: 'active',
      created_at: at,
      last_updated_at: at,
    })
    .execute();
}

/** The default collection of a workspace: where partials and imported prompts go. */
export async function defaultCollectionOf(db: Db, workspaceId: string): Promise<string> {
  const { id } = await db
    .selectFrom('collections')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('is_default', '=', 1)
    .executeTakeFirstOrThrow();
  return id;
}
