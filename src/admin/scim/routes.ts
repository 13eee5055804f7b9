/** What administrators do about SCIM: which groups lead to which workspaces. The protocol itself is in protocol/. */
import { z } from 'zod';
import { invalid, invalidFields, invalidQuery, notFound } from '../../http/errors.ts';
import { type WorkspaceRole, workspaceRoleSchema, workspaceRoles } from '../../identity/roles.ts';
import { lazy } from '../../lazy.ts';
import type { Db } from '../../store/database.ts';
import type { ScimGroupTable } from '../../store/tables/scim.ts';
import { type Call, endpoint, type Resource } from '../kernel/endpoint.ts';
import { id, reference, search } from '../kernel/fields.ts';
import { countOf, holdsFolded } from '../kernel/lists/list-queries.ts';
import { findWorkspace } from '../kernel/workspace-lock.ts';
import { requireMayGrant } from '../members/rules.ts';
import { activeWorkspaceRow, settingsOf } from '../workspaces/row.ts';
import type { ScimContext } from './context.ts';
import { findScimGroup, groupOfName } from './groups/find.ts';
import { insertGroup } from './groups/save.ts';
import { activeMappings, archiveMappings, insertMapping, patternName } from './mappings.ts';
import { membersOfGroup, syncMemberships } from './memberships.ts';
import { requireScim, scimSettingsOf } from './settings.ts';
import { makeToken, revokeToken } from './token-routes.ts';

const tag = 'SCIM';
const callers = ['admin-key', 'session'] as const;
const reading = { callers, scope: 'workspaces.list', level: 'organisation' } as const;
const writing = { callers, scope: 'workspaces.update', level: 'organisation' } as const;
const paging = { size: 100, max: 100 };

const mappingRecord = lazy(() =>
  z.object({
    id: z.string(),
    workspace_id: z.string(),
    scim_group: z.string().describe('The name of the group'),
    scim_group_id: z.string(),
    role: z.enum(workspaceRoles),
    source: z.enum(['mapping', 'pattern']).describe('`pattern`: the name of the group made it'),
    created_at: z.string(),
  }),
);

interface MappingRow {
  id: string;
  workspace_id: string;
  group_id: string;
  display_name: string;
  role: WorkspaceRole;
  source: 'mapping' | 'pattern';
  created_at: string;
}

const asMapping = (row: MappingRow) => ({
  id: row.id,
  workspace_id: row.workspace_id,
  scim_group: row.display_name,
  scim_group_id: row.group_id,
  role: row.role,
  source: row.source,
  created_at: row.created_at,
});

/** Mappings that count: neither archived nor to a workspace that is. */
const mappingsOf = (db: Db, organisationId: string) =>
  db
    .selectFrom('scim_workspaces as mapping')
    .innerJoin('scim_groups as circle', 'circle.id', 'mapping.group_id')
    .innerJoin('workspaces as workspace', 'workspace.id', 'mapping.workspace_id')
    .where('mapping.organisation_id', '=', organisationId)
    .where('mapping.status', '=', 'active')
    .where('workspace.status', '=', 'active');

const mappingColumns = [
  'mapping.id',
  'mapping.workspace_id',
  'mapping.group_id',
  'mapping.role',
  'mapping.source',
  'mapping.created_at',
  'circle.display_name',
] as const;

const listMappings = endpoint({
  method: 'GET',
  path: '/scim/workspaces',
  tag,
  summary: 'List which SCIM groups lead to which workspaces, newest first',
  access: reading,
  query: () =>
    z.object({
      workspace_id: reference.optional().describe('The id or the slug of a workspace'),
      workspaceId: reference.optional(),
      scim_group_id: id.optional(),
      scimGroupId: id.optional(),
      role: workspaceRoleSchema().optional(),
    }),
  paging,
  reply: () =>
    z.object({
      mappings: z.array(mappingRecord()),
      page: z.number(),
      page_size: z.number(),
      total_count: z.number(),
    }),
  async handle({ caller, query, page, db, services }) {
    requireScim(services);
    const { organisationId } = caller;
    const wanted = query.workspace_id ?? query.workspaceId;
    const groupId = query.scim_group_id ?? query.scimGroupId;
    const workspace = wanted === undefined ? null : await findWorkspace(db, organisationId, wanted);
    if (wanted !== undefined && !workspace) throw notFound('workspace');
    let matches = mappingsOf(db, organisationId);
    if (workspace) matches = matches.where('mapping.workspace_id', '=', workspace.id);
    if (groupId !== undefined) matches = matches.where('mapping.group_id', '=', groupId);
    if (query.role !== undefined) matches = matches.where('mapping.role', '=', query.role);
    const total = await countOf(matches);
    const rows = await matches
      .select(mappingColumns)
      .orderBy('mapping.created_at', 'desc')
      .orderBy('mapping.id', 'desc')
      .limit(page.size)
      .offset(page.offset)
      .execute();
    return { mappings: rows.map(asMapping), page: page.index, page_size: page.size, total_count: total };
  },
});

const newMapping = () =>
  z.object({
    workspace_id: reference.describe('The id or the slug of the workspace'),
    role: workspaceRoleSchema(),
    scim_group_id: id.optional(),
    scim_group_name: z
      .string()
      .trim()
      .min(1)
      .max(255)
      .optional()
      .describe('A group that is not there yet is made empty'),
  });

const createMapping = endpoint({
  method: 'POST',
  path: '/scim/workspaces',
  tag,
  summary: 'Let a SCIM group lead to a workspace with a role',
  description:
    'Name the group by exactly one of `scim_group_id` and `scim_group_name`. Its people become members at once. A group has one role in all workspaces that it leads to.',
  access: writing,
  audit: { resource: 'scim_workspace', action: 'create' },
  body: newMapping,
  reply: mappingRecord,
  async handle(call) {
    const { caller, body, db, note } = call;
    requireScim(call.services);
    const { organisationId } = caller;
    const workspace = await findWorkspace(db, organisationId, body.workspace_id);
    if (!workspace) throw notFound('workspace');
    const row = await activeWorkspaceRow(db, workspace);
    requireMayGrant(caller, row.id, [body.role], await settingsOf(db, row));
    const context = await contextOf(call, organisationId);
    const group = await namedGroup(context, body);
    const mappings = await activeMappings(context, group.id);
    const otherRole = mappings.find((mapping) => mapping.role !== body.role)?.role;
    if (otherRole) throw invalid('role', `must be ${otherRole}, which ${group.display_name} has in other workspaces`);
    note({
      workspaceId: row.id,
      details: { group: group.display_name, scim_group_id: group.id, workspace_id: row.id, role: body.role },
    });
    const existing = mappings.find((mapping) => mapping.workspace_id === row.id);
    const mapping =
      existing ??
      (await insertMapping(context, {
        group_id: group.id,
        workspace_id: row.id,
        role: body.role,
        source: 'mapping',
      }));
    note({ resourceId: mapping.id });
    if (!existing) await syncMemberships(context, await membersOfGroup(context, group.id));
    return asMapping({ ...mapping, display_name: group.display_name });
  },
});

const contextOf = async (
  { db, services, now, changed }: Pick<Call<unknown, unknown, unknown>, 'db' | 'services' | 'now' | 'changed'>,
  organisationId: string,
): Promise<ScimContext> => ({
  db,
  services,
  now,
  changed,
  organisationId,
  actor: { id: 'system', type: 'system' },
  settings: await scimSettingsOf(db, organisationId),
});

async function namedGroup(
  context: ScimContext,
  named: { scim_group_id?: string | undefined; scim_group_name?: string | undefined },
): Promise<ScimGroupTable> {
  const { scim_group_id: groupId, scim_group_name: name } = named;
  const { db, organisationId, settings } = context;
  if ((groupId === undefined) === (name === undefined)) {
    throw invalidFields([
      { location: 'body', path: 'scim_group_id', message: 'send exactly one of scim_group_id and scim_group_name' },
    ]);
  }
  if (name === undefined) {
    const group = await findScimGroup(db, organisationId, groupId ?? '');
    if (!group) throw notFound('SCIM group');
    return group;
  }
  if (patternName(name, settings)) {
    throw invalid('scim_group_name', 'is a name that leads to a workspace by itself; such a group needs no mapping');
  }
  const known = await groupOfName(db, organisationId, name);
  return known ?? insertGroup(context, { displayName: name, externalId: null, pushed: false });
}

/** People stay members; from now on as if somebody had added them by hand. */
async function unlink(
  call: Pick<Call<unknown, unknown, unknown>, 'caller' | 'db' | 'services' | 'now' | 'changed' | 'note'>,
  mappingId: string,
) {
  const { caller, db, note } = call;
  requireScim(call.services);
  const { organisationId } = caller;
  const mapping = await mappingsOf(db, organisationId)
    .select(mappingColumns)
    .where('mapping.id', '=', mappingId)
    .executeTakeFirst();
  if (!mapping) throw notFound('mapping');
  const context = await contextOf(call, organisationId);
  await archiveMappings(context, [mapping.id]);
  await db.deleteFrom('scim_grants').where('mapping_id', '=', mapping.id).execute();
  // Where another group leads there too, its mapping takes over.
  await syncMemberships(context, await membersOfGroup(context, mapping.group_id));
  note({
    resourceId: mapping.id,
    workspaceId: mapping.workspace_id,
    details: { group: mapping.display_name, workspace_id: mapping.workspace_id, role: mapping.role },
  });
  return { success: true as const };
}

const succeeded = () => z.object({ success: z.literal(true) });

const deleteMapping = endpoint({
  method: 'DELETE',
  path: '/scim/workspaces/:mappingId',
  tag,
  summary: 'Stop a SCIM group from leading to a workspace; its people stay members',
  access: writing,
  audit: { resource: 'scim_workspace', action: 'delete' },
  params: () => z.object({ mappingId: id }),
  reply: succeeded,
  handle: (call) => unlink(call, call.params.mappingId),
});

const deleteNamedMapping = endpoint({
  method: 'DELETE',
  path: '/scim/workspaces',
  tag,
  summary: 'Stop the mapping that the query or the body names by its id',
  access: writing,
  audit: { resource: 'scim_workspace', action: 'delete' },
  query: () => z.object({ id: id.optional() }),
  body: () => z.object({ id: id.optional() }),
  bodyRequired: false,
  reply: succeeded,
  handle(call) {
    const mappingId = call.query.id ?? call.body.id;
    if (mappingId === undefined) throw invalidQuery('id', 'is required, here or in the body');
    return unlink(call, mappingId);
  },
});

const listGroups = endpoint({
  method: 'GET',
  path: '/scim/groups',
  tag,
  summary: 'List the SCIM groups of the organisation with the workspaces that they lead to',
  access: reading,
  query: () => z.object({ search: search() }),
  paging,
  reply: () =>
    z.object({
      groups: z.array(
        z.object({
          id: z.string(),
          display_name: z.string(),
          external_id: z.string().nullable(),
          member_count: z.number(),
          mappings: z.array(mappingRecord()),
          created_at: z.string(),
        }),
      ),
      page: z.number(),
      page_size: z.number(),
      total_count: z.number(),
    }),
  async handle({ caller, query, page, db, services }) {
    requireScim(services);
    const { organisationId } = caller;
    let matches = db.selectFrom('scim_groups as circle').where('circle.organisation_id', '=', organisationId);
    const { search } = query;
    if (search) matches = matches.where((eb) => holdsFolded(eb.ref('circle.display_name_folded'), search));
    const total = await countOf(matches);
    const rows = await matches
      .selectAll('circle')
      .select((eb) =>
        eb
          .selectFrom('scim_group_members')
          .select((count) => count.fn.countAll<number>().as('members'))
          .whereRef('group_id', '=', 'circle.id')
          .as('member_count'),
      )
      .orderBy('circle.created_at', 'desc')
      .orderBy('circle.id', 'desc')
      .limit(page.size)
      .offset(page.offset)
      .execute();
    const mappings = await mappingsOfGroups(
      db,
      organisationId,
      rows.map((row) => row.id),
    );
    const groups = rows.map((row) => ({
      id: row.id,
      display_name: row.display_name,
      external_id: row.external_id,
      member_count: Number(row.member_count ?? 0),
      mappings: mappings.filter((mapping) => mapping.scim_group_id === row.id),
      created_at: row.created_at,
    }));
    return { groups, page: page.index, page_size: page.size, total_count: total };
  },
});

async function mappingsOfGroups(db: Db, organisationId: string, groupIds: readonly string[]) {
  if (groupIds.length === 0) return [];
  const rows = await mappingsOf(db, organisationId)
    .select(mappingColumns)
    .where('mapping.group_id', 'in', groupIds)
    .orderBy('mapping.created_at')
    .execute();
  return rows.map(asMapping);
}

export const scimResource: Resource = {
  name: 'scim',
  endpoints: [makeToken, revokeToken, listMappings, createMapping, deleteMapping, deleteNamedMapping, listGroups],
};
