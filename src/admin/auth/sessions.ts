/** What a signed-in person does with their session: end it, renew it, take it to another organisation. */

import { z } from 'zod';
import { forbidden, notFound, unauthenticated } from '../../http/errors.ts';
import { opens, passwordOfSession } from '../../identity/accounts.ts';
import { findAuthSettings } from '../../identity/auth-settings.ts';
import type { SessionCaller } from '../../identity/caller.ts';
import type { OrganisationRole } from '../../identity/roles.ts';
import { endSession, type NewSession, openSession } from '../../identity/sessions.ts';
import type { Db } from '../../store/database.ts';
import { type Call, endpoint } from '../kernel/endpoint.ts';
import { id } from '../kernel/fields.ts';
import { openLogout } from '../sso/named-sessions.ts';
import { enforcesSso } from '../sso/way.ts';
import { rememberOrganisation } from './login.ts';
import { clearCookie, handOver, originOf, sessionReply, sessionsOnly, signedIn } from './session-reply.ts';

export const logout = endpoint({
  method: 'POST',
  path: '/auth/logout',
  tag: 'Sign-in',
  summary: 'End this session',
  access: sessionsOnly,
  audit: { resource: 'user', action: 'manage' },
  reply: () =>
    z.object({
      redirect_url: z
        .string()
        .optional()
        .describe('Where the session at the identity provider is ended; absent where it has no such address'),
    }),
  async handle(call) {
    const { userId, sessionId, organisationId } = signedIn(call.caller);
    const elsewhere = await logoutElsewhere(call, sessionId, organisationId);
    await endSession(call.db, sessionId);
    call.note({ resourceId: userId, details: { event: 'logout' } });
    clearCookie(call);
    return elsewhere === null ? {} : { redirect_url: elsewhere };
  },
});

/** The address at which the identity provider ends its own session, where one opened this session and has such an address. */
async function logoutElsewhere(
  { db, services, exchange }: Pick<Call<unknown, unknown, unknown>, 'db' | 'services' | 'exchange'>,
  sessionId: string,
  organisationId: string,
): Promise<string | null> {
  const row = await db.selectFrom('sessions').select('sso_sealed').where('id', '=', sessionId).executeTakeFirst();
  if (!row?.sso_sealed) return null;
  const told = openLogout(services.vault, row.sso_sealed);
  if (!told) return null;
  if ('nameId' in told) {
    return services.sso.samlLogout(await findAuthSettings(db, organisationId), exchange.origin, told);
  }
  const url = new URL(told.endSessionUrl);
  url.searchParams.set('id_token_hint', told.idToken);
  url.searchParams.set('client_id', told.clientId);
  url.searchParams.set('post_logout_redirect_uri', `${exchange.origin}/`);
  return url.href;
}

export const refresh = endpoint({
  method: 'POST',
  path: '/auth/refresh',
  tag: 'Sign-in',
  summary: 'Replace this session by one that lasts longer',
  description:
    'The old token stops counting. No session lasts past the organisation’s `max_session_ttl`, counted from the sign-in.',
  access: sessionsOnly,
  throttle: 'sensitive',
  audit: { resource: 'user', action: 'manage' },
  reply: sessionReply,
  async handle(call) {
    const caller = signedIn(call.caller);
    const session = await replace(call, caller, caller.organisationId);
    call.note({ resourceId: caller.userId, details: { event: 'refresh' } });
    return handOver(call, session, caller.organisationId);
  },
});

export const switchOrganisation = endpoint({
  method: 'POST',
  path: '/auth/switch-organisation',
  tag: 'Sign-in',
  summary: 'Replace this session by one in another organisation of the same person',
  description: 'The old token stops counting. The other organisation’s `max_session_ttl` applies.',
  access: { ...sessionsOnly, leadsElsewhere: true },
  throttle: 'sensitive',
  audit: { resource: 'user', action: 'login' },
  body: () => z.object({ organisation_id: id }),
  reply: sessionReply,
  async handle(call) {
    const caller = signedIn(call.caller);
    const organisationId = call.body.organisation_id;
    const membership = await call.db
      .selectFrom('organisation_members as member')
      .innerJoin('organisations as organisation', 'organisation.id', 'member.organisation_id')
      .select('member.role')
      .where('member.organisation_id', '=', organisationId)
      .where('member.user_id', '=', caller.userId)
      .where('member.status', '=', 'active')
      .where('organisation.status', '=', 'active')
      .executeTakeFirst();
    const passwordHash = await passwordOfSession(call.db, caller.sessionId);
    if (membership) await requireOwnRules(call.db, caller, organisationId, membership.role);
    // The address may have other passwords, of other people, elsewhere.
    if (!membership || !(await opens(call.db, passwordHash, { userId: caller.userId, organisationId }))) {
      throw notFound('organisation; if you belong to it, sign in with the password that you have there');
    }
    const session = await replace(call, caller, organisationId);
    await rememberOrganisation(call.db, caller.userId, organisationId);
    // The row belongs to the trail of the organisation that was entered.
    call.note({
      actor: { id: caller.userId, type: 'user', organisationId },
      resourceId: caller.userId,
      details: { method: 'switch', from: caller.organisationId },
    });
    return handOver(call, session, organisationId);
  },
});

/** An identity provider vouches for its own organisation alone; and where single sign-on is enforced, nothing else opens one. */
async function requireOwnRules(
  db: Db,
  { sessionId }: SessionCaller,
  organisationId: string,
  role: OrganisationRole,
): Promise<void> {
  const row = await db.selectFrom('sessions').select('sso_sealed').where('id', '=', sessionId).executeTakeFirst();
  const isEnforced = role !== 'owner' && enforcesSso(await findAuthSettings(db, organisationId));
  if (row?.sso_sealed || isEnforced) throw forbidden('Sign in to that organisation itself');
}

/** Opens the next session and ends the one before it; the moment of the sign-in stays what it was. */
async function replace(
  call: Pick<Call<unknown, unknown, unknown>, 'db' | 'now' | 'exchange'>,
  { userId, sessionId }: SessionCaller,
  organisationId: string,
): Promise<NewSession> {
  const { db, now, exchange } = call;
  const ended = unauthenticated('This session has ended; sign in again');
  const before = await db
    .selectFrom('sessions')
    .select(['auth_time', 'password_hash', 'sso_sealed', 'sso_subject', 'sso_session'])
    .where('id', '=', sessionId)
    .executeTakeFirst();
  if (!before || !(await endSession(db, sessionId))) throw ended;
  const who = {
    userId,
    organisationId,
    authTime: new Date(before.auth_time),
    passwordHash: before.password_hash,
    ssoSealed: before.sso_sealed,
    ssoSubject: before.sso_subject,
    ssoSession: before.sso_session,
  };
  const session = await openSession(db, now, who, originOf(exchange));
  if (session.expiresAt <= now.toISOString()) throw ended;
  return session;
}
