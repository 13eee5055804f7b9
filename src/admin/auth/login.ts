/** Signing in with e-mail address and password. Single sign-on will join it here with routes of its own. */
import { z } from 'zod';
import { type ApiError, forbidden, tooMany, unauthenticated } from '../../http/errors.ts';
import { openSession } from '../../identity/sessions.ts';
import type { Db } from '../../store/database.ts';
import { endpoint } from '../kernel/endpoint.ts';
import { email } from '../kernel/fields.ts';
import { AttributedError } from '../kernel/kernel.ts';
import { handOver, originOf, sessionReply } from './session-reply.ts';

export const login = endpoint({
  method: 'POST',
  path: '/auth/login',
  tag: 'Sign-in',
  summary: 'Sign in with an e-mail address and a password',
  description:
    'Opens a session in the organisation that the person used last, or else in the one they joined first. ' +
    'After a few failures the address, and later the client, has to wait: 429 with `retry-after`.',
  access: 'open',
  throttle: 'sensitive',
  audit: { resource: 'user', action: 'login' },
  atomic: false,
  body: () => z.object({ email, password: z.string().min(1).max(200) }),
  reply: sessionReply,
  async handle(call) {
    const { body, services, exchange, now } = call;
    const attempt = { email: body.email, clientIp: exchange.clientIp };
    const wait = services.loginThrottle.admit(attempt);
    if (wait > 0) throw tooMany(wait, `Too many failed sign-ins; try again in ${wait} seconds`);

    const person = await findPerson(services.store.db, body.email);
    // An unknown address is checked too, against nothing, so that the answer takes as long as for a known one.
    if (!(await services.passwords.verify(body.password, person?.passwordHash ?? null))) {
      throw refusal(unauthenticated('Wrong e-mail address or password'), person, 'wrong password');
    }
    services.loginThrottle.succeeded(attempt);

    const { organisationId, session } = await call.commit(async (tx) => {
      // The password was checked outside this transaction: it counts only if it is still the person's password.
      const current = await findPerson(tx, body.email);
      if (!current || current.passwordHash !== person?.passwordHash) {
        throw refusal(unauthenticated('Wrong e-mail address or password'), current, 'password changed meanwhile');
      }
      if (current.organisationId === null) {
        const message = 'You belong to no organisation any more; ask an administrator for an invite';
        throw refusal(forbidden(message), current, 'no active membership');
      }
      const who = { userId: current.userId, organisationId: current.organisationId };
      await rememberSignIn(tx, now, who);
      call.note({
        actor: { id: who.userId, type: 'user', organisationId: who.organisationId },
        resourceId: who.userId,
        details: { method: 'password' },
      });
      return { ...who, session: await openSession(tx, now, { ...who, authTime: now }, originOf(exchange)) };
    });
    return handOver(call, session, organisationId);
  },
});

interface Person {
  userId: string;
  passwordHash: string | null;
  /** Where a sign-in leads; null for someone who was removed everywhere. */
  organisationId: string | null;
  lastOrganisationId: string | null;
}

/** One query whether or not the address exists, so that its time does not tell. */
async function findPerson(db: Db, address: string): Promise<Person | null> {
  const rows = await db
    .selectFrom('users as user')
    .leftJoin('organisation_members as member', (join) =>
      join.onRef('member.user_id', '=', 'user.id').on('member.status', '=', 'active'),
    )
    .leftJoin('organisations as organisation', (join) =>
      join.onRef('organisation.id', '=', 'member.organisation_id').on('organisation.status', '=', 'active'),
    )
    .select(['user.id', 'user.password_hash', 'user.last_organisation_id', 'organisation.id as organisation_id'])
    .where('user.email', '=', address)
    .orderBy('member.created_at')
    .orderBy('member.organisation_id')
    .execute();
  const [first] = rows;
  if (!first) return null;
  const organisations = rows.flatMap((row) => row.organisation_id ?? []);
  const last = organisations.find((id) => id === first.last_organisation_id);
  return {
    userId: first.id,
    passwordHash: first.password_hash,
    organisationId: last ?? organisations[0] ?? null,
    lastOrganisationId: first.last_organisation_id,
  };
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
  const organisationId = person?.organisationId ?? person?.lastOrganisationId;
  if (!person || !organisationId) return error;
  return new AttributedError(error, {
    actor: { id: person.userId, type: 'user', organisationId },
    resourceId: person.userId,
    details: { method: 'password', reason },
  });
}
