/** Sessions: how long they last, what they may do, and what ends them. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { onEachEngine, type TestGateway } from '../../test/harness.ts';
import {
  addOrganisation,
  addPerson,
  addWorkspace,
  archiveWorkspace,
  type Home,
  home,
  signIn,
} from '../../test/people.ts';
import { decode, encode } from '../store/json.ts';
import { mayInOrganisation, mayInWorkspace } from './caller.ts';
import { digestOf } from './secrets.ts';
import { endOtherSessions, endSession, endSessions, findSession, openSession, sessionEnd } from './sessions.ts';

const hours = (count: number) => count * 3_600_000;

describe('the end of a session', () => {
  const signedIn = new Date('2026-03-01T12:00:00Z');
  const after = (ms: number) => new Date(signedIn.getTime() + ms);

  test('comes a day after it was opened', () => {
    expect(sessionEnd(signedIn, signedIn, null)).toEqual(after(hours(24)));
  });

  test("comes with the organisation's limit when that is sooner, counted from the sign-in", () => {
    expect(sessionEnd(signedIn, signedIn, 3600)).toEqual(after(hours(1)));
    expect(sessionEnd(after(hours(23)), signedIn, 2 * 86_400)).toEqual(after(hours(47)));
    expect(sessionEnd(after(hours(30)), signedIn, 2 * 86_400)).toEqual(after(hours(48)));
  });
});

onEachEngine('sessions', (start) => {
  let gateway: TestGateway;
  let place: Home;

  beforeAll(async () => {
    gateway = await start();
    place = await home(gateway);
  });

  afterAll(() => gateway.stop());

  const db = () => gateway.app.services.store.db;
  const find = (token: string) => findSession(db(), gateway.clock, token);

  const limitSessions = async (seconds: number | null) => {
    const row = await db()
      .selectFrom('organisations')
      .select('settings')
      .where('id', '=', place.organisationId)
      .executeTakeFirstOrThrow();
    const settings = { ...decode(row.settings), session_settings: { max_session_ttl: seconds } };
    await db()
      .updateTable('organisations')
      .set({ settings: encode(settings) })
      .where('id', '=', place.organisationId)
      .execute();
  };

  test('finds the person with the rights of their roles', async () => {
    const workspace = await addWorkspace(gateway, place.organisationId, 'Rights');
    const person = await addPerson(gateway, place.organisationId, 'member', {
      workspaces: { [workspace.id]: 'manager' },
    });
    const caller = await find(person.session);
    if (!caller) throw new Error('no session');
    expect(caller).toMatchObject({ kind: 'session', userId: person.userId, email: person.email, role: 'member' });
    expect([...caller.workspaceRoles]).toEqual([[workspace.id, 'manager']]);
    expect(mayInWorkspace(caller, 'configs.create', workspace.id)).toBe(true);
    expect(mayInWorkspace(caller, 'configs.create', place.workspaceId)).toBe(false);
    expect(mayInOrganisation(caller, 'organisation_users.list')).toBe(false);
  });

  test('an owner may act in every workspace without belonging to it', async () => {
    const caller = await find(place.owner.session);
    if (!caller) throw new Error('no session');
    expect(mayInWorkspace(caller, 'configs.create', place.workspaceId)).toBe(true);
    expect(mayInOrganisation(caller, 'organisation_users.list')).toBe(true);
  });

  test('an unknown token is nobody', async () => {
    expect(await find('gws_unknown')).toBeNull();
  });

  test('only the digest of the token is stored, and of the user agent no more than fits', async () => {
    const now = gateway.clock.now();
    const who = { userId: place.owner.userId, organisationId: place.organisationId, authTime: now };
    const session = await openSession(db(), now, who, { clientIp: '::1', userAgent: 'x'.repeat(1000) });
    const row = await db()
      .selectFrom('sessions')
      .selectAll()
      .where('id', '=', session.sessionId)
      .executeTakeFirstOrThrow();
    expect(row.token_digest).toBe(digestOf(session.token));
    expect(JSON.stringify(row)).not.toContain(session.token);
    expect(row.user_agent).toHaveLength(300);
  });

  test('a change of role counts at once', async () => {
    const person = await addPerson(gateway, place.organisationId, 'admin');
    await db()
      .updateTable('organisation_members')
      .set({ role: 'member' })
      .where('user_id', '=', person.userId)
      .execute();
    const caller = await find(person.session);
    expect(caller?.role).toBe('member');
    expect(caller?.rights.everyWorkspace).toBeNull();
  });

  test('an archived workspace gives no rights', async () => {
    const workspace = await addWorkspace(gateway, place.organisationId, 'Closed');
    const person = await addPerson(gateway, place.organisationId, 'member', {
      workspaces: { [workspace.id]: 'admin' },
    });
    await archiveWorkspace(gateway, workspace.id);
    expect((await find(person.session))?.rights.workspaces.size).toBe(0);
  });

  test('ends after a day', async () => {
    const { session } = await addPerson(gateway, place.organisationId, 'member');
    gateway.clock.advance({ hours: 23, minutes: 59 });
    expect(await find(session)).not.toBeNull();
    gateway.clock.advance({ minutes: 1 });
    expect(await find(session)).toBeNull();
  });

  test("ends with the organisation's limit, and a lowered limit ends sessions that are open", async () => {
    const { session } = await addPerson(gateway, place.organisationId, 'member');
    gateway.clock.advance({ minutes: 20 });
    expect(await find(session)).not.toBeNull();
    await limitSessions(900);
    expect(await find(session)).toBeNull();
    const later = await addPerson(gateway, place.organisationId, 'member');
    const seen = await find(later.session);
    expect(Date.parse(seen?.expiresAt ?? '') - gateway.clock.now().getTime()).toBeLessThanOrEqual(900_000);
    await limitSessions(null);
    expect(await find(session)).not.toBeNull();
    gateway.clock.advance({ minutes: 15 });
    expect(await find(later.session)).toBeNull();
  });

  test('ends with the membership', async () => {
    const person = await addPerson(gateway, place.organisationId, 'member');
    await db()
      .updateTable('organisation_members')
      .set({ status: 'archived' })
      .where('user_id', '=', person.userId)
      .execute();
    expect(await find(person.session)).toBeNull();
  });

  test('ends with the organisation', async () => {
    const closing = await addOrganisation(gateway, 'Closing');
    const session = await signIn(gateway, closing.organisationId, closing.ownerId);
    expect(await find(session)).not.toBeNull();
    await db()
      .updateTable('organisations')
      .set({ status: 'archived' })
      .where('id', '=', closing.organisationId)
      .execute();
    expect(await find(session)).toBeNull();
  });

  test('one, the others, those of one organisation or all of a person can be ended', async () => {
    const { organisationId } = place;
    const elsewhere = await addOrganisation(gateway);
    const { userId, session: first } = await addPerson(gateway, organisationId, 'member');
    const [second, third] = [
      await signIn(gateway, organisationId, userId),
      await signIn(gateway, organisationId, userId),
    ];
    const open = async (...tokens: string[]) => (await Promise.all(tokens.map(find))).map((found) => found !== null);
    const sessionId = async (token: string) => (await find(token))?.sessionId ?? '';

    const ended = await sessionId(first);
    expect(await endSession(db(), ended)).toBe(true);
    expect(await endSession(db(), ended)).toBe(false);
    expect(await open(first, second, third)).toEqual([false, true, true]);
    await endOtherSessions(db(), userId, [organisationId, elsewhere.organisationId], await sessionId(third));
    expect(await open(second, third)).toEqual([false, true]);
    await endSessions(db(), userId, elsewhere.organisationId);
    expect(await open(third)).toEqual([true]);
    await endSessions(db(), userId, organisationId);
    expect(await open(third)).toEqual([false]);
    const last = await signIn(gateway, organisationId, userId);
    await endSessions(db(), userId);
    expect(await open(last)).toEqual([false]);
  });
});
