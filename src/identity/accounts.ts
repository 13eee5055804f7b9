/**
 * Accounts of people. An address that nobody has proven may be claimed by any organisation that invites it, so that a
 * password opens only the organisations that took it, and the link of an invite never opens another one.
 */
import type { Db } from '../store/database.ts';

/** Further passwords of one address are not tried: each takes a core for some time. Naming the organisation finds any. */
const passwordsTried = 10;

export interface StoredPassword {
  organisationId: string;
  passwordHash: string;
}

export async function passwordsOf(db: Db, userId: string): Promise<StoredPassword[]> {
  return db
    .selectFrom('user_passwords')
    .select(['organisation_id as organisationId', 'password_hash as passwordHash'])
    .where('user_id', '=', userId)
    .orderBy('last_updated_at', 'desc')
    .orderBy('organisation_id')
    .execute();
}

/** The hash that the password fits, of the first few; null when it fits none. It takes its time also where there is none. */
export async function matchingHash(
  passwords: { verify(password: string, hash: string | null): Promise<boolean> },
  stored: readonly { passwordHash: string }[],
  password: string,
): Promise<string | null> {
  const hashes = [...new Set(stored.map((entry) => entry.passwordHash))].slice(0, passwordsTried);
  if (hashes.length === 0) await passwords.verify(password, null);
  for (const hash of hashes) {
    if (await passwords.verify(password, hash)) return hash;
  }
  return null;
}

export async function setPassword(
  db: Db,
  now: Date,
  { userId, organisationId }: { userId: string; organisationId: string },
  passwordHash: string,
): Promise<void> {
  const change = { password_hash: passwordHash, last_updated_at: now.toISOString() };
  await db
    .insertInto('user_passwords')
    .values({ user_id: userId, organisation_id: organisationId, ...change })
    .onConflict((conflict) => conflict.columns(['user_id', 'organisation_id']).doUpdateSet(change))
    .execute();
}

/** The password that a session was opened with; null where the person proved who they are in another way. */
export async function passwordOfSession(db: Db, sessionId: string): Promise<string | null> {
  const row = await db.selectFrom('sessions').select('password_hash').where('id', '=', sessionId).executeTakeFirst();
  return row?.password_hash ?? null;
}

/** Lets the password of a session open another organisation too, one that its person has just joined. */
export async function takeAlong(
  db: Db,
  now: Date,
  session: { sessionId: string; userId: string },
  organisationId: string,
): Promise<void> {
  const passwordHash = await passwordOfSession(db, session.sessionId);
  if (passwordHash !== null) await setPassword(db, now, { userId: session.userId, organisationId }, passwordHash);
}

/** True when a session that was opened with this password may go on in the organisation. */
export async function opens(
  db: Db,
  passwordHash: string | null,
  { userId, organisationId }: { userId: string; organisationId: string },
): Promise<boolean> {
  if (passwordHash === null) return true;
  const row = await db
    .selectFrom('user_passwords')
    .select('user_id')
    .where('user_id', '=', userId)
    .where('organisation_id', '=', organisationId)
    .where('password_hash', '=', passwordHash)
    .executeTakeFirst();
  return row !== undefined;
}

/** Somebody has shown that the address is theirs: by mail, single sign-on, or an invite of whoever runs its domain. */
export async function proveAddress(db: Db, now: Date, userId: string): Promise<void> {
  await db
    .updateTable('users')
    .set({ email_proven_at: now.toISOString() })
    .where('id', '=', userId)
    .where('email_proven_at', 'is', null)
    .execute();
}

/** True when the person belongs to an organisation that this password does not open: somebody else may be known by the address there. */
export async function isKnownElsewhere(
  db: Db,
  userId: string,
  organisationId: string,
  passwordHash: string,
): Promise<boolean> {
  const other = await db
    .selectFrom('organisation_members as member')
    .leftJoin('user_passwords as password', (join) =>
      join
        .onRef('password.user_id', '=', 'member.user_id')
        .onRef('password.organisation_id', '=', 'member.organisation_id')
        .on('password.password_hash', '=', passwordHash),
    )
    .select('member.user_id')
    .where('member.user_id', '=', userId)
    .where('member.organisation_id', '!=', organisationId)
    .where('member.status', '=', 'active')
    .where('password.user_id', 'is', null)
    .limit(1)
    .executeTakeFirst();
  return other !== undefined;
}
