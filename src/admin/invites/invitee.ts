/** Who accepts an invite: a signed-in person, the owner of an account who sends its password, or someone new. */
import { conflict, forbidden, invalidFields, unauthenticated } from '../../http/errors.ts';
import {
  isKnownElsewhere,
  matchingHash,
  passwordOfSession,
  passwordsOf,
  proveAddress,
  type StoredPassword,
  setPassword,
} from '../../identity/accounts.ts';
import { credentialIn } from '../../identity/authenticate.ts';
import type { SessionCaller } from '../../identity/caller.ts';
import { findSession } from '../../identity/sessions.ts';
import type { Db } from '../../store/database.ts';
import type { InviteTable } from '../../store/schema.ts';
import { takeTurn } from '../auth/guessing.ts';
import { organisationOfAddress } from '../email-domains/match.ts';
import type { Exchange } from '../kernel/endpoint.ts';
import type { Services } from '../kernel/services.ts';
import { insertUser } from '../users/membership.ts';

interface Acceptance {
  password?: string | undefined;
  first_name?: string | undefined;
  last_name?: string | undefined;
}

/** Whose the membership will be, and the password that opens the organisation for them; null: they sign in without one. */
type Invitee =
  | { account: 'known'; userId: string; passwordHash: string | null; names: Names }
  | { account: 'new'; passwordHash: string; names: Required<Names> };

interface Names {
  first_name?: string;
  last_name?: string;
}

type Addressed = Pick<InviteTable, 'organisation_id' | 'email'>;

interface Account {
  id: string;
  passwords: StoredPassword[];
  /** Somebody has proven that the address is theirs: they alone accept, signed in. Else the link speaks for the address, here. */
  proven: boolean;
}

export async function findAccount(db: Db, email: string): Promise<Account | null> {
  const user = await db
    .selectFrom('users')
    .select(['id', 'email_proven_at'])
    .where('email', '=', email)
    .executeTakeFirst();
  if (!user) return null;
  return { id: user.id, passwords: await passwordsOf(db, user.id), proven: user.email_proven_at !== null };
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

/** Whoever is signed in already; the password of their session will open this organisation too. */
export const bySession = async (db: Db, session: SessionCaller, sent: Acceptance): Promise<Invitee> => ({
  account: 'known',
  userId: session.userId,
  passwordHash: await passwordOfSession(db, session.sessionId),
  names: namesIn(sent),
});

/** For a caller without a session. Slow (it hashes), so it runs outside every transaction. */
export async function byPassword(
  services: Services,
  exchange: Exchange,
  invite: Addressed,
  account: Account | null,
  sent: Acceptance,
): Promise<Invitee> {
  const { password, first_name, last_name } = sent;
  const signIn = `${invite.email} has an account; sign in first, or send its password`;
  if (account && password !== undefined) {
    const attempt = await takeTurn(services, exchange, invite.email);
    const passwordHash = await matchingHash(services.passwords, account.passwords, password);
    if (passwordHash === null && account.proven) throw unauthenticated(signIn);
    services.loginThrottle.succeeded(attempt);
    if (passwordHash !== null) return { account: 'known', userId: account.id, passwordHash, names: namesIn(sent) };
  }
  if (account?.proven) throw unauthenticated(signIn);
  if (password === undefined || first_name === undefined || last_name === undefined) {
    const missing = Object.entries({ password, first_name, last_name }).filter(([, value]) => value === undefined);
    throw invalidFields(
      missing.map(([path]) => ({ location: 'body', path, message: 'is required to make an account' })),
    );
  }
  return { account: 'new', passwordHash: await services.passwords.hash(password), names: { first_name, last_name } };
}

/** The names that were sent, for a person who has some already. */
const namesIn = ({ first_name, last_name }: Acceptance): Names => ({
  ...(first_name !== undefined && { first_name }),
  ...(last_name !== undefined && { last_name }),
});

/** Writes what acceptance says about the account, and answers whose it is. */
export async function settleAccount(db: Db, now: Date, invite: Addressed, invitee: Invitee): Promise<string> {
  const userId = await settledId(db, now, invite, invitee);
  if (invitee.passwordHash !== null) {
    await setPassword(db, now, { userId, organisationId: invite.organisation_id }, invitee.passwordHash);
  }
  // Whoever runs the domain of an address says whose it is.
  if ((await organisationOfAddress(db, invite.email)) === invite.organisation_id) await proveAddress(db, now, userId);
  return userId;
}

async function settledId(db: Db, now: Date, invite: Addressed, invitee: Invitee): Promise<string> {
  const { names } = invitee;
  const account = await findAccount(db, invite.email);
  if (invitee.account === 'new') {
    const { first_name: firstName, last_name: lastName } = invitee.names;
    if (!account) return insertUser(db, now, { email: invite.email, firstName, lastName });
    // Someone else may have proven the address while this password was being hashed.
    if (account.proven) throw conflict(`${invite.email} has an account by now; sign in to accept`);
  }
  const userId = invitee.account === 'known' ? invitee.userId : (account?.id ?? '');
  if (Object.keys(names).length > 0 && !(await belongsBeyond(db, userId, invite.organisation_id, invitee))) {
    await db
      .updateTable('users')
      .set({ ...names, last_updated_at: now.toISOString() })
      .where('id', '=', userId)
      .execute();
  }
  return userId;
}

/** True when other people may know this address elsewhere, whose name for it is not ours to change. */
const belongsBeyond = (db: Db, userId: string, organisationId: string, { passwordHash }: Invitee) =>
  passwordHash === null ? Promise.resolve(false) : isKnownElsewhere(db, userId, organisationId, passwordHash);
