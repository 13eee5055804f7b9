/** Where people are signed in, for themselves and for those who run the organisation, and how such a session is ended. */
import { z } from 'zod';
import { notFound } from '../../http/errors.ts';
import type { Caller } from '../../identity/caller.ts';
import { endSessions } from '../../identity/sessions.ts';
import { lazy } from '../../lazy.ts';
import type { Db } from '../../store/database.ts';
import type { Page } from '../kernel/endpoint.ts';
import { endpoint } from '../kernel/endpoint.ts';
import { empty, id, timestamp } from '../kernel/fields.ts';
import { countOf } from '../kernel/lists/list-queries.ts';
import { asList, listOf } from '../kernel/lists/paging.ts';
import { activeMember, leaveOwnersAlone } from '../users/rules.ts';
import { sessionsOnly, signedIn } from './session-reply.ts';

const record = lazy(() =>
  z.object({
    object: z.literal('session'),
    id: z.string(),
    signed_in_at: timestamp,
    expires_at: timestamp,
    client_ip: z.string(),
    user_agent: z.string(),
    current: z.boolean().describe('True for the session that asks'),
  }),
);

interface Whose {
  userId: string;
  organisationId: string;
}

async function sessionsOf(db: Db, now: Date, { userId, organisationId }: Whose, page: Page, caller: Caller) {
  const open = db
    .selectFrom('sessions')
    .where('user_id', '=', userId)
    .where('organisation_id', '=', organisationId)
    .where('expires_at', '>', now.toISOString());
  const rows = await open
    .select(['id', 'auth_time', 'expires_at', 'client_ip', 'user_agent'])
    .orderBy('auth_time', 'desc')
    .orderBy('id', 'desc')
    .limit(page.size)
    .offset(page.offset)
    .execute();
  const current = caller.kind === 'session' ? caller.sessionId : null;
  return asList(
    rows.map(({ auth_time, ...row }) => ({
      object: 'session' as const,
      ...row,
      signed_in_at: auth_time,
      current: row.id === current,
    })),
    await countOf(open),
  );
}

async function end(db: Db, { userId, organisationId }: Whose, sessionId: string): Promise<void> {
  const { numDeletedRows } = await db
    .deleteFrom('sessions')
    .where('id', '=', sessionId)
    .where('user_id', '=', userId)
    .where('organisation_id', '=', organisationId)
    .executeTakeFirst();
  if (numDeletedRows === 0n) throw notFound('session');
}

const paging = { size: 100, max: 1000 };
const callers = ['admin-key', 'session'] as const;
const ended = { resource: 'user', action: 'manage' } as const;
const ofUser = lazy(() => z.object({ userId: id }));

const listOwn = endpoint({
  method: 'GET',
  path: '/auth/sessions',
  tag: 'Sign-in',
  summary: 'List where the signed-in person is signed in to this organisation, newest first',
  access: sessionsOnly,
  paging,
  reply: () => listOf(record()),
  handle: ({ caller, db, now, page }) => sessionsOf(db, now, signedIn(caller), page, caller),
});

const endOwn = endpoint({
  method: 'DELETE',
  path: '/auth/sessions/:sessionId',
  tag: 'Sign-in',
  summary: 'End one of one’s own sessions',
  access: sessionsOnly,
  params: () => z.object({ sessionId: id }),
  reply: empty,
  audit: ended,
  async handle({ caller, params, db, note }) {
    const person = signedIn(caller);
    await end(db, person, params.sessionId);
    note({ resourceId: person.userId, details: { event: 'session ended', session_id: params.sessionId } });
    return {};
  },
});

const listOfUser = endpoint({
  method: 'GET',
  path: '/admin/users/:userId/sessions',
  aliases: ['/users/:userId/sessions'],
  tag: 'Users',
  summary: 'List where a user is signed in to the organisation, newest first',
  access: { callers, scope: 'organisation_users.read', level: 'organisation' },
  params: ofUser,
  paging,
  reply: () => listOf(record()),
  async handle({ caller, params, db, now, page }) {
    const { organisationId } = caller;
    const { userId } = await activeMember(db, organisationId, params.userId);
    return sessionsOf(db, now, { userId, organisationId }, page, caller);
  },
});

const endOfUser = endpoint({
  method: 'DELETE',
  path: '/admin/users/:userId/sessions/:sessionId',
  aliases: ['/users/:userId/sessions/:sessionId'],
  tag: 'Users',
  summary: 'End a session of a user',
  access: { callers, scope: 'organisation_users.update', level: 'organisation' },
  params: () => z.object({ userId: id, sessionId: id }),
  reply: empty,
  audit: ended,
  async handle({ caller, params, db, note }) {
    const { organisationId } = caller;
    const member = await activeMember(db, organisationId, params.userId);
    leaveOwnersAlone(caller, member);
    await end(db, { userId: member.userId, organisationId }, params.sessionId);
    note({ resourceId: member.userId, details: { event: 'session ended', session_id: params.sessionId } });
    return {};
  },
});

const endAllOfUser = endpoint({
  method: 'DELETE',
  path: '/admin/users/:userId/sessions',
  aliases: ['/users/:userId/sessions'],
  tag: 'Users',
  summary: 'End every session of a user in the organisation',
  access: { callers, scope: 'organisation_users.update', level: 'organisation' },
  params: ofUser,
  reply: empty,
  audit: ended,
  async handle({ caller, params, db, note }) {
    const { organisationId } = caller;
    const member = await activeMember(db, organisationId, params.userId);
    leaveOwnersAlone(caller, member);
    await endSessions(db, member.userId, organisationId);
    note({ resourceId: member.userId, details: { event: 'sessions ended' } });
    return {};
  },
});

export const sessionListEndpoints = [listOwn, endOwn, listOfUser, endOfUser, endAllOfUser];
