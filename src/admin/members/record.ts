/** A member of a workspace as callers see one. */
import { sql } from 'kysely';
import { z } from 'zod';
import { sessionRights } from '../../identity/rights.ts';
import { type OrganisationRole, organisationRoles, type WorkspaceRole, workspaceRoles } from '../../identity/roles.ts';
import { type OrganisationLayer, settingsInForce } from '../../identity/settings.ts';
import { lazy } from '../../lazy.ts';
import type { Db } from '../../store/database.ts';
import { decode } from '../../store/json.ts';
import type { WorkspaceTable } from '../../store/schema.ts';
import { timestamp } from '../kernel/fields.ts';
import { holdsLowered } from '../kernel/lists/list-queries.ts';
import { pageOfIds } from '../kernel/lists/page-of-ids.ts';

export const memberRecord = lazy(() =>
  z.object({
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
  }),
);
type MemberRecord = z.output<ReturnType<typeof memberRecord>>;

type Home = Pick<WorkspaceTable, 'id' | 'organisation_id' | 'settings'>;

interface MemberFilters {
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
      const { role, email, search } = filters;
      return eb.and([
        ...(role === undefined ? [] : [eb('member.role', '=', role)]),
        ...(email === undefined
          ? []
          : [eb('member.user_id', '=', eb.selectFrom('users').select('id').where('email', '=', email))]),
        ...(search === undefined
          ? []
          : [
              eb(
                'member.user_id',
                'in',
                eb
                  .selectFrom('users')
                  .select('id')
                  .where(holdsLowered(sql.ref('users.folded'), search)),
              ),
            ]),
      ]);
    });

/** One page of the members who match, newest first, and how many they are. */
export async function listMembers(
  db: Db,
  workspace: Home,
  organisation: OrganisationLayer,
  filters: MemberFilters,
  page: { size: number; offset: number },
): Promise<{ members: MemberRecord[]; total: number }> {
  const { ids, total } = await pageOfIds({
    matches: activeMembers(db, workspace.id, filters),
    order: { by: sql<string>`member.created_at`, id: sql<string>`member.user_id`, direction: 'desc' },
    page,
  });
  return { members: await memberRecords(db, workspace, organisation, ids), total };
}

export async function memberRecordOf(
  db: Db,
  workspace: Home,
  organisation: OrganisationLayer,
  userId: string,
): Promise<MemberRecord | null> {
  const [member] = await memberRecords(db, workspace, organisation, [userId]);
  return member ?? null;
}

/** The records of these people, in this order; who is no active member is left out. */
async function memberRecords(
  db: Db,
  workspace: Home,
  organisation: OrganisationLayer,
  ids: readonly string[],
): Promise<MemberRecord[]> {
  if (ids.length === 0) return [];
  const rows = await activeMembers(db, workspace.id, {})
    .innerJoin('organisation_members as belonging', (join) =>
      join
        .onRef('belonging.user_id', '=', 'member.user_id')
        .on('belonging.organisation_id', '=', workspace.organisation_id),
    )
    .innerJoin('users as user', 'user.id', 'member.user_id')
    .select(['member.user_id', 'member.role', 'member.created_at', 'member.last_updated_at'])
    .select(['user.first_name', 'user.last_name', 'user.email', 'belonging.role as org_role'])
    .where('member.user_id', 'in', ids)
    .execute();
  const scopesOf = scopesByStanding(workspace, organisation);
  const byId = new Map(
    rows.map((row): [string, MemberRecord] => [
      row.user_id,
      {
        object: 'workspace-user',
        id: row.user_id,
        user_id: row.user_id,
        first_name: row.first_name,
        last_name: row.last_name,
        email: row.email,
        org_role: row.org_role,
        role: row.role,
        status: 'active',
        workspace_id: workspace.id,
        scopes: scopesOf(row.org_role, row.role),
        settings: null,
        created_at: row.created_at,
        last_updated_at: row.last_updated_at,
      },
    ]),
  );
  return ids.flatMap((id) => byId.get(id) ?? []);
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
