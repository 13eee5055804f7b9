/** Workspaces: made, listed, read, changed, and archived for good. */
import type { ExpressionBuilder } from 'kysely';
import { conflict, forbidden } from '../../http/errors.ts';
import { actorId, runsAll, workspacesWith } from '../../identity/caller.ts';
import { settingsInForce } from '../../identity/settings.ts';
import type { Db } from '../../store/database.ts';
import { decode } from '../../store/json.ts';
import type { Schema } from '../../store/schema.ts';
import { provisionNewWorkspace } from '../integrations/provision.ts';
import { insertSandbox } from '../integrations/sandbox.ts';
import { endpoint, type Resource } from '../kernel/endpoint.ts';
import { empty } from '../kernel/fields.ts';
import { holds, holdsInAnyCase, newestFirst } from '../kernel/lists/list-queries.ts';
import { asList, listOf } from '../kernel/lists/paging.ts';
import { findWorkspace } from '../kernel/workspace-lock.ts';
import { listMembers } from '../members/record.ts';
import { appoint, requireColleagues, requireMayGrant } from '../members/rules.ts';
import { agentFamily, mcpFamily } from '../provisioning/family.ts';
import { provisionIntegrations } from '../provisioning/grants.ts';
import { archiveWorkspace, requireMayBeArchived } from './archive.ts';
import { appliedUsageLimits } from './budget.ts';
import { insertWorkspace } from './create.ts';
import { resolveDefaults } from './defaults.ts';
import { storedName } from './name.ts';
import { asRecord, asSingleRecord } from './record.ts';
import { activeWorkspaceRow, surroundingsOf, workspaceRow } from './row.ts';
import { requireMayUpdate } from './rules.ts';
import {
  confirmation,
  type Filters,
  filters,
  inWorkspace,
  membersShown,
  newWorkspace,
  singleWorkspace,
  workspaceRecord,
  workspaceUpdate,
  workspaceWithMembers,
} from './schema.ts';
import { settingsEndpoints } from './settings-routes.ts';
import { updatedColumns } from './update.ts';

const tag = 'Workspaces';
/** Workspace keys do no more than read the record of their own workspace. */
const callers = ['admin-key', 'session'] as const;

const createWorkspace = endpoint({
  method: 'POST',
  path: '/admin/workspaces',
  aliases: ['/workspaces'],
  tag,
  summary: 'Make a workspace',
  access: { callers, scope: 'workspaces.create', level: 'organisation' },
  audit: { resource: 'workspace', action: 'create' },
  body: newWorkspace,
  reply: singleWorkspace,
  async handle({ caller, body, db, now, services, changed, note }) {
    const { organisationId } = caller;
    const { users = [] } = body;
    const organisation = await surroundingsOf(db, organisationId);
    if (body.slug && (await findWorkspace(db, organisationId, body.slug))) {
      throw conflict(`The slug ${body.slug} is taken by another workspace, perhaps an archived one; choose another`);
    }
    await requireColleagues(db, organisationId, users);
    const workspaceId = Bun.randomUUIDv7();
    requireMayGrant(
      caller,
      workspaceId,
      users.map((user) => user.role),
      organisation.settings,
    );
    const place = { organisationId, workspaceId, properties: organisation.properties };
    // The organisation may ask for metadata, so it is checked here even when none is sent.
    const defaults = await resolveDefaults(db, services, place, { metadata: {}, ...body.defaults });
    await insertWorkspace(db, now, {
      id: workspaceId,
      organisationId,
      ...storedName(body.name, body.icon),
      description: body.description || null,
      ...(body.slug && { slug: body.slug }),
      defaults,
      usageLimits: appliedUsageLimits(body.usage_limits ?? [], [], now),
      rateLimits: body.rate_limits ?? [],
      createdBy: actorId(caller),
    });
    await provisionNewWorkspace(db, now, workspaceId, organisationId);
    await insertSandbox(db, now, { organisationId, workspaceId, createdBy: actorId(caller) });
    for (const family of [mcpFamily, agentFamily]) {
      await provisionIntegrations(family, db, now, workspaceId, organisationId);
    }
    changed({ topic: 'workspace', id: workspaceId });
    changed(...(await appoint(db, services, now, { organisationId, workspaceId }, users)));
    const row = await db.selectFrom('workspaces').selectAll().where('id', '=', workspaceId).executeTakeFirstOrThrow();
    note({ resourceId: workspaceId, workspaceId, details: { name: row.name, users } });
    return asSingleRecord(caller, row, organisation);
  },
});

const listWorkspaces = endpoint({
  method: 'GET',
  path: '/admin/workspaces',
  aliases: ['/workspaces'],
  tag,
  summary: 'List workspaces, newest first',
  description: 'People who do not run the organisation see the workspaces that they belong to.',
  access: { callers, scope: 'workspaces.list', level: 'workspace', emptyForNewcomers: true },
  query: filters,
  paging: { size: 100, max: 1000 },
  reply: () => listOf(workspaceRecord()),
  async handle({ caller, query, page, db }) {
    if (query.status?.includes('archived') && !runsAll(caller)) {
      throw forbidden('Archived workspaces are shown to owners and admins of the organisation and to admin keys');
    }
    const matches = matching(db, caller.organisationId, workspacesWith(caller, 'workspaces.list'), query);
    const { rows, total } = await newestFirst(matches, page);
    return asList(
      rows.map((row) => asRecord(row, query.name_format)),
      total,
    );
  },
});

const matching = (db: Db, organisationId: string, visible: 'all' | string[], query: Filters) =>
  db
    .selectFrom('workspaces')
    .where('organisation_id', '=', organisationId)
    .where('status', 'in', query.status?.length ? query.status : ['active'])
    .where((eb) =>
      eb.and([
        // An empty list is no SQL.
        ...(visible === 'all' ? [] : visible.length === 0 ? [eb.lit(false)] : [eb('id', 'in', visible)]),
        ...(query.exact_name === undefined ? [] : [eb('name', '=', query.exact_name)]),
        ...(query.name === undefined ? [] : [holds(eb.ref('name'), query.name)]),
        ...(query.search === undefined ? [] : [found(eb, query.search)]),
      ]),
    );

const found = (eb: ExpressionBuilder<Schema, 'workspaces'>, part: string) =>
  eb.or([
    holdsInAnyCase(eb.ref('name'), part),
    holdsInAnyCase(eb.ref('slug'), part),
    holdsInAnyCase(eb.fn.coalesce('description', eb.val('')), part),
  ]);

const readWorkspace = endpoint({
  method: 'GET',
  path: '/admin/workspaces/:workspaceId',
  aliases: ['/workspaces/:workspaceId'],
  tag,
  summary: 'Read one workspace',
  description: 'A workspace key reads its own workspace. Archived ones are shown to those who run the organisation.',
  access: {
    callers: ['admin-key', 'session', 'workspace-key', 'user-key'],
    scope: 'workspaces.read',
    level: 'workspace',
  },
  params: inWorkspace,
  query: () => filters().pick({ name_format: true }),
  reply: workspaceWithMembers,
  async handle({ caller, workspace, query, db, services }) {
    await services.limits.flush();
    const row = await workspaceRow(db, workspace);
    const organisation = await surroundingsOf(db, row.organisation_id);
    const record = asSingleRecord(caller, row, organisation, query.name_format);
    // Keys of a workspace are refused on members, so they find none here either.
    if (caller.kind === 'workspace-key' || caller.kind === 'user-key') return record;
    const shown = { size: membersShown, offset: 0 };
    const { members } = await listMembers(db, row, organisation, {}, shown);
    return { ...record, users: members };
  },
});

const updateWorkspace = endpoint({
  method: 'PUT',
  path: '/admin/workspaces/:workspaceId',
  aliases: ['/workspaces/:workspaceId'],
  tag,
  summary: 'Change a workspace; what is left out stays as it is',
  description:
    "Limits, reset_usage and settings are open to the workspace's admins, and to its managers where the setting managersManageWorkspace is on.",
  access: { callers, scope: 'workspaces.update', level: 'workspace' },
  audit: { resource: 'workspace', action: 'update' },
  params: inWorkspace,
  body: workspaceUpdate,
  reply: singleWorkspace,
  async handle(call) {
    const { caller, workspace, body, db, changed, note } = call;
    const row = await activeWorkspaceRow(db, workspace);
    const organisation = await surroundingsOf(db, row.organisation_id);
    requireMayUpdate(caller, row.id, settingsInForce(organisation, decode(row.settings)), body);
    const columns = await updatedColumns(call, row, organisation);
    await db.updateTable('workspaces').set(columns).where('id', '=', row.id).execute();
    changed({ topic: 'workspace', id: row.id });
    note({ resourceId: row.id, details: { name: columns.name ?? row.name, fields: Object.keys(body) } });
    return asSingleRecord(caller, { ...row, ...columns }, organisation);
  },
});

const deleteWorkspace = endpoint({
  method: 'DELETE',
  path: '/admin/workspaces/:workspaceId',
  aliases: ['/workspaces/:workspaceId'],
  tag,
  summary: 'Archive a workspace for good',
  description: 'What is still in it stands in the way (409 names the first kind) unless force_delete removes it too.',
  access: { callers, scope: 'workspaces.delete', level: 'workspace' },
  audit: { resource: 'workspace', action: 'delete' },
  params: inWorkspace,
  body: confirmation,
  reply: empty,
  async handle({ workspace, body, db, now, services, changed, note }) {
    const row = await activeWorkspaceRow(db, workspace);
    requireMayBeArchived(row, body.name);
    const { changes, removed } = await archiveWorkspace(db, services, now, row, body.force_delete);
    changed(...changes);
    note({ resourceId: row.id, details: { name: row.name, force_delete: body.force_delete, removed } });
    return {};
  },
});

export const workspacesResource: Resource = {
  name: 'workspaces',
  endpoints: [createWorkspace, listWorkspaces, readWorkspace, updateWorkspace, deleteWorkspace, ...settingsEndpoints],
};
