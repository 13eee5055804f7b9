/** Invites to an organisation, as those who run it see them. What the invited person may do is in link-routes.ts. */
import type { ExpressionBuilder } from 'kysely';
import type { z } from 'zod';
import { ApiError, invalid } from '../../http/errors.ts';
import { actorId } from '../../identity/caller.ts';
import type { WorkspaceRole } from '../../identity/roles.ts';
import type { Db } from '../../store/database.ts';
import { decode, encode } from '../../store/json.ts';
import type { InviteTable, Schema } from '../../store/schema.ts';
import { endpoint, type Resource } from '../kernel/endpoint.ts';
import { empty } from '../kernel/fields.ts';
import { holdsInAnyCase, newestFirst } from '../kernel/lists/list-queries.ts';
import { asList, listOf } from '../kernel/lists/paging.ts';
import { requireOpenUserManagement } from '../scim/settings.ts';
import { activeWorkspaceIds } from '../workspaces/references.ts';
import { promisedBy, requireMayPromise } from './authority.ts';
import { findInvite, newLink, refuseTwice, statusAt } from './invite.ts';
import { acceptInvite, readLink } from './link-routes.ts';
import { inviteBody, inviteFilters, inviteParams, inviteRecord, linkReplies } from './schema.ts';
import { sendInvite } from './send.ts';

const callers = ['admin-key', 'session'] as const;
const tag = 'Invites';

const createInvite = endpoint({
  method: 'POST',
  path: '/admin/users/invites',
  aliases: ['/users/invites'],
  tag,
  summary: 'Invite a person to the organisation',
  description: 'The invited address is sent a link that is good for two days. The link is shown here once.',
  access: { callers, scope: 'organisation_users.create', level: 'organisation' },
  throttle: 'sensitive',
  body: inviteBody,
  reply: linkReplies.create,
  audit: { resource: 'invite', action: 'create' },
  async handle({ caller, body, db, now, services, exchange, note }) {
    const { organisationId } = caller;
    await requireOpenUserManagement(db, organisationId);
    const workspaces = await resolveWorkspaces(db, organisationId, body.workspaces ?? []);
    const scopes = body.workspace_api_key_details?.scopes ?? null;
    await requireMayPromise(db, caller, { organisationId, role: body.role, workspaces, keyScopes: scopes ?? [] });
    await refuseTwice(db, now, organisationId, body.email);
    const { link, stored } = newLink(exchange.origin, now);
    const id = Bun.randomUUIDv7();
    await db
      .insertInto('invites')
      .values({
        id,
        organisation_id: organisationId,
        email: body.email,
        role: body.role,
        status: 'pending',
        workspaces: encode(workspaces),
        api_key_scopes: scopes && encode(scopes),
        invited_by: actorId(caller),
        created_at: now.toISOString(),
        accepted_at: null,
        ...stored,
      })
      .execute();
    await sendInvite(db, services, now, caller, { email: body.email, link });
    note({ resourceId: id, details: { email: body.email, role: body.role } });
    return { id, invite_link: link };
  },
});

const listInvites = endpoint({
  method: 'GET',
  path: '/admin/users/invites',
  aliases: ['/users/invites'],
  tag,
  summary: 'List the invites of the organisation, newest first',
  access: { callers, scope: 'organisation_users.list', level: 'organisation' },
  query: inviteFilters,
  paging: { size: 100, max: 1000 },
  reply: () => listOf(inviteRecord()),
  async handle({ caller, query, page, db, now }) {
    const matches = db
      .selectFrom('invites')
      .where('organisation_id', '=', caller.organisationId)
      .where((eb) => eb.and(conditions(eb, query, now)));
    const { rows, total } = await newestFirst(matches, page);
    return asList(
      rows.map((row) => record(row, now)),
      total,
    );
  },
});

const readInvite = endpoint({
  method: 'GET',
  path: '/admin/users/invites/:inviteId',
  aliases: ['/users/invites/:inviteId'],
  tag,
  summary: 'Read one invite',
  access: { callers, scope: 'organisation_users.read', level: 'organisation' },
  params: inviteParams,
  reply: inviteRecord,
  async handle({ caller, params, db, now }) {
    return record(await findInvite(db, caller.organisationId, params.inviteId), now);
  },
});

const cancelInvite = endpoint({
  method: 'DELETE',
  path: '/admin/users/invites/:inviteId',
  aliases: ['/users/invites/:inviteId'],
  tag,
  summary: 'Cancel an invite; its link stops working',
  access: { callers, scope: 'organisation_users.delete', level: 'organisation' },
  params: inviteParams,
  reply: empty,
  audit: { resource: 'invite', action: 'delete' },
  async handle({ caller, params, db, note }) {
    const invite = await findInvite(db, caller.organisationId, params.inviteId);
    if (invite.status === 'accepted') {
      throw new ApiError('AB01', 'This invite was accepted; remove the user from the organisation instead');
    }
    await db.updateTable('invites').set({ status: 'cancelled' }).where('id', '=', invite.id).execute();
    note({ details: { email: invite.email, role: invite.role } });
    return {};
  },
});

const resendInvite = endpoint({
  method: 'POST',
  path: '/admin/users/invites/:inviteId/resend',
  aliases: ['/users/invites/:inviteId/resend'],
  tag,
  summary: 'Send an invite again, with a new link and two more days',
  access: { callers, scope: 'organisation_users.create', level: 'organisation' },
  throttle: 'sensitive',
  params: inviteParams,
  reply: linkReplies.resend,
  audit: { resource: 'invite', action: 'update' },
  async handle({ caller, params, db, now, services, exchange, note }) {
    const invite = await findInvite(db, caller.organisationId, params.inviteId);
    if (invite.status !== 'pending' && invite.status !== 'expired') {
      throw new ApiError('AB01', `This invite is ${invite.status}; only a pending or expired one can be sent again`);
    }
    await requireMayPromise(db, caller, promisedBy(invite));
    await refuseTwice(db, now, caller.organisationId, invite.email, invite.id);
    const { link, stored } = newLink(exchange.origin, now);
    await db
      .updateTable('invites')
      // Whoever sends it again answers for it from now on.
      .set({ status: 'pending', invited_by: actorId(caller), ...stored })
      .where('id', '=', invite.id)
      .execute();
    await sendInvite(db, services, now, caller, { email: invite.email, link });
    note({ details: { email: invite.email, role: invite.role } });
    return { invite_link: link, inviteLink: link };
  },
});

const record = (invite: InviteTable, now: Date): z.input<ReturnType<typeof inviteRecord>> => ({
  object: 'invite',
  id: invite.id,
  email: invite.email,
  role: invite.role,
  status: statusAt(invite, now),
  workspaces: decode(invite.workspaces).map(({ id, role }) => ({ id, workspace_id: id, role })),
  invited_by: invite.invited_by,
  created_at: invite.created_at,
  expires_at: invite.expires_at,
  accepted_at: invite.accepted_at,
});

function conditions(
  eb: ExpressionBuilder<Schema, 'invites'>,
  query: z.output<ReturnType<typeof inviteFilters>>,
  now: Date,
) {
  return [
    ...(query.role ? [eb('role', '=', query.role)] : []),
    ...(query.email !== undefined ? [eb('email', '=', query.email)] : []),
    ...(query.search !== undefined ? [holdsInAnyCase(eb.ref('email'), query.search)] : []),
    ...(query.status ? [inStatus(eb, query.status, now.toISOString())] : []),
  ];
}

/** The filter agrees with what the records say, whether or not the expiry job has run. */
function inStatus(eb: ExpressionBuilder<Schema, 'invites'>, status: InviteTable['status'], at: string) {
  const pending = eb('status', '=', 'pending');
  if (status === 'pending') return eb.and([pending, eb('expires_at', '>', at)]);
  if (status === 'expired') return eb.or([eb('status', '=', 'expired'), eb.and([pending, eb('expires_at', '<=', at)])]);
  return eb('status', '=', status);
}

interface InvitedWorkspace {
  id: string;
  role: WorkspaceRole;
}

async function resolveWorkspaces(
  db: Db,
  organisationId: string,
  named: readonly InvitedWorkspace[],
): Promise<InvitedWorkspace[]> {
  const references = named.map((workspace) => workspace.id);
  const ids = await activeWorkspaceIds(db, organisationId, references);
  const resolved = new Map<string, InvitedWorkspace>();
  for (const [index, { id: reference, role }] of named.entries()) {
    const id = ids.get(reference);
    if (id === undefined) throw invalid(`workspaces.${index}.id`, 'is no active workspace of this organisation');
    if (resolved.has(id)) throw invalid(`workspaces.${index}.id`, 'names a workspace that is in the list already');
    resolved.set(id, { id, role });
  }
  return [...resolved.values()];
}

export const invitesResource: Resource = {
  name: 'invites',
  endpoints: [createInvite, listInvites, readInvite, cancelInvite, resendInvite, readLink, acceptInvite],
};
