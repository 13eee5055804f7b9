/** Which virtual keys a caller may touch: they are providers and integrations at once, and the rules of both hold. */
import { forbidden, notFound } from '../../http/errors.ts';
import type { Caller } from '../../identity/caller.ts';
import type { Db } from '../../store/database.ts';
import { keyPlace, scopesOfMember } from '../api-keys/place.ts';
import type { NamedWorkspace } from '../kernel/endpoint.ts';
import { reachProvider, requireWorkspace, type SavedPair } from '../providers/access.ts';

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
  const pair = await reachProvider(db, caller, requireWorkspace(workspace), reference, action);
  const { provider, integration } = pair;
  if (integration.workspace_id !== provider.workspace_id || integration.slug !== provider.slug) {
    throw notFound('virtual key; this is a provider, see /providers');
  }
  if (action !== 'read') await requireIntegrationRight(db, caller, provider.workspace_id, action);
  return pair;
}
