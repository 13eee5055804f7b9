/** From the identity that a provider vouches for to a member of the organisation: found, invited, made, or refused. */
import { proveAddress } from '../../identity/accounts.ts';
import { type OrganisationRole, outranks, type WorkspaceRole } from '../../identity/roles.ts';
import { type SsoIdentity, SsoRefused } from '../../identity/sso/flows.ts';
import type { Provisioning, SsoSettings } from '../../identity/sso/settings.ts';
import type { Change } from '../../store/changes.ts';
import type { Db } from '../../store/database.ts';
import { autoCreateUserKey } from '../api-keys/auto-create.ts';
import { organisationOfAddress } from '../email-domains/match.ts';
import { joinByInvite } from '../invites/accept.ts';
import { requireStanding } from '../invites/authority.ts';
import { recordSystemEvent } from '../kernel/audit/audit.ts';
import type { Services } from '../kernel/services.ts';
import { joinWorkspace, leaveWorkspace } from '../members/membership.ts';
import { requireOpenUserManagement } from '../scim/settings.ts';
import { insertUser, joinOrganisation } from '../users/membership.ts';

export interface Admitted {
  userId: string;
  changes: Change[];
}

interface Entering {
  db: Db;
  services: Services;
  now: Date;
  organisationId: string;
  sso: SsoSettings;
  autoProvision: boolean;
}

/** Throws `SsoRefused` where the organisation does not let this person in. */
export async function admitPerson(entering: Entering, identity: SsoIdentity): Promise<Admitted> {
  const { db, now, organisationId, sso } = entering;
  const email = await ownAddress(db, organisationId, identity);
  const known = await db
    .selectFrom('users as user')
    .leftJoin('organisation_members as member', (join) =>
      join.onRef('member.user_id', '=', 'user.id').on('member.organisation_id', '=', organisationId),
    )
    .select(['user.id', 'member.status'])
    .where('user.email', '=', email)
    .executeTakeFirst();
  const admitted =
    known?.status === 'active'
      ? { userId: known.id, changes: [] }
      : await join(entering, { email, identity, userId: known?.id ?? null, wasMember: known?.status === 'archived' });
  // Whoever runs the domain of an address says whose it is.
  await proveAddress(db, now, admitted.userId);
  const changes = sso.provisioning.role_claim ? await applyClaims(entering, admitted.userId, identity) : [];
  return { userId: admitted.userId, changes: [...admitted.changes, ...changes] };
}

async function ownAddress(db: Db, organisationId: string, identity: SsoIdentity): Promise<string> {
  const { email, emailVerified } = identity;
  if (email === null || !/^[^@\s]+@[^@\s]+$/.test(email)) {
    throw new SsoRefused('the identity provider told no e-mail address');
  }
  if (emailVerified === false) throw new SsoRefused('the identity provider has not verified the e-mail address');
  if ((await organisationOfAddress(db, email)) !== organisationId) {
    throw new SsoRefused('the domain of the e-mail address is not verified for this organisation');
  }
  return email;
}

async function join(
  entering: Entering,
  person: { email: string; identity: SsoIdentity; userId: string | null; wasMember: boolean },
): Promise<Admitted> {
  const { db, services, now, organisationId, autoProvision } = entering;
  const { email, identity, wasMember } = person;
  const invite = await db
    .selectFrom('invites')
    .selectAll()
    .where('organisation_id', '=', organisationId)
    .where('email', '=', email)
    .where('status', '=', 'pending')
    .where('expires_at', '>', now.toISOString())
    .orderBy('created_at', 'desc')
    .executeTakeFirst();
  if (!invite && wasMember) throw new SsoRefused('you were removed from the organisation; ask for an invite');
  if (!invite && !autoProvision)
    throw new SsoRefused('the organisation lets only invited people in; ask for an invite');
  const userId =
    person.userId ??
    (await insertUser(db, now, {
      email,
      firstName: identity.firstName.slice(0, 100),
      lastName: identity.lastName.slice(0, 100),
    }));
  if (invite) {
    await requireStanding(db, now, invite);
    const changes = await joinByInvite(db, services, now, invite, userId);
    await tell(entering, 'invite', 'update', invite.id, { email, event: 'accepted by single sign-on' });
    return { userId, changes };
  }
  await requireOpenUserManagement(db, organisationId);
  const { default_role: role, default_workspaces } = entering.sso.provisioning;
  const changes = [await joinOrganisation(db, now, { organisationId, userId, role, provisionedBy: 'sso' })];
  await tell(entering, 'user', 'create', userId, { email, role, source: 'sso' });
  for (const { workspace_id, role } of default_workspaces) {
    changes.push(...(await enterWorkspace(entering, userId, workspace_id, role)));
  }
  return { userId, changes };
}

async function enterWorkspace(
  entering: Entering,
  userId: string,
  workspaceId: string,
  role: WorkspaceRole,
): Promise<Change[]> {
  const { db, services, now, organisationId } = entering;
  const open = await db
    .selectFrom('workspaces')
    .select('id')
    .where('id', '=', workspaceId)
    .where('organisation_id', '=', organisationId)
    .where('status', '=', 'active')
    .executeTakeFirst();
  // One that was archived since the settings were saved is left out.
  if (!open) return [];
  const change = await joinWorkspace(db, now, { organisationId, workspaceId, userId, role });
  await tell(entering, 'workspace_user', 'create', userId, { user_id: userId, role, source: 'sso' }, workspaceId);
  return [change, ...(await autoCreateUserKey(db, services, now, { organisationId, workspaceId, userId }))];
}

/** The claims decide anew at each sign-in. Owners keep their role: a wrong mapping must not take the last one. */
async function applyClaims(entering: Entering, userId: string, identity: SsoIdentity): Promise<Change[]> {
  const { db, now, organisationId, sso } = entering;
  const granted = grantsOf(sso.provisioning, identity.claims);
  const { role: before } = await db
    .selectFrom('organisation_members')
    .select('role')
    .where('organisation_id', '=', organisationId)
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow();
  const changes: Change[] = [];
  if (before !== 'owner' && before !== granted.role) {
    await db
      .updateTable('organisation_members')
      .set({ role: granted.role, last_updated_at: now.toISOString() })
      .where('organisation_id', '=', organisationId)
      .where('user_id', '=', userId)
      .execute();
    await tell(entering, 'user', 'update', userId, { role: { old: before, new: granted.role }, source: 'sso' });
    changes.push({ topic: 'user', id: userId });
  }
  const standings = await db
    .selectFrom('workspace_members')
    .select(['workspace_id', 'role'])
    .where('organisation_id', '=', organisationId)
    .where('user_id', '=', userId)
    .where('status', '=', 'active')
    .execute();
  const held = new Map(standings.map(({ workspace_id, role }) => [workspace_id, role]));
  for (const [workspaceId, role] of granted.workspaces) {
    const has = held.get(workspaceId) ?? null;
    if (role === has) continue;
    if (role !== null) changes.push(...(await enterWorkspace(entering, userId, workspaceId, role)));
    else if (has !== null) {
      changes.push(...(await leaveWorkspace(db, now, workspaceId, userId)));
      await tell(entering, 'workspace_user', 'delete', userId, { user_id: userId, source: 'sso' }, workspaceId);
    }
  }
  return changes;
}

/** Of several mappings the highest role counts. A workspace that some mapping names is left by those whom none gives it to. */
function grantsOf(provisioning: Provisioning, claims: Record<string, unknown>) {
  const { role_claim, role_mappings, default_role, default_workspaces } = provisioning;
  const told = role_claim === null ? [] : [claims[role_claim]].flat().map(String);
  let role: OrganisationRole = default_role;
  const workspaces = new Map<string, WorkspaceRole | null>(
    role_mappings.flatMap((mapping) => mapping.workspaces.map(({ workspace_id }) => [workspace_id, null])),
  );
  for (const { workspace_id, role: own } of default_workspaces) {
    if (workspaces.has(workspace_id)) workspaces.set(workspace_id, own);
  }
  for (const mapping of role_mappings) {
    if (!told.includes(mapping.value)) continue;
    if (mapping.organisation_role && isAbove(mapping.organisation_role, role)) role = mapping.organisation_role;
    for (const { workspace_id, role: given } of mapping.workspaces) {
      const so = workspaces.get(workspace_id) ?? null;
      if (so === null || outranks(given, so)) workspaces.set(workspace_id, given);
    }
  }
  return { role, workspaces };
}

const rank: Record<OrganisationRole, number> = { member: 0, admin: 1, owner: 2 };
const isAbove = (a: OrganisationRole, b: OrganisationRole): boolean => rank[a] > rank[b];

async function tell(
  { db, services, now, organisationId }: Entering,
  resource: 'user' | 'invite' | 'workspace_user',
  action: 'create' | 'update' | 'delete',
  resourceId: string,
  details: Record<string, unknown>,
  workspaceId: string | null = null,
): Promise<void> {
  if (!services.settings.auditLogs) return;
  await recordSystemEvent(db, now, { organisationId, workspaceId, resource, action, resourceId, details });
}
