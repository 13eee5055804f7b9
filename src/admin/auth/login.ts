/** Signing in with e-mail address and password. Single sign-on will join it here with routes of its own. */
import { z } from 'zod';
import { type ApiError, forbidden, unauthenticated } from '../../http/errors.ts';
import { matchingHash, type StoredPassword } from '../../identity/accounts.ts';
import { openSession } from '../../identity/sessions.ts';
import type { Db } from '../../store/database.ts';
import { endpoint } from '../kernel/endpoint.ts';
import { email, reference } from '../kernel/fields.ts';
import { AttributedError } from '../kernel/kernel.ts';
import { deviceMark, takeTurn } from './guessing.ts';
import { handOver, originOf, sessionReply } from './session-reply.ts';

export const login = endpoint({
  method: 'POST',
  path: '/auth/login',
  tag: 'Sign-in',
  summary: 'Sign in with an e-mail address and a password',
  description:
    'Opens a session in the organisation that the person used last, or else in the one they joined first. ' +
    'After a few failures further attempts from the same source wait for their turn, or are answered 429 with `retry-after`; ' +
    'devices on which the person has signed in before are not concerned by the failures of others.',
  access: 'open',
  throttle: 'sensitive',
  audit: { resource: 'user', action: 'login' },
  atomic: false,
  body: () =>
    z.object({
      email,
      password: z.string().min(1).max(200),
      organisation_id: reference
        .nullish()
        .describe('Id or slug of the organisation to enter, for an address with several passwords'),
    }),
  reply: sessionReply,
  async handle(call) {
    const { body, services, exchange, now } = call;
    const attempt = await takeTurn(services, exchange, body.email);
    const person = await findPerson(services.store.db, body.email, body.organisation_id ?? null);
    // An unknown address is checked too, against nothing, so that the answer takes as long as for a known one.
    const passwordHash = await matchingHash(services.passwords, person?.places ?? [], body.password);
    if (!person || passwordHash === null) {
      throw refusal(unauthenticated('Wrong e-mail address or password'), person, 'wrong password');
    }
    services.loginThrottle.succeeded(attempt);

    const { organisationId, session } = await call.commit(async (tx) => {
      // The password was checked outside this transaction: it counts only if it is still the person's password.
      const current = await findPerson(tx, body.email, body.organisation_id ?? null);
      const opened = current?.places.filter((place) => place.passwordHash === passwordHash) ?? [];
      if (!current || opened.length === 0) {
        throw refusal(unauthenticated('Wrong e-mail address or password'), current, 'password changed meanwhile');
      }
      const entered = opened.find((place) => place.active);
      if (!entered) {
        const message = 'You belong to no organisation any more; ask an administrator for an invite';
        throw refusal(forbidden(message), { ...current, places: opened }, 'no active membership');
      }
      const who = { userId: current.userId, organisationId: entered.organisationId };
      await rememberSignIn(tx, now, who);
      call.note({
        actor: { id: who.userId, type: 'user', organisationId: who.organisationId },
        resourceId: who.userId,
        details: { method: 'password' },
      });
      const session = await openSession(tx, now, { ...who, authTime: now, passwordHash }, originOf(exchange));
      return { ...who, session };
    });
    call.header('set-cookie', deviceMark(services, exchange, body.email));
    return handOver(call, session, organisationId);
  },
});

interface Person {
  userId: string;
  /** The organisations that a password of theirs opens, the one to enter first. */
  places: (StoredPassword & { active: boolean })[];
}

/** One query whether or not the address exists, so that its time does not tell. */
async function findPerson(db: Db, address: string, named: string | null): Promise<Person | null> {
  let query = db
    .selectFrom('users as user')
    .leftJoin('user_passwords as password', 'password.user_id', 'user.id')
    .leftJoin('organisations as organisation', 'organisation.id', 'password.organisation_id')
    .leftJoin('organisation_members as member', (join) =>
      join
        .onRef('member.user_id', '=', 'user.id')
        .onRef('member.organisation_id', '=', 'password.organisation_id')
        .on('member.status', '=', 'active'),
    )
    .select([
      'user.id',
      'user.last_organisation_id',
      'password.organisation_id',
      'password.password_hash',
      'organisation.status',
      'member.user_id as member_id',
    ])
    .where('user.email', '=', address)
    .orderBy('member.created_at')
    .orderBy('password.organisation_id');
  if (named !== null) {
    query = query.where((eb) => eb.or([eb('organisation.id', '=', named), eb('organisation.slug', '=', named)]));
  }
  const rows = await query.execute();
  const [first] = rows;
  if (!first) return null;
  const places = rows.flatMap(({ organisation_id, password_hash, status, member_id }) =>
    organisation_id === null || password_hash === null
      ? []
      : [
          {
            organisationId: organisation_id,
            passwordHash: password_hash,
            active: status === 'active' && member_id !== null,
          },
        ],
  );
  const isLast = (place: StoredPassword) => place.organisationId === first.last_organisation_id;
  return { userId: first.id, places: [...places.filter(isLast), ...places.filter((place) => !isLast(place))] };
}

async function rememberSignIn(db: Db, now: Date, who: { userId: string; organisationId: string }): Promise<void> {
  await db
    .updateTable('organisation_members')
    .set({ last_login_at: now.toISOString() })
    .where('organisation_id', '=', who.organisationId)
    .where('user_id', '=', who.userId)
    .execute();
  await rememberOrganisation(db, who.userId, who.organisationId);
}

export async function rememberOrganisation(db: Db, userId: string, organisationId: string): Promise<void> {
  await db.updateTable('users').set({ last_organisation_id: organisationId }).where('id', '=', userId).execute();
}

/** A refusal that the organisation of a known person finds in its audit trail. */
function refusal(error: ApiError, person: Person | null, reason: string): ApiError {
  const place = person?.places.find(({ active }) => active) ?? person?.places[0];
  if (!person || !place) return error;
  return new AttributedError(error, {
    actor: { id: person.userId, type: 'user', organisationId: place.organisationId },
    resourceId: person.userId,
    details: { method: 'password', reason },
  });
}
