/** A member of a workspace as callers see one. */
import { z } from 'zod';
import { sessionRights } from '../../identity/rights.ts';
import { type OrganisationRole, organisationRoles, type WorkspaceRole, workspaceRoles } from '../../identity/roles.ts';
import { type OrganisationLayer, settingsInForce } from '../../identity/settings.ts';
import type { Db } from '../../store/database.ts';
import { decode } from '../../store/json.ts';
import type { WorkspaceTable } from '../../store/schema.ts';
import { timestamp } from '../kernel/fields.ts';
import { countOf, holdsLowered } from '../kernel/list-queries.ts';

export const memberRecord = z.object({
  object: z.literal('workspace-user'),
  id: z.string().describe("The user's id"),
  user_id: z.string(),
  first_name: z.string(),
  last_name: z.string(),
  email: z.string(),
  org_role: z.enum(organisationRoles),
  role: z.enum(workspaceRoles),
  status: z.literal('active'),
  workspace_id: z.string(),
  scopes: z.array(z.string()).describe('What this person may do in this workspace under the settings in force'),
  settings: z.null(),
  created_at: timestamp,
  last_updated_at: timestamp,
});
type MemberRecord = z.output<typeof memberRecord>;

type Home = Pick<WorkspaceTable, 'id' | 'organisation_id' | 'settings'>;

interface MemberFilters {
  userId?: string | undefined;
  role?: WorkspaceRole | undefined;
  email?: string | undefined;
  /** Any part of the full name or the address, in any case. */
  search?: string | undefined;
}

/** The active members who match, as a query that can be counted and paged without a look at anyone else's row. */
const activeMembers = (db: Db, workspaceId: string, filters: MemberFilters) =>
  db
    .selectFrom('workspace_members as member')
    .where('member.workspace_id', '=', workspaceId)
    .where('member.status', '=', 'active')
    .where((eb) => {
      const { userId, role, email, search } = filters;
      return eb.and([
        ...(userId === undefined ? [] : [eb('member.user_id', '=', userId)]),
        ...(role === undefined ? [] : [eb('member.role', '=', role)]),
        ...(email === undefined
          ? []
          : [eb('member.user_id', '=', eb.selectFrom('users').select('id').where('email', '=', email))]),
        ...(search === undefined
          ? []
          : [
              eb.exists(
                eb
                  .selectFrom('users as user')
                  .select('user.id')
                  .whereRef('user.id', '=', 'member.user_id')
                  .where((user) => holdsLowered(user.ref('user.folded'), search)),
              ),
            ]),
      ]);
    });

export const countMembers = (db: Db, workspaceId: string, filters: MemberFilters): Promise<number> =>
  countOf(activeMembers(db, workspaceId, filters));

/** Newest members first. */
export async function listMembers(
  db: Db,
  workspace: Home,
  organisation: OrganisationLayer,
  filters: MemberFilters,
  page: { size: number; offset: number },
): Promise<MemberRecord[]> {
  const rows = await activeMembers(db, workspace.id, filters)
    .select(['member.user_id', 'member.role', 'member.created_at', 'member.last_updated_at'])
    .orderBy('member.created_at', 'desc')
    .orderBy('member.user_id', 'desc')
    .limit(page.size)
    .offset(page.offset)
    .execute();
  const people = await peopleById(
    db,
    workspace.organisation_id,
    rows.map((row) => row.user_id),
  );
  const scopesOf = scopesByStanding(workspace, organisation);
  return rows.flatMap((row): MemberRecord[] => {
    const person = people.get(row.user_id);
    if (!person) return [];
    return [
      {
        object: 'workspace-user',
        id: row.user_id,
        user_id: row.user_id,
        first_name: person.first_name,
        last_name: person.last_name,
        email: person.email,
        org_role: person.org_role,
        role: row.role,
        status: 'active',
        workspace_id: workspace.id,
        scopes: scopesOf(person.org_role, row.role),
        settings: null,
        created_at: row.created_at,
        last_updated_at: row.last_updated_at,
      },
    ];
  });
}

/** Looked up for one page at a time: joined to the list, a planner without statistics may walk the whole organisation. */
async function peopleById(db: Db, organisationId: string, ids: readonly string[]) {
  if (ids.length === 0) return new Map<string, never>();
  const rows = await db
    .selectFrom('organisation_members as belonging')
    .innerJoin('users as user', 'user.id', 'belonging.user_id')
    .select(['user.id', 'user.first_name', 'user.last_name', 'user.email', 'belonging.role as org_role'])
    .where('belonging.organisation_id', '=', organisationId)
    .where('belonging.user_id', 'in', [...ids])
    .execute();
  return new Map(rows.map((row) => [row.id, row]));
}

/** The scopes of each pair of roles, worked out once however long the list is. */
function scopesByStanding(workspace: Home, organisation: OrganisationLayer) {
  const inForce = settingsInForce(organisation, decode(workspace.settings));
  const known = new Map<string, string[]>();
  return (orgRole: OrganisationRole, role: WorkspaceRole): string[] => {
    const standing = `${orgRole} ${role}`;
    const scopes = known.get(standing) ?? [
      ...scopesIn(sessionRights(orgRole, organisation.settings, [{ workspaceId: workspace.id, role, inForce }])),
    ];
    known.set(standing, scopes);
    return scopes;
  };

  function scopesIn(rights: ReturnType<typeof sessionRights>) {
    return rights.everyWorkspace ?? rights.workspaces.get(workspace.id) ?? [];
  }
}
