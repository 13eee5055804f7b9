/** A workspace as it is stored, and the organisation that it lies in. */
import { conflict, notFound } from '../../http/errors.ts';
import { type OrganisationLayer, type OrganisationSettings, settingsInForce } from '../../identity/settings.ts';
import type { Db } from '../../store/database.ts';
import { decode } from '../../store/json.ts';
import type { OrganisationProperties, WorkspaceTable } from '../../store/schema.ts';
import type { NamedWorkspace } from '../kernel/endpoint.ts';

export async function workspaceRow(db: Db, named: NamedWorkspace | null): Promise<WorkspaceTable> {
  const row = named && (await db.selectFrom('workspaces').selectAll().where('id', '=', named.id).executeTakeFirst());
  if (!row) throw notFound('workspace');
  return row;
}

/** The row for a caller who wants to change something in the workspace: an archived one stays as it is for good. */
export async function activeWorkspaceRow(db: Db, named: NamedWorkspace | null): Promise<WorkspaceTable> {
  const row = await workspaceRow(db, named);
  if (row.status === 'archived') {
    throw conflict('This workspace is archived, which cannot be undone: nothing in it can be changed any more');
  }
  return row;
}

/** What the organisation decides for its workspaces. */
export interface OrganisationContext extends OrganisationLayer {
  properties: OrganisationProperties;
}

export async function surroundingsOf(db: Db, organisationId: string): Promise<OrganisationContext> {
  const row = await db
    .selectFrom('organisations')
    .select(['settings', 'workspace_overrides', 'properties'])
    .where('id', '=', organisationId)
    .executeTakeFirstOrThrow();
  return {
    settings: decode(row.settings),
    overrides: decode(row.workspace_overrides),
    properties: decode(row.properties),
  };
}

/** The settings in force in the workspace. */
export const settingsOf = async (db: Db, row: WorkspaceTable): Promise<OrganisationSettings> =>
  settingsInForce(await surroundingsOf(db, row.organisation_id), decode(row.settings));

export async function slugOfWorkspace(db: Db, id: string): Promise<string | null> {
  const row = await db.selectFrom('workspaces').select('slug').where('id', '=', id).executeTakeFirst();
  return row?.slug ?? null;
}
