/** Finding collections: by id or slug, within the workspaces that the caller may look into. */
import { ApiError, forbidden, notFound } from '../../http/errors.ts';
import { mayInWorkspace } from '../../identity/caller.ts';
import type { Db } from '../../store/database.ts';
import type { CollectionTable } from '../../store/tables/prompts.ts';
import type { PromptAction, Seeker } from '../prompts/access.ts';

export async function reachCollection(
  { caller, workspace, db }: Seeker,
  reference: string,
  action: PromptAction,
): Promise<CollectionTable> {
  const row = await db
    .selectFrom('collections')
    .selectAll()
    .where('organisation_id', '=', caller.organisationId)
    .where((eb) => eb.or([eb('id', '=', reference), eb('slug', '=', reference)]))
    .where('status', '=', 'active')
    .executeTakeFirst();
  if (!row) throw notFound('collection');
  if (!mayInWorkspace(caller, `prompts.${action}`, row.workspace_id)) {
    throw forbidden(`This call needs the scope prompts.${action} in the workspace of the collection`);
  }
  if (workspace && workspace.id !== row.workspace_id) throw notFound('collection');
  return row;
}

/** The collection of this workspace that a field names. */
export async function collectionIn(
  db: Db,
  workspaceId: string,
  reference: string,
  field: string,
): Promise<CollectionTable> {
  const row = await db
    .selectFrom('collections')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where((eb) => eb.or([eb('id', '=', reference), eb('slug', '=', reference)]))
    .where('status', '=', 'active')
    .executeTakeFirst();
  if (row) return row;
  const message = 'names no collection of this workspace';
  throw new ApiError('AB08', `${field}: ${message}`, { errors: [{ location: 'body', path: field, message }] });
}
