/** Which providers a caller may touch: those of the one workspace that the call is about. */
import { ApiError, forbidden, invalid, notFound } from '../../http/errors.ts';
import { type Caller, mayInWorkspace, workspacesWith } from '../../identity/caller.ts';
import type { Scope } from '../../identity/scopes.ts';
import type { Db } from '../../store/database.ts';
import type { IntegrationTable, ProviderTable } from '../../store/tables/catalog.ts';
import { everyCaller } from '../integrations/access.ts';
import type { NamedWorkspace } from '../kernel/endpoint.ts';

type ProviderAction = 'create' | 'read' | 'update' | 'delete' | 'list';

/** Providers came out of virtual keys, so the scopes of either open both. */
export const scopesOfProviders = (action: ProviderAction) =>
  [`providers.${action}`, `virtual_keys.${action}`] as const satisfies readonly Scope[];

export const providerAccess = (action: ProviderAction) => ({
  callers: everyCaller,
  scope: { anyOf: scopesOfProviders(action) },
  level: 'workspace' as const,
});

/** The workspaces whose providers a caller who names none may list. */
export function listedWorkspaces(caller: Caller): 'all' | string[] {
  const held = scopesOfProviders('list').map((scope) => workspacesWith(caller, scope));
  return held.includes('all') ? 'all' : [...new Set(held.flat())];
}

export function requireWorkspace(workspace: NamedWorkspace | null): NamedWorkspace {
  if (!workspace) throw new ApiError('AB01', 'workspace_id: is required: name the workspace by id or slug');
  return workspace;
}

/** The workspace for a caller who wants to put something new into it. */
export function requireActiveWorkspace(workspace: NamedWorkspace | null): NamedWorkspace {
  const named = requireWorkspace(workspace);
  if (named.status === 'archived') {
    throw invalid('workspace_id', 'names an archived workspace, which takes nothing new');
  }
  return named;
}

/** A provider together with its integration. */
export interface SavedPair {
  provider: ProviderTable;
  integration: IntegrationTable;
}

/** The provider of this workspace that `reference` (id or slug) names; an archived one does not exist for any caller. */
export async function reachProvider(
  db: Db,
  caller: Caller,
  workspace: NamedWorkspace,
  reference: string,
  action: ProviderAction,
): Promise<SavedPair> {
  const provider = await db
    .selectFrom('providers')
    .selectAll()
    .where('workspace_id', '=', workspace.id)
    .where('status', '!=', 'archived')
    .where((eb) => eb.or([eb('slug', '=', reference), eb('id', '=', reference)]))
    .executeTakeFirst();
  if (!provider) throw await absence(db, caller, reference, action);
  const integration = await db
    .selectFrom('integrations')
    .selectAll()
    .where('id', '=', provider.integration_id)
    .executeTakeFirstOrThrow();
  return { provider, integration };
}

/** An id that names a provider in a workspace where the caller has no business is refused; anything else does not exist. */
async function absence(db: Db, caller: Caller, reference: string, action: ProviderAction): Promise<ApiError> {
  const elsewhere = await db
    .selectFrom('providers')
    .select('workspace_id')
    .where('id', '=', reference)
    .where('organisation_id', '=', caller.organisationId)
    .where('status', '!=', 'archived')
    .executeTakeFirst();
  const hidden =
    elsewhere !== undefined &&
    !scopesOfProviders(action).some((scope) => mayInWorkspace(caller, scope, elsewhere.workspace_id));
  return hidden ? forbidden('This provider belongs to another workspace') : notFound('provider');
}
