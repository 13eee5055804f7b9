/** The life of an invite: pending for two days, then expired, unless it is accepted or cancelled first. */
import { conflict, gone, notFound } from '../../http/errors.ts';
import { digestOf, newToken } from '../../identity/secrets.ts';
import type { Db } from '../../store/database.ts';
import type { InviteTable } from '../../store/schema.ts';
import { requireStanding } from './authority.ts';

const lifetimeMs = 2 * 86_400_000;

/** What makes an invite's link: the token leaves in the link and stays only as its digest. */
export function newLink(origin: string, now: Date) {
  const token = newToken();
  return {
    link: `${origin}/invites/${token}`,
    stored: { token_digest: digestOf(token), expires_at: new Date(now.getTime() + lifetimeMs).toISOString() },
  };
}

/** The clock decides, also before the expiry job has written it down. */
export const statusAt = (invite: Pick<InviteTable, 'status' | 'expires_at'>, now: Date): InviteTable['status'] =>
  invite.status === 'pending' && invite.expires_at <= now.toISOString() ? 'expired' : invite.status;

export async function findInvite(db: Db, organisationId: string, inviteId: string): Promise<InviteTable> {
  const invite = await db
    .selectFrom('invites')
    .selectAll()
    .where('organisation_id', '=', organisationId)
    .where('id', '=', inviteId)
    .executeTakeFirst();
  if (!invite) throw notFound('invite');
  return invite;
}

export type LinkedInvite = InviteTable & { organisation_name: string };

/** The invite behind a link, unless the link is no longer good. */
export async function followLink(db: Db, now: Date, token: string): Promise<LinkedInvite> {
  const invite = await db
    .selectFrom('invites as invite')
    .innerJoin('organisations as organisation', 'organisation.id', 'invite.organisation_id')
    .selectAll('invite')
    .select('organisation.name as organisation_name')
    .where('invite.token_digest', '=', digestOf(token))
    .where('organisation.status', '=', 'active')
    .executeTakeFirst();
  if (!invite) throw notFound('invite; ask for a new one');
  const status = statusAt(invite, now);
  if (status === 'expired') throw gone('This invite has expired; ask for a new one');
  if (status === 'cancelled') throw gone('This invite was withdrawn; ask for a new one');
  if (status === 'pending') await requireStanding(db, now, invite);
  return invite;
}

export async function isActiveMember(db: Db, organisationId: string, email: string): Promise<boolean> {
  const member = await db
    .selectFrom('users as user')
    .innerJoin('organisation_members as member', 'member.user_id', 'user.id')
    .select('user.id')
    .where('user.email', '=', email)
    .where('member.organisation_id', '=', organisationId)
    .where('member.status', '=', 'active')
    .executeTakeFirst();
  return member !== undefined;
}

/** An address is invited once at a time, and not when it belongs to a member. */
export async function refuseTwice(
  db: Db,
  now: Date,
  organisationId: string,
  email: string,
  resentInviteId?: string,
): Promise<void> {
  if (await isActiveMember(db, organisationId, email)) {
    throw conflict(`${email} belongs to the organisation already`);
  }
  const open = await db
    .selectFrom('invites')
    .select('id')
    .where('email', '=', email)
    .where('status', '=', 'pending')
    .where('organisation_id', '=', organisationId)
    .where('expires_at', '>', now.toISOString())
    .execute();
  if (open.some((invite) => invite.id !== resentInviteId)) {
    throw conflict(`${email} has a pending invite; resend or cancel that one`);
  }
}
