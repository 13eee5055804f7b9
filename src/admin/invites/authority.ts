/** Whether whoever stands behind an invite may give what it promises: asked when it is sent, and again when it is used. */
import { forbidden, gone } from '../../http/errors.ts';
import { mayInOrganisation, mayInWorkspace } from '../../identity/caller.ts';
import { type Grantor, organisationRoleBeyond, scopesBeyond, workspaceRoleBeyond } from '../../identity/grants.ts';
import { findHolder } from '../../identity/keyring.ts';
import type { WorkspaceRole } from '../../identity/roles.ts';
import type { Scope } from '../../identity/scopes.ts';
import { findStanding } from '../../identity/standing.ts';
import type { Db } from '../../store/database.ts';
import { decode } from '../../store/json.ts';
import type { InviteTable } from '../../store/schema.ts';
import { keyPlace } from '../api-keys/place.ts';

interface Promised {
  organisationId: string;
  role: 'admin' | 'member';
  workspaces: readonly { id: string; role: WorkspaceRole }[];
  /** Of the user keys that acceptance makes. */
  keyScopes: readonly Scope[];
}

export async function requireMayPromise(db: Db, grantor: Grantor, promised: Promised): Promise<void> {
  const reason = await reasonAgainst(db, grantor, promised);
  if (reason) throw forbidden(reason);
}

async function reasonAgainst(db: Db, grantor: Grantor, promised: Promised): Promise<string | null> {
  const { organisationId, role, workspaces, keyScopes } = promised;
  if (!mayInOrganisation(grantor, 'organisation_users.create')) return 'Inviting needs organisation_users.create';
  const { organisationSettings } = await keyPlace(db, organisationId, null);
  const beyond = organisationRoleBeyond(grantor, role, organisationSettings);
  if (beyond) return beyond;
  for (const { id, role } of workspaces) {
    const { settings } = await keyPlace(db, organisationId, id);
    const reason = workspaceRoleBeyond(grantor, id, role, settings) ?? keyReason(grantor, id, keyScopes);
    if (reason) return reason;
  }
  return null;
}

function keyReason(grantor: Grantor, workspaceId: string, scopes: readonly Scope[]): string | null {
  if (scopes.length === 0) return null;
  if (!mayInWorkspace(grantor, 'workspace_user_api_keys.create', workspaceId)) {
    return 'An invite that makes user keys needs workspace_user_api_keys.create in their workspaces';
  }
  const beyond = scopesBeyond(grantor, workspaceId, scopes);
  return beyond.length === 0 ? null : `You may not grant ${beyond.join(', ')}, which you do not hold yourself`;
}

export const promisedBy = (invite: InviteTable): Promised => ({
  organisationId: invite.organisation_id,
  role: invite.role,
  workspaces: decode(invite.workspaces),
  keyScopes: invite.api_key_scopes === null ? [] : decode(invite.api_key_scopes),
});

/** An invite lives as long as its inviter's right: who was removed, demoted or deleted since invites nobody any more. */
export async function requireStanding(db: Db, now: Date, invite: InviteTable): Promise<void> {
  const inviter = await inviterOf(db, now, invite);
  if (inviter && (await reasonAgainst(db, inviter, promisedBy(invite))) === null) return;
  throw gone('Whoever sent this invite may no longer give what it promises; ask for a new one');
}

async function inviterOf(db: Db, now: Date, invite: InviteTable): Promise<Grantor | null> {
  const { invited_by: id, organisation_id: organisationId } = invite;
  const person = await findStanding(db, organisationId, id);
  if (person) return { kind: 'session', userId: id, ...person };
  const key = await findHolder(db, now, id);
  return key?.organisationId === organisationId ? key : null;
}
