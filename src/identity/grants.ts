/** What a caller may hand on: keys, roles and invites give nobody more than their maker holds. */
import { type KeyCaller, mayInOrganisation, mayInWorkspace, type SessionCaller } from './caller.ts';
import { outranks, runsOrganisation, type WorkspaceRole } from './roles.ts';
import { grantableTo, heldBy, type Scope } from './scopes.ts';
import type { OrganisationSettings } from './settings.ts';

/** Whoever grants: a caller, or somebody who did it earlier and whose right is looked at again. */
export type Grantor =
  | Pick<SessionCaller, 'kind' | 'rights' | 'userId' | 'role' | 'workspaceRoles'>
  | Pick<KeyCaller, 'kind' | 'rights' | 'userId'>;

const forAdminKeys: ReadonlySet<Scope> = new Set(grantableTo('A'));
const forServiceKeys: ReadonlySet<Scope> = new Set(grantableTo('S'));

/** Scopes that make or read model traffic. An admin key never holds them, so they follow from the right to make keys. */
const isTraffic = (scope: Scope): boolean => forServiceKeys.has(scope) && !forAdminKeys.has(scope);

const mayMakeKeys = (grantor: Grantor, workspaceId: string): boolean =>
  mayInWorkspace(grantor, 'workspace_service_api_keys.create', workspaceId) ||
  mayInWorkspace(grantor, 'workspace_user_api_keys.create', workspaceId);

const mayPassOn = (grantor: Grantor, workspaceId: string, scope: Scope): boolean =>
  mayInWorkspace(grantor, scope, workspaceId) || (isTraffic(scope) && mayMakeKeys(grantor, workspaceId));

/** Those of the scopes that the grantor may not put into a key; `workspaceId` is null for admin keys. */
export const scopesBeyond = (grantor: Grantor, workspaceId: string | null, scopes: readonly Scope[]): Scope[] =>
  scopes.filter((scope) =>
    workspaceId === null ? !mayInOrganisation(grantor, scope) : !mayPassOn(grantor, workspaceId, scope),
  );

/** Scopes that no key can hold come with every role and are nobody's to withhold. */
const thatKeysHold = (scopes: Iterable<Scope>): Scope[] =>
  [...scopes].filter((scope) => forAdminKeys.has(scope) || isTraffic(scope));

/** Why the grantor may not give this role in a workspace; null when they may. A person is bound by rank, a key by its scopes. */
export function workspaceRoleBeyond(
  grantor: Grantor,
  workspaceId: string,
  role: WorkspaceRole,
  inForce: OrganisationSettings,
): string | null {
  if (grantor.kind === 'session') {
    if (!outranks(role, standingOf(grantor, workspaceId))) return null;
    return `The role ${role} stands above yours in this workspace; ask one of its admins to grant it`;
  }
  const scopes = thatKeysHold(heldBy(role, (setting) => inForce.security_settings[setting]));
  return missingFrom(
    scopes.filter((scope) => !mayPassOn(grantor, workspaceId, scope)),
    `the workspace role ${role}`,
  );
}

/** The same for a role in the organisation. */
export function organisationRoleBeyond(
  grantor: Grantor,
  role: 'admin' | 'member',
  settings: OrganisationSettings,
): string | null {
  if (role === 'member') return null;
  if (grantor.kind === 'session') {
    return runsOrganisation(grantor.role) ? null : 'Only owners and admins of the organisation make others its admins';
  }
  const scopes = [...heldBy('organisation', (setting) => settings.security_settings[setting])];
  return missingFrom(
    scopes.filter((scope) => forAdminKeys.has(scope) && !mayInOrganisation(grantor, scope)),
    'the organisation role admin',
  );
}

const scopesNamed = 5;

function missingFrom(missing: readonly Scope[], what: string): string | null {
  if (missing.length === 0) return null;
  const more = missing.length > scopesNamed ? ` and ${missing.length - scopesNamed} more` : '';
  return `This key may not grant ${what}, which has scopes that the key lacks: ${missing.slice(0, scopesNamed).join(', ')}${more}`;
}

/** The rank of a person in a workspace; those who run the organisation act as admins of every one. */
export const standingOf = (person: Pick<SessionCaller, 'rights' | 'workspaceRoles'>, workspaceId: string) =>
  person.rights.everyWorkspace ? 'admin' : (person.workspaceRoles.get(workspaceId) ?? 'member');
