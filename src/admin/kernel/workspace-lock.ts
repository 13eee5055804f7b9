/** Finds the workspace that a call names, and keeps a workspace's key inside it. */
import { forbidden, notFound } from '../../http/errors.ts';
import { type Caller, runsAll } from '../../identity/caller.ts';
import type { Db } from '../../store/database.ts';

export interface NamedWorkspace {
  id: string;
  slug: string;
  status: 'active' | 'archived';
}

/** A workspace of the organisation by id or slug, archived ones included. */
export async function findWorkspace(db: Db, organisationId: string, reference: string): Promise<NamedWorkspace | null> {
  const row = await db
    .selectFrom('workspaces')
    .select(['id', 'slug', 'status'])
    .where('organisation_id', '=', organisationId)
    .where((eb) => eb.or([eb('id', '=', reference), eb('slug', '=', reference)]))
    .executeTakeFirst();
  return row ?? null;
}

/** The workspace of the call: the one it names, or the one that the key is bound to. */
export async function lockWorkspace(db: Db, caller: Caller, reference: string | null): Promise<NamedWorkspace | null> {
  const bound = caller.kind === 'session' ? null : caller.workspaceId;
  const wanted = reference ?? bound;
  if (wanted === null) return null;
  const workspace = await findWorkspace(db, caller.organisationId, wanted);
  if (bound !== null && workspace?.id !== bound) {
    throw forbidden('This key belongs to another workspace than the one named');
  }
  // Only those who run the organisation may look at what was archived.
  if (!workspace || (workspace.status === 'archived' && !runsAll(caller))) throw notFound('workspace');
  return workspace;
}
