/** Sessions over HTTP: forged requests, and every way in which a session ends or moves on. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { onEachEngine, type TestGateway } from '../../../test/harness.ts';
import { addOrganisation, addPerson, type Home, home, storeOf } from '../../../test/people.ts';
import { joinOrganisation, leaveOrganisation } from '../users/membership.ts';

onEachEngine('sessions', (start) => {
  let gateway: TestGateway;
  let here: Home;

  beforeAll(async () => {
    gateway = await start();
    here = await home(gateway);
  });
  afterAll(() => gateway.stopWithoutFaults());

  const signIn = async () => {
    const reply = await gateway.post('/v1/auth/login', gateway.owner, { key: '' });
    return { token: reply.body.token as string, csrf: reply.body.csrf_token as string, expires: reply.body.expires_at };
  };
  const self = (token: string) => gateway.get('/v1/auth/self', { key: token });
  const setLimit = (seconds: number | null) =>
    gateway.put('/v1/admin/organisation/auth-settings', { session_settings: { max_session_ttl: seconds } });
  const viaCookie = (token: string, csrf?: string) => ({
    key: '',
    headers: { cookie: `theme=dark; gw_session=${token}`, ...(csrf !== undefined && { 'x-gw-csrf': csrf }) },
  });
  const viaBearer = (token: string) => ({ key: '', headers: { authorization: `Bearer ${token}` } });

  test('a write that relies on the cookie needs the token against forgery', async () => {
    const { token, csrf } = await signIn();
    const other = await signIn();
    const rename = { first_name: 'Grace' };
    expect((await gateway.get('/v1/auth/self', viaCookie(token))).body.csrf_token).toBe(csrf);
    for (const wrong of [undefined, 'guess', other.csrf]) {
      const forged = await gateway.put('/v1/auth/profile', rename, viaCookie(token, wrong));
      expect(forged.status).toBe(403);
      expect(forged.body.data.errorCode).toBe('AB03');
      expect(forged.body.data.message).toContain('x-gw-csrf');
    }
    expect((await gateway.put('/v1/auth/profile', rename, viaCookie(token, csrf))).status).toBe(200);
    expect((await gateway.put('/v1/auth/profile', rename, viaBearer(token))).status).toBe(200);
  });

  test('logout ends this session alone and clears the cookie', async () => {
    const { token, csrf } = await signIn();
    const other = await signIn();
    const reply = await gateway.post('/v1/auth/logout', undefined, viaCookie(token, csrf));
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({});
    expect(reply.headers.get('set-cookie')).toBe('gw_session=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0');
    const after = await self(token);
    expect(after.status).toBe(401);
    expect(after.body.data.errorCode).toBe('AB05');
    expect((await gateway.post('/v1/auth/logout', undefined, viaCookie(token, csrf))).status).toBe(401);
    expect((await self(other.token)).status).toBe(200);
  });

  test('refresh replaces the token, keeps the moment of the sign-in, and can be done once', async () => {
    const { token } = await signIn();
    gateway.clock.advance({ hours: 20 });
    const reply = await gateway.post('/v1/auth/refresh', undefined, { key: token });
    expect(reply.status).toBe(200);
    expect(reply.body.token).not.toBe(token);
    expect(reply.headers.get('set-cookie')).toContain(reply.body.token);
    expect((await self(token)).status).toBe(401);
    gateway.clock.advance({ hours: 20 });
    expect((await self(reply.body.token)).status).toBe(200);

    const both = await signIn();
    const renewals = await Promise.all([1, 2].map(() => gateway.post('/v1/auth/refresh', {}, { key: both.token })));
    expect(renewals.map((renewal) => renewal.status).sort()).toEqual([200, 401]);
  });

  test('a session ends after a day', async () => {
    const { token } = await signIn();
    gateway.clock.advance({ hours: 23, minutes: 59 });
    expect((await self(token)).status).toBe(200);
    gateway.clock.advance({ minutes: 2 });
    expect((await self(token)).status).toBe(401);
  });

  test('no session outlives max_session_ttl, refreshed or not', async () => {
    await setLimit(3_600);
    const { token, expires } = await signIn();
    expect(Date.parse(expires) - gateway.clock.now().getTime()).toBeLessThanOrEqual(3_600_000);
    gateway.clock.advance({ minutes: 50 });
    const renewed = await gateway.post('/v1/auth/refresh', undefined, { key: token });
    expect(renewed.body.expires_at).toBe(expires);
    gateway.clock.advance({ minutes: 11 });
    expect((await self(renewed.body.token)).status).toBe(401);
    await setLimit(null);
  });

  test('lowering max_session_ttl ends sessions that are older, and the sweep makes that final', async () => {
    const old = await signIn();
    gateway.clock.advance({ minutes: 20 });
    const young = await signIn();
    await setLimit(900);
    expect((await self(old.token)).status).toBe(401);
    expect((await self(young.token)).status).toBe(200);
    await gateway.app.jobs.runOnce('session-sweep');
    await setLimit(null);
    expect((await self(old.token)).status).toBe(401);
    expect((await self(young.token)).status).toBe(200);
  });

  test('the sweep forgets sessions past their end and keeps the others', async () => {
    const { db } = storeOf(gateway);
    await signIn();
    gateway.clock.advance({ hours: 25 });
    const { token } = await signIn();
    await gateway.app.jobs.runOnce('session-sweep');
    const { left } = await db
      .selectFrom('sessions')
      .select((eb) => eb.fn.countAll<number>().as('left'))
      .executeTakeFirstOrThrow();
    expect(left).toBe(1);
    expect((await self(token)).status).toBe(200);
  });

  test('removing a person ends their sessions in that organisation', async () => {
    const person = await addPerson(gateway, here.organisationId, 'member');
    expect((await self(person.session)).status).toBe(200);
    await leaveOrganisation(storeOf(gateway).db, gateway.clock.now(), here.organisationId, person.userId);
    expect((await self(person.session)).status).toBe(401);
  });

  test('switching leads to another organisation of the person and ends the session before it', async () => {
    const elsewhere = await addOrganisation(gateway);
    const person = await addPerson(gateway, here.organisationId, 'member');
    const target = { organisation_id: elsewhere.organisationId };
    const stranger = await gateway.post('/v1/auth/switch-organisation', target, { key: person.session });
    expect(stranger.status).toBe(404);
    expect(stranger.body.data.errorCode).toBe('AB08');
    const unknown = { organisation_id: Bun.randomUUIDv7() };
    expect((await gateway.post('/v1/auth/switch-organisation', unknown, { key: person.session })).status).toBe(404);
    expect((await gateway.post('/v1/auth/switch-organisation', {}, { key: person.session })).status).toBe(400);

    await joinOrganisation(storeOf(gateway).db, gateway.clock.now(), {
      organisationId: elsewhere.organisationId,
      userId: person.userId,
      role: 'admin',
      provisionedBy: 'invite',
    });
    const reply = await gateway.post('/v1/auth/switch-organisation', target, { key: person.session });
    expect(reply.status).toBe(200);
    expect(reply.body.organisation_id).toBe(elsewhere.organisationId);
    const there = await self(reply.body.token);
    expect(there.body.organisation).toMatchObject({ id: elsewhere.organisationId, role: 'admin' });
    expect((await self(person.session)).status).toBe(401);
    const [row] = await storeOf(gateway)
      .db.selectFrom('audit_logs')
      .select(['organisation_id', 'details'])
      .where('user_id', '=', person.userId)
      .where('response_status_code', '=', 200)
      .execute();
    expect(row?.organisation_id).toBe(elsewhere.organisationId);
  });

  test('switching keeps the age of the sign-in, so a stricter organisation may ask for a new one', async () => {
    const strict = await addOrganisation(gateway);
    const person = await addPerson(gateway, here.organisationId, 'member');
    const { db } = storeOf(gateway);
    const now = gateway.clock.now();
    const place = { organisationId: strict.organisationId, userId: person.userId };
    await joinOrganisation(db, now, { ...place, role: 'member', provisionedBy: 'invite' });
    await gateway.put(
      '/v1/admin/organisation/auth-settings',
      { session_settings: { max_session_ttl: 900 } },
      { key: strict.adminKey },
    );
    gateway.clock.advance({ minutes: 16 });
    const reply = await gateway.post(
      '/v1/auth/switch-organisation',
      { organisation_id: strict.organisationId },
      { key: person.session },
    );
    expect(reply.status).toBe(401);
    expect((await self(person.session)).status).toBe(200);
  });

  test('API keys have no session to end, renew or move', async () => {
    for (const path of ['logout', 'refresh', 'switch-organisation']) {
      const body = { organisation_id: here.organisationId };
      for (const key of [gateway.adminKey, gateway.workspaceKey]) {
        const reply = await gateway.post(`/v1/auth/${path}`, body, { key });
        expect(reply.status).toBe(403);
        expect(reply.body.data.errorCode).toBe('AB03');
      }
      expect((await gateway.post(`/v1/auth/${path}`, body, { key: '' })).status).toBe(401);
    }
  });
});
