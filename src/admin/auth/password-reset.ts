/** A link that sets a password anew: made by those who run the organisation, good for that organisation, once, for a day. */
import { z } from 'zod';
import { forbidden, gone } from '../../http/errors.ts';
import { setPassword } from '../../identity/accounts.ts';
import { actorId } from '../../identity/caller.ts';
import { organisationRoleBeyond, workspaceRoleBeyond } from '../../identity/grants.ts';
import { passwordSchema } from '../../identity/passwords.ts';
import { digestOf, newToken } from '../../identity/secrets.ts';
import { endSessions } from '../../identity/sessions.ts';
import { findStanding } from '../../identity/standing.ts';
import { lazy } from '../../lazy.ts';
import type { Db } from '../../store/database.ts';
import { keyPlace } from '../api-keys/place.ts';
import { type Call, endpoint } from '../kernel/endpoint.ts';
import { empty, id, timestamp } from '../kernel/fields.ts';
import { queueNotice } from '../notices/outbox.ts';
import { activeMember, leaveOwnersAlone } from '../users/rules.ts';

const lifetimeMs = 86_400_000;

export const offerReset = endpoint({
  method: 'POST',
  path: '/admin/users/:userId/password-reset',
  aliases: ['/users/:userId/password-reset'],
  tag: 'Users',
  summary: 'Make a link with which a user sets a new password for this organisation',
  description:
    'The link is good for a day and for one use, and is shown here once; a link made before stops working. ' +
    'Passwords that the same address has in other organisations stay as they are. ' +
    'Nobody makes one for a person who may do more than they.',
  access: { callers: ['admin-key', 'session'], scope: 'organisation_users.update', level: 'organisation' },
  throttle: 'sensitive',
  params: () => z.object({ userId: id }),
  bodyRequired: false,
  reply: () => z.object({ object: z.literal('password_reset'), reset_link: z.string(), expires_at: timestamp }),
  audit: { resource: 'user', action: 'update' },
  async handle(call) {
    const { caller, params, db, now, services, exchange, note } = call;
    const { organisationId } = caller;
    const member = await activeMember(db, organisationId, params.userId);
    leaveOwnersAlone(caller, member);
    await requireMayStandIn(call, member);
    const token = newToken();
    const expiresAt = new Date(now.getTime() + lifetimeMs).toISOString();
    await forget(db, member.userId, organisationId);
    await db
      .insertInto('password_resets')
      .values({
        token_digest: digestOf(token),
        user_id: member.userId,
        organisation_id: organisationId,
        created_by: actorId(caller),
        created_at: now.toISOString(),
        expires_at: expiresAt,
      })
      .execute();
    const link = `${exchange.origin}/reset-password/${token}`;
    const { name } = await organisationOf(db, organisationId);
    await queueNotice(db, services.vault, now, {
      organisationId,
      template: 'password-reset',
      recipients: [member.email],
      fields: { organisationName: name, resetLink: link },
    });
    note({ resourceId: member.userId, details: { event: 'password reset offered', email: member.email } });
    return { object: 'password_reset' as const, reset_link: link, expires_at: expiresAt };
  },
});

/** Whoever holds the link can become the person, so that a key needs all that the person may do. */
async function requireMayStandIn(
  { caller, db }: Pick<Call<unknown, unknown, unknown>, 'caller' | 'db'>,
  member: { userId: string; role: 'owner' | 'admin' | 'member' },
): Promise<void> {
  if (caller.kind === 'session') return;
  if (member.role === 'owner') throw forbidden('A key makes no link for an owner; another owner does, or gw password');
  const { organisationSettings } = await keyPlace(db, caller.organisationId, null);
  const standing = await findStanding(db, caller.organisationId, member.userId);
  const reasons = [organisationRoleBeyond(caller, member.role, organisationSettings)];
  for (const [workspaceId, role] of standing?.workspaceRoles ?? []) {
    const { settings } = await keyPlace(db, caller.organisationId, workspaceId);
    reasons.push(workspaceRoleBeyond(caller, workspaceId, role, settings));
  }
  const reason = reasons.find((text) => text !== null);
  if (reason) throw forbidden(reason);
}

const organisationOf = (db: Db, organisationId: string) =>
  db.selectFrom('organisations').select('name').where('id', '=', organisationId).executeTakeFirstOrThrow();

const forget = (db: Db, userId: string, organisationId: string) =>
  db
    .deleteFrom('password_resets')
    .where('user_id', '=', userId)
    .where('organisation_id', '=', organisationId)
    .execute();

const linkParams = lazy(() => z.object({ token: z.string().regex(/^[\w-]{1,100}$/) }));

/** What a link is for, while it is good. */
async function followReset(db: Db, now: Date, token: string) {
  const reset = await db
    .selectFrom('password_resets as reset')
    .innerJoin('users as user', 'user.id', 'reset.user_id')
    .innerJoin('organisations as organisation', 'organisation.id', 'reset.organisation_id')
    .innerJoin('organisation_members as member', (join) =>
      join
        .onRef('member.user_id', '=', 'reset.user_id')
        .onRef('member.organisation_id', '=', 'reset.organisation_id')
        .on('member.status', '=', 'active'),
    )
    .select(['reset.user_id', 'reset.organisation_id', 'reset.expires_at', 'user.email', 'organisation.name'])
    .where('reset.token_digest', '=', digestOf(token))
    .where('reset.expires_at', '>', now.toISOString())
    .where('organisation.status', '=', 'active')
    .executeTakeFirst();
  if (!reset) throw gone('This link was used, replaced or is too old; ask an administrator for a new one');
  return reset;
}

export const readReset = endpoint({
  method: 'GET',
  path: '/auth/password-resets/:token',
  tag: 'Sign-in',
  summary: 'Read what a link to a new password is for',
  access: 'open',
  throttle: 'sensitive',
  params: linkParams,
  reply: () =>
    z.object({
      object: z.literal('password_reset'),
      email: z.string(),
      organisation_name: z.string(),
      expires_at: timestamp,
    }),
  async handle({ params, db, now }) {
    const { email, name, expires_at } = await followReset(db, now, params.token);
    return { object: 'password_reset' as const, email, organisation_name: name, expires_at };
  },
});

export const useReset = endpoint({
  method: 'POST',
  path: '/auth/password-resets/:token',
  tag: 'Sign-in',
  summary: 'Set a new password by a link',
  description: 'Ends every session of the person in the organisation, and the link.',
  access: 'open',
  throttle: 'sensitive',
  params: linkParams,
  body: () => z.object({ password: passwordSchema() }),
  reply: empty,
  audit: { resource: 'user', action: 'update' },
  atomic: false,
  async handle({ params, body, db, now, services, commit, changed, note }) {
    await followReset(db, now, params.token);
    const passwordHash = await services.passwords.hash(body.password);
    await commit(async (tx) => {
      const { user_id: userId, organisation_id: organisationId } = await followReset(tx, now, params.token);
      await setPassword(tx, now, { userId, organisationId }, passwordHash);
      await endSessions(tx, userId, organisationId);
      await forget(tx, userId, organisationId);
      changed({ topic: 'user', id: userId });
      note({
        actor: { id: userId, type: 'user', organisationId },
        resourceId: userId,
        details: { event: 'password reset', fields: ['password'] },
      });
    });
    return {};
  },
});
