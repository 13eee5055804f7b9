/** Finding the workspaces that a list names, each by its id or slug. */
import type { Db } from '../../store/database.ts';

/** The ids of active workspaces of the organisation, by everything that the list may call them. */
export async function activeWorkspaceIds(
  db: Db,
  organisationId: string,
  references: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (references.length === 0) return new Map();
  const rows = await db
    .selectFrom('workspaces')
    .select(['id', 'slug'])
    .where('organisation_id', '=', organisationId)
    .where('status', '=', 'active')
    .where((eb) => eb.or([eb('id', 'in', references), eb('slug', 'in', references)]))
    .execute();
  return new Map(rows.flatMap(({ id, slug }) => [[slug, id] as const, [id, id] as const]));
}
