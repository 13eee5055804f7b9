/** What the holder of an invite's link may do: look at the invite and accept it. */
import { ApiError, conflict, forbidden } from '../../http/errors.ts';
import { findAuthSettings } from '../../identity/auth-settings.ts';
import { type AuditNote, endpoint } from '../kernel/endpoint.ts';
import { AttributedError } from '../kernel/refusals.ts';
import { enforcesSso } from '../sso/way.ts';
import { joinByInvite } from './accept.ts';
import { followLink, isActiveMember, type LinkedInvite } from './invite.ts';
import { byPassword, bySession, findAccount, sessionUser, settleAccount } from './invitee.ts';
import { acceptBody, acceptReply, linkParams, linkRead } from './schema.ts';

const tag = 'Invites';

export const readLink = endpoint({
  method: 'GET',
  path: '/invites/:token',
  tag,
  summary: 'Read the invite behind a link',
  access: 'open',
  throttle: 'sensitive',
  params: linkParams,
  reply: linkRead,
  async handle({ params, db, now }) {
    const invite = await followLink(db, now, params.token);
    const account = await findAccount(db, invite.email);
    return {
      object: 'invite' as const,
      organisation_name: invite.organisation_name,
      email: invite.email,
      status: invite.status === 'accepted' ? ('accepted' as const) : ('pending' as const),
      expires_at: invite.expires_at,
      requires_sso: false,
      requires_sign_in: account?.proven ?? false,
      has_account: account !== null,
    };
  },
});

export const acceptInvite = endpoint({
  method: 'POST',
  path: '/invites/:token/accept',
  tag,
  summary: 'Accept an invite',
  description:
    'Call it signed in as the invited address. Without a session, send `password`: one that the address has already, or, unless the address is proven, a new one with `first_name` and `last_name`. A new password opens this organisation alone.',
  access: 'open',
  throttle: 'sensitive',
  params: linkParams,
  body: acceptBody,
  bodyRequired: false,
  reply: acceptReply,
  audit: { resource: 'invite', action: 'update' },
  atomic: false,
  async handle({ params, body, db, now, services, exchange, commit, changed, note }) {
    const session = await sessionUser(services, exchange);
    const invite = await followLink(db, now, params.token);
    const account = await findAccount(db, invite.email);
    const userId = await attributed(invite, session?.userId ?? account?.id, async () => {
      if (session && session.email !== invite.email) {
        throw forbidden('This invite is for another address; sign in as the invited person');
      }
      refuseAccepted(invite);
      if (!session && enforcesSso(await findAuthSettings(db, invite.organisation_id))) {
        throw forbidden(
          'This organisation signs in through its identity provider; signing in there accepts the invite',
        );
      }
      const invitee = session
        ? await bySession(db, session, body)
        : await byPassword(services, exchange, invite, account, body);
      return commit(async (tx) => {
        const current = await followLink(tx, now, params.token);
        refuseAccepted(current);
        if (await isActiveMember(tx, current.organisation_id, current.email)) {
          throw conflict('You belong to this organisation already');
        }
        const userId = await settleAccount(tx, now, current, invitee);
        changed(...(await joinByInvite(tx, services, now, current, userId)));
        note(noteOf(current, userId));
        return userId;
      });
    });
    return { organisation_id: invite.organisation_id, user_id: userId };
  },
});

function refuseAccepted(invite: LinkedInvite): void {
  if (invite.status === 'accepted') throw conflict('This invite was accepted already; sign in');
}

const noteOf = (invite: LinkedInvite, userId: string): AuditNote => ({
  actor: { id: userId, type: 'user', organisationId: invite.organisation_id },
  resourceId: invite.id,
  details: { email: invite.email, role: invite.role },
});

/** A refusal goes into the organisation's audit trail when it is known whom it concerns. */
async function attributed<T>(invite: LinkedInvite, userId: string | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (userId === undefined || !(error instanceof ApiError)) throw error;
    throw new AttributedError(error, noteOf(invite, userId));
  }
}
