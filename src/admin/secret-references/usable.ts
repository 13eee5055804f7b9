/** Which secret references an object may be mapped to. */
import type { Db } from '../../store/database.ts';

/** Of the names, ids or slugs, those that are active references of the organisation and open to the workspace, where there is one. */
export async function usableReferences(
  db: Db,
  organisationId: string,
  workspaceId: string | null,
  names: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom('secret_references as reference')
    .select(['reference.id', 'reference.slug'])
    .where('reference.organisation_id', '=', organisationId)
    .where('reference.status', '=', 'active')
    .where((eb) => eb.or([eb('reference.id', 'in', names), eb('reference.slug', 'in', names)]))
    .$if(workspaceId !== null, (query) =>
      query.where((eb) =>
        eb.or([
          eb('reference.allow_all_workspaces', '=', 1),
          eb.exists(
            eb
              .selectFrom('secret_reference_workspaces as opened')
              .select('opened.reference_id')
              .whereRef('opened.reference_id', '=', 'reference.id')
              .where('opened.workspace_id', '=', workspaceId ?? ''),
          ),
        ]),
      ),
    )
    .execute();
  return new Set(rows.flatMap(({ id, slug }) => [id, slug]));
}
