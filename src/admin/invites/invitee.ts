/** Who accepts an invite: a signed-in person, the owner of an account who sends its password, or someone new. */
import { conflict, forbidden, invalidFields, tooMany, unauthenticated } from '../../http/errors.ts';
import { credentialIn } from '../../identity/authenticate.ts';
import { findSession } from '../../identity/sessions.ts';
import type { Db } from '../../store/database.ts';
import type { InviteTable } from '../../store/schema.ts';
import type { Exchange } from '../kernel/endpoint.ts';
import type { Services } from '../kernel/services.ts';
import { insertUser } from '../users/membership.ts';

interface Acceptance {
  password?: string | undefined;
  first_name?: string | undefined;
  last_name?: string | undefined;
}

/** `proven`: an account whose owner has shown that it is theirs. `new`: the link alone speaks for the address. */
type Invitee =
  | { account: 'proven'; userId: string; names: { first_name?: string; last_name?: string } }
  | { account: 'new'; passwordHash: string; firstName: string; lastName: string };

type Addressed = Pick<InviteTable, 'organisation_id' | 'email'>;

interface Account {
  id: string;
  passwordHash: string | null;
  /**
   * True when the link is not enough to take this account over: it has a password, or it belongs to people elsewhere.
   * Whoever invites sees the link too, and must not come into another organisation's account by it.
   */
  guarded: boolean;
}

export async function findAccount(db: Db, invite: Addressed): Promise<Account | null> {
  const user = await db
    .selectFrom('users')
    .select(['id', 'password_hash'])
    .where('email', '=', invite.email)
    .executeTakeFirst();
  if (!user) return null;
  const elsewhere = await db
    .selectFrom('organisation_members')
    .select('organisation_id')
    .where('user_id', '=', user.id)
    .where('organisation_id', '!=', invite.organisation_id)
    .limit(1)
    .executeTakeFirst();
  const guarded = user.password_hash !== null || elsewhere !== undefined;
  return { id: user.id, passwordHash: user.password_hash, guarded };
}

/** The account's user id when the request comes with a session; null when it comes with no credential. */
export async function sessionUser(services: Services, exchange: Exchange) {
  const found = credentialIn(exchange.headers);
  if (!found) return null;
  const session = await findSession(services.store.db, services.clock, found.credential);
  if (!session) throw unauthenticated('This credential is no session that is still open; sign in again');
  if (found.carrier === 'cookie' && exchange.headers.get('x-gw-csrf') !== session.csrfToken) {
    // Else another site's page could make a signed-in visitor join.
    throw forbidden("Send the session's csrf_token (from GET /v1/auth/self) in the header x-gw-csrf");
  }
  return session;
}

/** For a caller without a session. Slow (it hashes), so it runs outside every transaction. */
export async function byPassword(
  services: Services,
  exchange: Exchange,
  invite: Addressed,
  account: Account | null,
  sent: Acceptance,
): Promise<Invitee> {
  if (account?.guarded) {
    await checkPassword(services, exchange, invite, account, sent.password);
    return { account: 'proven', userId: account.id, names: namesIn(sent) };
  }
  const { password, first_name, last_name } = sent;
  if (password === undefined || first_name === undefined || last_name === undefined) {
    const missing = Object.entries({ password, first_name, last_name }).filter(([, value]) => value === undefined);
    throw invalidFields(
      missing.map(([path]) => ({ location: 'body', path, message: 'is required to make an account' })),
    );
  }
  const passwordHash = await services.passwords.hash(password);
  return { account: 'new', passwordHash, firstName: first_name, lastName: last_name };
}

async function checkPassword(
  services: Services,
  exchange: Exchange,
  invite: Addressed,
  account: Account,
  password: string | undefined,
): Promise<void> {
  const signIn = `${invite.email} has an account; sign in first, or send its password`;
  if (password === undefined || account.passwordHash === null) throw unauthenticated(signIn);
  const attempt = { email: invite.email, clientIp: exchange.clientIp };
  const wait = services.loginThrottle.admit(attempt);
  if (wait > 0) throw tooMany(wait, `Too many attempts; try again in ${wait} seconds`);
  if (!(await services.passwords.verify(password, account.passwordHash))) throw unauthenticated(signIn);
  services.loginThrottle.succeeded(attempt);
}

/** The names that were sent, for a person who has some already. */
export const namesIn = ({ first_name, last_name }: Acceptance): { first_name?: string; last_name?: string } => ({
  ...(first_name !== undefined && { first_name }),
  ...(last_name !== undefined && { last_name }),
});

/** Writes what acceptance says about the account, and answers whose it is. */
export async function settleAccount(db: Db, now: Date, invite: Addressed, invitee: Invitee): Promise<string> {
  const at = now.toISOString();
  if (invitee.account === 'proven') {
    if (Object.keys(invitee.names).length > 0) {
      await db
        .updateTable('users')
        .set({ ...invitee.names, last_updated_at: at })
        .where('id', '=', invitee.userId)
        .execute();
    }
    return invitee.userId;
  }
  const { passwordHash, firstName, lastName } = invitee;
  const account = await findAccount(db, invite);
  if (!account) return insertUser(db, now, { email: invite.email, firstName, lastName, passwordHash });
  // Someone else may have finished making the account while this one was being hashed.
  if (account.guarded) throw conflict(`${invite.email} has an account by now; sign in to accept`);
  await db
    .updateTable('users')
    .set({ password_hash: passwordHash, first_name: firstName, last_name: lastName, last_updated_at: at })
    .where('id', '=', account.id)
    .execute();
  return account.id;
}
