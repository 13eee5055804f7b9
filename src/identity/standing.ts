/** The roles and rights of a person in an organisation at this moment. */
import type { Db } from '../store/database.ts';
import { decode } from '../store/json.ts';
import type { SessionCaller } from './caller.ts';
import { sessionRights } from './rights.ts';
import type { OrganisationRole } from './roles.ts';
import { type OrganisationLayer, settingsInForce } from './settings.ts';

type Standing = Pick<SessionCaller, 'role' | 'workspaceRoles' | 'rights'>;

interface Member extends OrganisationLayer {
  user_id: string;
  organisation_id: string;
  role: OrganisationRole;
}

/** What an active member of the organisation is and may do. */
export async function standingOfMember(db: Db, member: Member): Promise<Standing> {
  const standings = await db
    .selectFrom('workspace_members as standing')
    .innerJoin('workspaces as workspace', 'workspace.id', 'standing.workspace_id')
    .select(['standing.workspace_id', 'standing.role', 'workspace.settings'])
    .where('standing.user_id', '=', member.user_id)
    .where('standing.organisation_id', '=', member.organisation_id)
    .where('standing.status', '=', 'active')
    .where('workspace.status', '=', 'active')
    .execute();
  return {
    role: member.role,
    workspaceRoles: new Map(standings.map((s) => [s.workspace_id, s.role])),
    rights: sessionRights(
      member.role,
      member.settings,
      standings.map((s) => ({
        workspaceId: s.workspace_id,
        role: s.role,
        inForce: settingsInForce(member, decode(s.settings)),
      })),
    ),
  };
}

/** The same for somebody who is not here; null when they do not belong to the organisation. */
export async function findStanding(db: Db, organisationId: string, userId: string): Promise<Standing | null> {
  const member = await db
    .selectFrom('organisation_members as member')
    .innerJoin('organisations as organisation', 'organisation.id', 'member.organisation_id')
    .select([
      'member.user_id',
      'member.organisation_id',
      'member.role',
      'organisation.settings',
      'organisation.workspace_overrides',
    ])
    .where('member.user_id', '=', userId)
    .where('member.organisation_id', '=', organisationId)
    .where('member.status', '=', 'active')
    .executeTakeFirst();
  if (!member) return null;
  const { settings, workspace_overrides, ...who } = member;
  return standingOfMember(db, { ...who, settings: decode(settings), overrides: decode(workspace_overrides) });
}
