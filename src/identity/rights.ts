/** Turns roles, key scopes and settings into rights. */
import type { Rights } from './caller.ts';
import type { OrganisationRole, WorkspaceRole } from './roles.ts';
import { runsOrganisation } from './roles.ts';
import { heldBy, type Scope } from './scopes.ts';
import type { OrganisationSettings, SecuritySetting } from './settings.ts';

const nothing: ReadonlySet<Scope> = new Set();
/** Everyone who belongs to the organisation may see that it exists. */
const belongs: ReadonlySet<Scope> = new Set<Scope>(['organisations.read']);

/** The scopes of a person's workspace role under the settings in force there. */
const workspaceRoleScopes = (role: WorkspaceRole, inForce: OrganisationSettings): Set<Scope> =>
  heldBy(role, (setting) => inForce.security_settings[setting]);

/** The scopes of an organisation owner or admin; settings that restrict administrators bind admins, not owners. */
const runnerScopes = (role: OrganisationRole, organisation: OrganisationSettings): Set<Scope> =>
  heldBy('organisation', (setting: SecuritySetting) => role === 'owner' || organisation.security_settings[setting]);

interface WorkspaceStanding {
  workspaceId: string;
  role: WorkspaceRole;
  inForce: OrganisationSettings;
}

export function sessionRights(
  role: OrganisationRole,
  organisation: OrganisationSettings,
  standings: readonly WorkspaceStanding[],
): Rights {
  if (runsOrganisation(role)) {
    const scopes = runnerScopes(role, organisation);
    return { organisation: scopes, everyWorkspace: scopes, workspaces: new Map() };
  }
  return {
    organisation: belongs,
    everyWorkspace: null,
    workspaces: new Map(standings.map((s) => [s.workspaceId, workspaceRoleScopes(s.role, s.inForce)])),
  };
}

export const adminKeyRights = (scopes: readonly Scope[]): Rights => {
  const held = new Set(scopes);
  return { organisation: held, everyWorkspace: held, workspaces: new Map() };
};

export const workspaceKeyRights = (workspaceId: string, scopes: readonly Scope[]): Rights => ({
  organisation: nothing,
  everyWorkspace: null,
  workspaces: new Map([[workspaceId, new Set(scopes)]]),
});

/** A user key never does more than its owner may do now: a demoted or removed owner takes the key's rights along. */
export function userKeyRights(
  workspaceId: string,
  scopes: readonly Scope[],
  owner: { organisationRole: OrganisationRole; workspaceRole: WorkspaceRole | null },
  organisation: OrganisationSettings,
  inForce: OrganisationSettings,
): Rights {
  const held = ownerScopes(owner, organisation, inForce);
  return workspaceKeyRights(
    workspaceId,
    scopes.filter((scope) => held.has(scope)),
  );
}

function ownerScopes(
  owner: { organisationRole: OrganisationRole; workspaceRole: WorkspaceRole | null },
  organisation: OrganisationSettings,
  inForce: OrganisationSettings,
): ReadonlySet<Scope> {
  if (runsOrganisation(owner.organisationRole)) return runnerScopes(owner.organisationRole, organisation);
  return owner.workspaceRole ? workspaceRoleScopes(owner.workspaceRole, inForce) : nothing;
}
