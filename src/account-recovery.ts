/** Ways back in for people who are locked out: whoever runs the machine may set a password and name an owner. */
import { z } from 'zod';
import { recordSystemEvent } from './admin/kernel/audit/audit.ts';
import { insertUser, joinOrganisation } from './admin/users/membership.ts';
import { systemClock } from './clock.ts';
import { EnvironmentError, type Settings } from './environment.ts';
import { setPassword } from './identity/accounts.ts';
import { createPasswords } from './identity/passwords.ts';
import { newToken } from './identity/secrets.ts';
import { endSessions } from './identity/sessions.ts';
import { openState } from './open-services.ts';
import { openChangeFeed } from './store/changes.ts';
import type { Db } from './store/database.ts';

interface Member {
  userId: string;
  organisationId: string;
}

/** Gives the person a new password in every organisation that they belong to, and ends their sessions. */
export async function resetPassword(settings: Settings, address: string): Promise<string> {
  const password = newToken();
  const passwordHash = createPasswords().hashAtOnce(password);
  return onState(settings, async (db, now) => {
    const userId = await userWith(db, address);
    const places = await membershipsOf(db, userId);
    if (places.length === 0)
      throw new EnvironmentError(`${address} belongs to no organisation; gw owner puts them into one.`);
    for (const member of places) {
      await setPassword(db, now, member, passwordHash);
      await recordSystemEvent(db, now, {
        organisationId: member.organisationId,
        resource: 'user',
        action: 'update',
        resourceId: userId,
        details: { event: 'password reset', source: 'command line' },
      });
    }
    await endSessions(db, userId);
    return { changes: [{ topic: 'user' as const, id: userId }], said: `${password}\n` };
  });
}

/** Makes the person an owner of the organisation; the other owners stay. */
export async function makeOwner(
  settings: Settings,
  address: string,
  organisation: string | undefined,
): Promise<string> {
  return onState(settings, async (db, now) => {
    const userId = (await findUser(db, address)) ?? (await insertUser(db, now, newOwner(address)));
    const { id: organisationId, name } = await organisationNamed(db, organisation);
    await joinOrganisation(db, now, { organisationId, userId, role: 'owner', provisionedBy: 'signup' });
    await recordSystemEvent(db, now, {
      organisationId,
      resource: 'organisation',
      action: 'manage',
      resourceId: organisationId,
      details: { event: 'ownership recovered', new_owner: userId, email: address, source: 'command line' },
    });
    return {
      changes: [{ topic: 'user' as const, id: userId }],
      said: `${address} is an owner of ${name}; gw password gives them a password.\n`,
    };
  });
}

interface Done {
  changes: { topic: 'user'; id: string }[];
  said: string;
}

async function onState(settings: Settings, work: (db: Db, now: Date) => Promise<Done>): Promise<string> {
  const { store } = await openState(settings, systemClock);
  const feed = await openChangeFeed(store, () => undefined);
  try {
    return await store.atomically(async (tx) => {
      const { changes, said } = await work(tx, systemClock.now());
      await feed.publish(tx, changes);
      return said;
    });
  } finally {
    await feed.close();
    await store.close();
  }
}

async function findUser(db: Db, address: string): Promise<string | null> {
  const email = emailOf(address);
  const user = await db.selectFrom('users').select('id').where('email', '=', email).executeTakeFirst();
  return user?.id ?? null;
}

async function userWith(db: Db, address: string): Promise<string> {
  const userId = await findUser(db, address);
  if (userId === null)
    throw new EnvironmentError(`Nobody has the address ${address}; look at it again, or invite them.`);
  return userId;
}

const newOwner = (address: string) => ({ email: emailOf(address), firstName: 'New', lastName: 'Owner' });

function emailOf(address: string): string {
  const email = z.email().max(254).safeParse(address.trim().toLowerCase());
  if (!email.success) throw new EnvironmentError(`${address} is no e-mail address.`);
  return email.data;
}

const membershipsOf = (db: Db, userId: string): Promise<Member[]> =>
  db
    .selectFrom('organisation_members')
    .select(['user_id as userId', 'organisation_id as organisationId'])
    .where('user_id', '=', userId)
    .where('status', '=', 'active')
    .execute();

async function organisationNamed(db: Db, named: string | undefined): Promise<{ id: string; name: string }> {
  let query = db.selectFrom('organisations').select(['id', 'name', 'slug']).where('status', '=', 'active');
  if (named !== undefined) query = query.where((eb) => eb.or([eb('id', '=', named), eb('slug', '=', named)]));
  const found = await query.orderBy('created_at').limit(20).execute();
  const [only, another] = found;
  if (only && !another) return only;
  if (!only) throw new EnvironmentError(named ? `There is no organisation ${named}.` : 'There is no organisation yet.');
  const slugs = found.map((organisation) => organisation.slug).join(', ');
  throw new EnvironmentError(`There are several organisations; name one of them with --organisation: ${slugs}`);
}
