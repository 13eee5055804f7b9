/** Signing in: with e-mail address and password, or by way of the organisation's identity provider. */
import { z } from 'zod';
import { type ApiError, forbidden, notReady, unauthenticated } from '../../http/errors.ts';
import { matchingHash, type StoredPassword } from '../../identity/accounts.ts';
import { openSession } from '../../identity/sessions.ts';
import { SsoRefused } from '../../identity/sso/flows.ts';
import { lazy } from '../../lazy.ts';
import type { Db } from '../../store/database.ts';
import { type Call, endpoint } from '../kernel/endpoint.ts';
import { email, reference } from '../kernel/fields.ts';
import { AttributedError } from '../kernel/refusals.ts';
import { newBrowserCookie } from '../sso/browser-cookie.ts';
import { enforcesSso, findWay } from '../sso/way.ts';
import { deviceMark, takeTurn } from './guessing.ts';
import { handOver, originOf, sessionReply } from './session-reply.ts';

export const login = endpoint({
  method: 'POST',
  path: '/auth/login',
  tag: 'Sign-in',
  summary: 'Sign in, or learn the way to the identity provider',
  description:
    'Without a password it answers the way in: `redirect_url` leads to the identity provider of the organisation that the domain ' +
    'of the address, `organisation_id` or `sso_client_id` names; null: there is none. ' +
    'With a password it opens a session in the organisation that the person used last, or else in the one they joined first. ' +
    'After a few failures further attempts from the same source wait for their turn, or are answered 429 with `retry-after`; ' +
    'devices on which the person has signed in before are not concerned by the failures of others.',
  access: 'open',
  throttle: 'sensitive',
  audit: { resource: 'user', action: 'login' },
  atomic: false,
  body: () =>
    z
      .object({
        email: email.optional(),
        password: z.string().min(1).max(200).optional(),
        organisation_id: reference
          .nullish()
          .describe('Id or slug of the organisation to enter, for an address with several passwords'),
        sso_client_id: z.string().trim().min(1).max(512).nullish().describe('Picks one of several set-ups'),
        return_to: z
          .string()
          .max(4_000)
          .regex(ownPath, 'must be a path of the console')
          .optional()
          .meta({ examples: ['/logs'] })
          .describe('Where the identity provider’s answer leads in the end'),
      })
      .refine((body) => body.email ?? body.organisation_id ?? body.sso_client_id, {
        path: ['email'],
        message: 'is required',
      })
      .refine((body) => body.password === undefined || body.email !== undefined, {
        path: ['email'],
        message: 'is required with a password',
      }),
  reply: () => z.union([sessionReply(), wayReply()]),
  async handle(call) {
    const { password, ...named } = call.body;
    if (password === undefined) return showWay(call, named);
    return byPassword(call, { ...named, email: named.email ?? '', password });
  },
});

/** A path of ours: no other host can be written in it. */
const ownPath = /^\/(?![/\\])[^\s\\]*$/;

const wayReply = lazy(() =>
  z.object({
    object: z.literal('sign_in'),
    redirect_url: z
      .string()
      .nullable()
      .describe('Lead the browser there; null: the organisation has no single sign-on'),
    password: z.boolean().describe('Whether a password may be sent; owners may always send theirs'),
  }),
);

type Login = Pick<
  Call<unknown, unknown, unknown, null>,
  'services' | 'exchange' | 'now' | 'header' | 'commit' | 'note'
>;

interface Sent {
  email?: string | undefined;
  organisation_id?: string | null | undefined;
  sso_client_id?: string | null | undefined;
  return_to?: string | undefined;
}

async function showWay(call: Login, sent: Sent): Promise<z.output<ReturnType<typeof wayReply>>> {
  const { services, exchange } = call;
  const row = await findWay(services.store.db, {
    email: sent.email ?? null,
    organisation: sent.organisation_id ?? null,
    clientId: sent.sso_client_id ?? null,
  });
  if (!row) return { object: 'sign_in', redirect_url: null, password: true };
  const password = !enforcesSso(row);
  try {
    const { url, browser } = await services.sso.begin(row, {
      origin: exchange.origin,
      email: sent.email ?? null,
      returnTo: sent.return_to ?? '/',
    });
    call.header('set-cookie', newBrowserCookie(exchange, browser));
    return { object: 'sign_in', redirect_url: url, password };
  } catch (fault) {
    if (!(fault instanceof SsoRefused)) throw fault;
    // The identity provider is away: whoever has a password may use it, the others hear why they cannot.
    if (password) return { object: 'sign_in', redirect_url: null, password };
    throw notReady(`The sign-in of your organisation cannot be reached: ${fault.message}`);
  }
}

async function byPassword(call: Login, body: Sent & { email: string; password: string }) {
  const { services, exchange, now } = call;
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
    const entered = opened.find((place) => place.active && !place.ssoOnly);
    if (!entered && opened.some((place) => place.active)) {
      const message = 'Your organisation signs in through its identity provider; a password opens it only for owners';
      throw refusal(forbidden(message), { ...current, places: opened }, 'password where single sign-on is enforced');
    }
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
}

interface Person {
  userId: string;
  /** The organisations that a password of theirs opens, the one to enter first. */
  places: (StoredPassword & { active: boolean; ssoOnly: boolean })[];
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
    .leftJoin('auth_settings as auth', 'auth.organisation_id', 'password.organisation_id')
    .select([
      'user.id',
      'user.last_organisation_id',
      'password.organisation_id',
      'password.password_hash',
      'organisation.status',
      'member.user_id as member_id',
      'member.role',
      'auth.login_method',
      'auth.sso',
      'auth.sso_verified_at',
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
  const places = rows.flatMap(({ organisation_id, password_hash, status, member_id, role, ...auth }) =>
    organisation_id === null || password_hash === null
      ? []
      : [
          {
            organisationId: organisation_id,
            passwordHash: password_hash,
            active: status === 'active' && member_id !== null,
            // An owner's password is the way back when the identity provider fails.
            ssoOnly: role !== 'owner' && enforcesSso({ ...auth, login_method: auth.login_method ?? 'any' }),
          },
        ],
  );
  const isLast = (place: StoredPassword) => place.organisationId === first.last_organisation_id;
  return { userId: first.id, places: [...places.filter(isLast), ...places.filter((place) => !isLast(place))] };
}

export async function rememberSignIn(
  db: Db,
  now: Date,
  who: { userId: string; organisationId: string },
): Promise<void> {
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
