/** Sessions of people who signed in: opaque tokens, kept as digests, ended by the clock, by logout or by an administrator. */
import type { Clock } from '../clock.ts';
import type { Db } from '../store/database.ts';
import { decode } from '../store/json.ts';
import type { SessionCaller } from './caller.ts';
import { digestOf, newSessionToken, newToken } from './secrets.ts';
import { standingOfMember } from './standing.ts';

const sessionHours = 24;

export interface NewSession {
  token: string;
  csrfToken: string;
  sessionId: string;
  expiresAt: string;
}

export interface SessionOrigin {
  clientIp: string;
  userAgent: string;
}

/** A session lasts a day at most, and never past the organisation's own limit counted from the sign-in. */
export function sessionEnd(now: Date, authTime: Date, maxSessionTtl: number | null): Date {
  const day = now.getTime() + sessionHours * 3_600_000;
  const hardEnd = maxSessionTtl === null ? Number.POSITIVE_INFINITY : authTime.getTime() + maxSessionTtl * 1000;
  return new Date(Math.min(day, hardEnd));
}

export async function openSession(
  db: Db,
  now: Date,
  who: {
    userId: string;
    organisationId: string;
    authTime: Date;
    passwordHash?: string | null;
    ssoSealed?: string | null;
    ssoSubject?: string | null;
    ssoSession?: string | null;
  },
  origin: SessionOrigin,
): Promise<NewSession> {
  const organisation = await db
    .selectFrom('organisations')
    .select('settings')
    .where('id', '=', who.organisationId)
    .executeTakeFirstOrThrow();
  const { max_session_ttl } = decode(organisation.settings).session_settings;
  const session = {
    id: Bun.randomUUIDv7(),
    token: newSessionToken(),
    csrfToken: newToken(),
    expiresAt: sessionEnd(now, who.authTime, max_session_ttl).toISOString(),
  };
  await db
    .insertInto('sessions')
    .values({
      id: session.id,
      token_digest: digestOf(session.token),
      user_id: who.userId,
      organisation_id: who.organisationId,
      csrf_token: session.csrfToken,
      auth_time: who.authTime.toISOString(),
      expires_at: session.expiresAt,
      client_ip: origin.clientIp,
      user_agent: origin.userAgent.slice(0, 300),
      password_hash: who.passwordHash ?? null,
      sso_sealed: who.ssoSealed ?? null,
      sso_subject: who.ssoSubject ?? null,
      sso_session: who.ssoSession ?? null,
    })
    .execute();
  return { token: session.token, csrfToken: session.csrfToken, sessionId: session.id, expiresAt: session.expiresAt };
}

/** The person behind a session token, with the rights that their roles give at this moment. */
export async function findSession(db: Db, clock: Clock, token: string): Promise<SessionCaller | null> {
  const row = await db
    .selectFrom('sessions as session')
    .innerJoin('users as user', 'user.id', 'session.user_id')
    .innerJoin('organisations as organisation', 'organisation.id', 'session.organisation_id')
    .innerJoin('organisation_members as member', (join) =>
      join
        .onRef('member.user_id', '=', 'session.user_id')
        .onRef('member.organisation_id', '=', 'session.organisation_id'),
    )
    .select([
      'session.id',
      'session.user_id',
      'session.organisation_id',
      'session.csrf_token',
      'session.auth_time',
      'session.expires_at',
      'user.email',
      'organisation.settings',
      'organisation.workspace_overrides',
      'member.role',
    ])
    .where('session.token_digest', '=', digestOf(token))
    .where('member.status', '=', 'active')
    .where('organisation.status', '=', 'active')
    .executeTakeFirst();
  if (!row) return null;
  const now = clock.now();
  const settings = decode(row.settings);
  // The present setting counts, so lowering it ends sessions that are already too old for it.
  const end = sessionEnd(now, new Date(row.auth_time), settings.session_settings.max_session_ttl);
  const expiresAt = row.expires_at < end.toISOString() ? row.expires_at : end.toISOString();
  if (expiresAt <= now.toISOString()) return null;

  const layer = { settings, overrides: decode(row.workspace_overrides) };
  return {
    kind: 'session',
    organisationId: row.organisation_id,
    sessionId: row.id,
    userId: row.user_id,
    email: row.email,
    csrfToken: row.csrf_token,
    expiresAt,
    ...(await standingOfMember(db, { ...row, ...layer })),
  };
}

/** Ends one session; false when it had ended already. */
export async function endSession(db: Db, sessionId: string): Promise<boolean> {
  const { numDeletedRows } = await db.deleteFrom('sessions').where('id', '=', sessionId).executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Ends the sessions of a person in these organisations, but the one they are using. */
export async function endOtherSessions(
  db: Db,
  userId: string,
  organisationIds: readonly string[],
  keptSessionId: string,
): Promise<void> {
  await db
    .deleteFrom('sessions')
    .where('user_id', '=', userId)
    .where('organisation_id', 'in', organisationIds)
    .where('id', '!=', keptSessionId)
    .execute();
}

/** Ends every session of a person, in one organisation or in all of them. */
export async function endSessions(db: Db, userId: string, organisationId?: string): Promise<void> {
  let query = db.deleteFrom('sessions').where('user_id', '=', userId);
  if (organisationId) query = query.where('organisation_id', '=', organisationId);
  await query.execute();
}
