/** Members of a workspace. */
import { z } from 'zod';
import { conflict, invalid, notFound } from '../../http/errors.ts';
import { workspaceRoleSchema } from '../../identity/roles.ts';
import { lazy } from '../../lazy.ts';
import { recordKeysGone } from '../api-keys/events.ts';
import { endpoint, type Resource } from '../kernel/endpoint.ts';
import { email, empty, id, reference } from '../kernel/fields.ts';
import { asList, listOf } from '../kernel/lists/paging.ts';
import { activeWorkspaceRow, settingsOf, surroundingsOf, workspaceRow } from '../workspaces/row.ts';
import { leaveWorkspace } from './membership.ts';
import { listMembers, memberRecord, memberRecordOf } from './record.ts';
import {
  appoint,
  appointment,
  isLeaving,
  memberIds,
  requireColleagues,
  requireMayGrant,
  requireMayRemove,
  requireMayTouch,
  requireMember,
} from './rules.ts';

const tag = 'Workspace members';
/** Workspace keys manage no members, whatever their scopes. */
const callers = ['admin-key', 'session'] as const;
const inWorkspace = lazy(() => z.object({ workspaceId: reference }));
const ofMember = lazy(() => z.object({ workspaceId: reference, userId: id }));

const addMembers = endpoint({
  method: 'POST',
  path: '/admin/workspaces/:workspaceId/users',
  aliases: ['/workspaces/:workspaceId/users'],
  tag,
  summary: 'Add people of the organisation to a workspace',
  description: 'Those who are members already keep their role; when that is everyone, the call answers 409.',
  access: { callers, scope: 'workspace_users.create', level: 'workspace' },
  audit: { resource: 'workspace_user', action: 'create' },
  params: inWorkspace,
  body: () => z.object({ users: z.array(appointment()).min(1).max(100) }),
  reply: empty,
  async handle({ caller, workspace, body, db, now, services, changed, note }) {
    const row = await activeWorkspaceRow(db, workspace);
    const { id: workspaceId, organisation_id: organisationId } = row;
    const roles = body.users.map((user) => user.role);
    requireMayGrant(caller, workspaceId, roles, await settingsOf(db, row));
    await requireColleagues(db, organisationId, body.users);
    const present = await memberIds(
      db,
      workspaceId,
      body.users.map((user) => user.id),
    );
    const added = body.users.filter((user) => !present.has(user.id));
    if (added.length === 0) throw conflict('Everyone listed is a member of this workspace already');
    changed(...(await appoint(db, services, now, { organisationId, workspaceId }, added)));
    const [first, ...others] = added;
    note({ ...(first && others.length === 0 && { resourceId: first.id }), details: { users: added, source: 'api' } });
    return {};
  },
});

const listMembersOfWorkspace = endpoint({
  method: 'GET',
  path: '/admin/workspaces/:workspaceId/users',
  aliases: ['/workspaces/:workspaceId/users'],
  tag,
  summary: 'List the active members of a workspace, newest first',
  description: 'Owners and admins of the organisation are listed only when they were added to the workspace.',
  access: { callers, scope: 'workspace_users.list', level: 'workspace' },
  params: inWorkspace,
  query: () =>
    z.object({
      role: workspaceRoleSchema().optional(),
      email: email.optional().describe('The whole address, in any case'),
      search: z.string().trim().min(1).max(255).optional().describe('Any part of the name or the address, in any case'),
    }),
  paging: { size: 50, max: 500 },
  reply: () => listOf(memberRecord()),
  async handle({ workspace, query, page, db }) {
    const row = await workspaceRow(db, workspace);
    const organisation = await surroundingsOf(db, row.organisation_id);
    const { members, total } = await listMembers(db, row, organisation, query, page);
    return asList(members, total);
  },
});

const readMember = endpoint({
  method: 'GET',
  path: '/admin/workspaces/:workspaceId/users/:userId',
  aliases: ['/workspaces/:workspaceId/users/:userId'],
  tag,
  summary: 'Read one member of a workspace',
  access: { callers, scope: 'workspace_users.read', level: 'workspace' },
  params: ofMember,
  reply: memberRecord,
  async handle({ workspace, params, db }) {
    const row = await workspaceRow(db, workspace);
    const organisation = await surroundingsOf(db, row.organisation_id);
    const member = await memberRecordOf(db, row, organisation, params.userId);
    if (!member) throw notFound('member of this workspace');
    return member;
  },
});

const changeRole = endpoint({
  method: 'PUT',
  path: '/admin/workspaces/:workspaceId/users/:userId',
  aliases: ['/workspaces/:workspaceId/users/:userId'],
  tag,
  summary: "Change a member's role in a workspace",
  access: { callers, scope: 'workspace_users.update', level: 'workspace' },
  audit: { resource: 'workspace_user', action: 'update' },
  params: ofMember,
  body: () => z.object({ role: workspaceRoleSchema() }),
  reply: empty,
  async handle({ caller, workspace, params, body, db, now, changed, note }) {
    const row = await activeWorkspaceRow(db, workspace);
    const workspaceId = row.id;
    const member = await requireMember(db, workspaceId, params.userId);
    requireMayTouch(caller, workspaceId, member);
    requireMayGrant(caller, workspaceId, [body.role], await settingsOf(db, row));
    if (member.role === body.role) throw invalid('role', `is ${body.role} already; send the role to change to`);
    await db
      .updateTable('workspace_members')
      .set({ role: body.role, last_updated_at: now.toISOString() })
      .where('workspace_id', '=', workspaceId)
      .where('user_id', '=', member.id)
      .execute();
    changed({ topic: 'user', id: member.id });
    note({
      resourceId: member.id,
      details: { user_id: member.id, role: body.role, old_role: member.role, source: 'api' },
    });
    return {};
  },
});

const removeMember = endpoint({
  method: 'DELETE',
  path: '/admin/workspaces/:workspaceId/users/:userId',
  aliases: ['/workspaces/:workspaceId/users/:userId'],
  tag,
  summary: 'Remove a member from a workspace, with the keys they hold there',
  description: 'Removing others needs the scope workspace_users.delete; leaving oneself needs none.',
  access: { callers, scope: null, level: 'workspace' },
  audit: { resource: 'workspace_user', action: 'delete' },
  params: ofMember,
  reply: empty,
  async handle({ caller, workspace, params, db, now, services, changed, note }) {
    const { id: workspaceId } = await activeWorkspaceRow(db, workspace);
    const leaving = isLeaving(caller, params.userId);
    if (!leaving) requireMayRemove(caller, workspaceId);
    const member = await requireMember(db, workspaceId, params.userId);
    if (!leaving) requireMayTouch(caller, workspaceId, member);
    const changes = await leaveWorkspace(db, now, workspaceId, member.id);
    await recordKeysGone(db, services, now, changes);
    changed(...changes);
    note({ resourceId: member.id, details: { user_id: member.id, role: member.role, source: 'api' } });
    return {};
  },
});

export const membersResource: Resource = {
  name: 'members',
  endpoints: [addMembers, listMembersOfWorkspace, readMember, changeRole, removeMember],
};
