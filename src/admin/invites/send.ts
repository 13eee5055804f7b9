/** Tells the invited person: the notice that carries an invite's link. */
import type { Caller } from '../../identity/caller.ts';
import type { Db } from '../../store/database.ts';
import type { Services } from '../kernel/services.ts';
import { queueNotice } from '../notices/outbox.ts';

export async function sendInvite(
  db: Db,
  services: Services,
  now: Date,
  caller: Caller,
  invite: { email: string; link: string },
): Promise<void> {
  const organisation = await db
    .selectFrom('organisations')
    .select('name')
    .where('id', '=', caller.organisationId)
    .executeTakeFirstOrThrow();
  await queueNotice(db, services.vault, now, {
    organisationId: caller.organisationId,
    template: 'user-invite',
    recipients: [invite.email],
    fields: { organisationName: organisation.name, ...(await inviterOf(db, caller)), inviteLink: invite.link },
  });
}

/** A key that invites is named by its name; it has no address. */
async function inviterOf(db: Db, caller: Caller): Promise<{ inviterUserName: string; inviterEmail: string }> {
  if (caller.kind !== 'session') return { inviterUserName: caller.keyName, inviterEmail: '' };
  const user = await db
    .selectFrom('users')
    .select(['first_name', 'last_name'])
    .where('id', '=', caller.userId)
    .executeTakeFirstOrThrow();
  const name = `${user.first_name} ${user.last_name}`.trim();
  return { inviterUserName: name === '' ? caller.email : name, inviterEmail: caller.email };
}
