/** Which keys a caller may touch: each type has its own scopes, held where the key lives, and members keep to their own. */
import { forbidden, notFound } from '../../http/errors.ts';
import { type Caller, mayInOrganisation, mayInWorkspace, roleIn } from '../../identity/caller.ts';
import type { KeyLetter, Scope } from '../../identity/scopes.ts';
import type { Db } from '../../store/database.ts';
import type { ApiKeyTable, ApiKeyType } from '../../store/schema.ts';

type KeyAction = 'create' | 'read' | 'update' | 'delete' | 'list' | 'rotate';

const families = {
  'organisation-service': 'organisation_service_api_keys',
  'workspace-service': 'workspace_service_api_keys',
  'workspace-user': 'workspace_user_api_keys',
} as const satisfies Record<ApiKeyType, string>;

/** The column of the scope table from which a key of this type takes its scopes. */
export const columns: Record<ApiKeyType, KeyLetter> = {
  'organisation-service': 'A',
  'workspace-service': 'S',
  'workspace-user': 'U',
};

export const keyScope = (type: ApiKeyType, action: KeyAction): Scope => `${families[type]}.${action}`;

/** Access to a route that names a key: one of the three families must be held, and the handler asks for the right one. */
export const byIdAccess = (action: KeyAction) => ({
  callers: ['admin-key', 'workspace-key', 'session'] as const,
  scope: {
    anyOf: [
      keyScope('organisation-service', action),
      keyScope('workspace-service', action),
      keyScope('workspace-user', action),
    ],
  },
  level: 'workspace' as const,
});

/** True where the caller sees and touches only keys that are their own. */
export const keepsToOwnKeys = (caller: Caller, workspaceId: string): boolean =>
  roleIn(caller, workspaceId) === 'member';

/** A key of the caller's organisation, whatever its state. */
export async function findKey(db: Db, caller: Caller, keyId: string): Promise<ApiKeyTable> {
  const key = await db
    .selectFrom('api_keys')
    .selectAll()
    .where('id', '=', keyId)
    .where('organisation_id', '=', caller.organisationId)
    .executeTakeFirst();
  if (!key) throw notFound('API key');
  return key;
}

/** The key, if the caller may do this to it; an archived one does not exist for any caller. */
export async function reachKey(db: Db, caller: Caller, keyId: string, action: KeyAction): Promise<ApiKeyTable> {
  const key = await findKey(db, caller, keyId);
  requireReach(caller, key, action);
  if (key.status === 'archived') throw notFound('API key');
  return key;
}

export function requireReach(caller: Caller, key: ApiKeyTable, action: KeyAction): void {
  const scope = keyScope(key.type, action);
  if (key.workspace_id === null) {
    if (!mayInOrganisation(caller, scope))
      throw forbidden(`This key belongs to the organisation; it needs the scope ${scope}`);
    return;
  }
  if (!mayInWorkspace(caller, scope, key.workspace_id)) {
    throw forbidden(`This key needs the scope ${scope} in its workspace`);
  }
  if (caller.kind === 'session' && keepsToOwnKeys(caller, key.workspace_id) && key.user_id !== caller.userId) {
    throw forbidden('Members of a workspace may touch only their own user keys');
  }
}
