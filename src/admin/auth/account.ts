/** What people change about themselves: their name and their password. */
import { z } from 'zod';
import { forbidden, invalid, unauthenticated } from '../../http/errors.ts';
import { isKnownElsewhere, passwordOfSession, passwordsOf } from '../../identity/accounts.ts';
import { passwordSchema } from '../../identity/passwords.ts';
import { endOtherSessions } from '../../identity/sessions.ts';
import { endpoint } from '../kernel/endpoint.ts';
import { empty, personName } from '../kernel/fields.ts';
import { takeTurn } from './guessing.ts';
import { sessionsOnly, signedIn } from './session-reply.ts';

export const changeProfile = endpoint({
  method: 'PUT',
  path: '/auth/profile',
  tag: 'Sign-in',
  summary: 'Change the name of the signed-in person',
  access: sessionsOnly,
  audit: { resource: 'user', action: 'update' },
  body: () =>
    z
      .object({ first_name: personName.min(1).optional(), last_name: personName.optional() })
      .refine((body) => body.first_name !== undefined || body.last_name !== undefined, {
        message: 'Send first_name, last_name or both',
      }),
  reply: () =>
    z.object({
      object: z.literal('user'),
      id: z.string(),
      email: z.string(),
      first_name: z.string(),
      last_name: z.string(),
    }),
  async handle({ caller, body, db, now, changed, note }) {
    const { userId, sessionId, organisationId } = signedIn(caller);
    const passwordHash = await passwordOfSession(db, sessionId);
    if (passwordHash !== null && (await isKnownElsewhere(db, userId, organisationId, passwordHash))) {
      throw forbidden('This address is also known in an organisation that your password does not open; sign in there');
    }
    const user = await db
      .updateTable('users')
      .set({
        ...(body.first_name !== undefined && { first_name: body.first_name }),
        ...(body.last_name !== undefined && { last_name: body.last_name }),
        last_updated_at: now.toISOString(),
      })
      .where('id', '=', userId)
      .returning(['id', 'email', 'first_name', 'last_name'])
      .executeTakeFirstOrThrow();
    changed({ topic: 'user', id: userId });
    note({ resourceId: userId, details: { fields: Object.keys(body) } });
    return { object: 'user' as const, ...user };
  },
});

export const changePassword = endpoint({
  method: 'PUT',
  path: '/auth/password',
  tag: 'Sign-in',
  summary: 'Change the password of the signed-in person',
  description: 'In every organisation that the same password opens; ends all their other sessions there.',
  access: sessionsOnly,
  throttle: 'sensitive',
  audit: { resource: 'user', action: 'update' },
  atomic: false,
  body: () => z.object({ current_password: z.string().min(1).max(200), new_password: passwordSchema() }),
  reply: empty,
  async handle({ caller, body, services, now, exchange, commit, changed, note }) {
    const { userId, sessionId, email, organisationId } = signedIn(caller);
    const attempt = await takeTurn(services, exchange, email);
    const stored = await passwordsOf(services.store.db, userId);
    const before = stored.find((place) => place.organisationId === organisationId)?.passwordHash ?? null;
    if (!(await services.passwords.verify(body.current_password, before))) {
      throw invalid('current_password', 'is not your password');
    }
    services.loginThrottle.succeeded(attempt);
    if (body.new_password === body.current_password) throw invalid('new_password', 'must differ from the current one');

    const passwordHash = await services.passwords.hash(body.new_password);
    await commit(async (tx) => {
      // Hashing took its time; whoever changed the password meanwhile has ended this session.
      const changedPlaces = await tx
        .updateTable('user_passwords')
        .set({ password_hash: passwordHash, last_updated_at: now.toISOString() })
        .where('user_id', '=', userId)
        .where('password_hash', '=', before)
        .returning('organisation_id')
        .execute();
      const organisationIds = changedPlaces.map((place) => place.organisation_id);
      if (!organisationIds.includes(organisationId)) {
        throw unauthenticated('The password was changed meanwhile; sign in again');
      }
      await endOtherSessions(tx, userId, organisationIds, sessionId);
      await tx
        .updateTable('sessions')
        .set({ password_hash: passwordHash })
        .where('id', '=', sessionId)
        .where('password_hash', 'is not', null)
        .execute();
      changed({ topic: 'user', id: userId });
      note({ resourceId: userId, details: { fields: ['password'] } });
    });
    return {};
  },
});
