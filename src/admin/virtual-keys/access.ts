/** Which virtual keys a caller may touch: they are providers and integrations at once, and the rules of both hold. */
import { forbidden, notFound } from '../../http/errors.ts';
import { type Caller, mayInWorkspace, runsAll } from '../../identity/caller.ts';
import type { Db } from '../../store/database.ts';
import { keyPlace, scopesOfMember } from '../api-keys/place.ts';
import type { NamedWorkspace } from '../kernel/endpoint.ts';
import { reachProvider, type SavedPair, scopesOfProviders } from '../providers/access.ts';

type WriteAction = 'create' | 'update' | 'delete';

/** A person who may not write the integrations of the workspace may not do it by way of a virtual key either. Keys of services have their scopes alone. */
export async function requireIntegrationRight(
  db: Db,
  caller: Caller,
  workspaceId: string,
  action: WriteAction,
): Promise<void> {
  if (caller.userId === null) return;
  const place = await keyPlace(db, caller.organisationId, workspaceId);
  const held = await scopesOfMember(db, place, workspaceId, caller.userId);
  if (held.includes(`workspace_integrations.${action}`)) return;
  throw forbidden('A virtual key is an integration of the workspace, and your role may not write those here');
}

/** A provider counts as a virtual key when it is one with an integration of its workspace. */
export async function reachVirtualKey(
  db: Db,
  caller: Caller,
  workspace: NamedWorkspace | null,
  reference: string,
  action: 'read' | 'update' | 'delete',
): Promise<SavedPair> {
  const place = workspace ?? (await workspaceOf(db, caller, reference, action));
  const pair = await reachProvider(db, caller, place, reference, action);
  const { provider, integration } = pair;
  if (integration.workspace_id !== provider.workspace_id || integration.slug !== provider.slug) {
    throw notFound('virtual key; this is a provider, see /providers');
  }
  if (action !== 'read') await requireIntegrationRight(db, caller, provider.workspace_id, action);
  return pair;
}

/** A slug names one virtual key in the whole organisation, so that callers who reach every workspace need not say which it is in. */
async function workspaceOf(
  db: Db,
  caller: Caller,
  reference: string,
  action: 'read' | 'update' | 'delete',
): Promise<NamedWorkspace> {
  const workspace = await db
    .selectFrom('integrations as integration')
    .innerJoin('providers as provider', 'provider.integration_id', 'integration.id')
    .innerJoin('workspaces as workspace', 'workspace.id', 'provider.workspace_id')
    .select(['workspace.id', 'workspace.slug', 'workspace.status'])
    .where('integration.organisation_id', '=', caller.organisationId)
    .where('provider.status', '!=', 'archived')
    .whereRef('provider.slug', '=', 'integration.slug')
    .whereRef('provider.workspace_id', '=', 'integration.workspace_id')
    .where((eb) => eb.or([eb('provider.slug', '=', reference), eb('provider.id', '=', reference)]))
    .executeTakeFirst();
  if (!workspace || !scopesOfProviders(action).some((scope) => mayInWorkspace(caller, scope, workspace.id))) {
    throw notFound('virtual key');
  }
  return workspace;
}

/** Where a new virtual key goes: the workspace that is named, or for those who run the organisation its shared one. */
export async function homeOf(db: Db, caller: Caller, named: NamedWorkspace | null): Promise<NamedWorkspace | null> {
  if (named || !runsAll(caller)) return named;
  const shared = await db
    .selectFrom('organisations as organisation')
    .innerJoin('workspaces as workspace', 'workspace.id', 'organisation.default_workspace_id')
    .select(['workspace.id', 'workspace.slug', 'workspace.status'])
    .where('organisation.id', '=', caller.organisationId)
    .executeTakeFirst();
  return shared ?? null;
}
