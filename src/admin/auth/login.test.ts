/** Signing in over HTTP: what opens a session, what does not, and what guessing costs. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { onEachEngine, type TestGateway } from '../../../test/harness.ts';
import {
  addOrganisation,
  addPerson,
  home,
  joinFurther,
  manyFailures,
  type Place,
  storeOf,
} from '../../../test/people.ts';
import { leaveOrganisation } from '../users/membership.ts';

const password = 'correct horse battery';

onEachEngine('signing in', (start) => {
  let gateway: TestGateway;
  let here: Place;

  beforeAll(async () => {
    gateway = await start({ TRUSTED_PROXIES: '127.0.0.1' });
    here = await home(gateway);
  });
  afterAll(() => gateway.stopWithoutFaults());
  // Each test starts without anyone waiting.
  beforeEach(() => gateway.clock.advance({ hours: 2 }));

  const login = (email: string, word: string, headers: Record<string, string> = {}) =>
    gateway.post('/v1/auth/login', { email, password: word }, { key: '', headers });
  const from = (ip: string) => ({ 'x-forwarded-for': ip });

  const loginRows = async (userId: string) => {
    const from = new Date(gateway.clock.now().getTime() - 60_000).toISOString();
    const to = new Date(gateway.clock.now().getTime() + 60_000).toISOString();
    const reply = await gateway.get(
      `/v1/audit-logs?start_time=${from}&end_time=${to}&resource_type=user&action=login&user_id=${userId}`,
    );
    return reply.body.records;
  };

  test('the right password opens a session in a cookie that scripts cannot read', async () => {
    const reply = await login(gateway.owner.email, gateway.owner.password);
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({
      object: 'session',
      token: expect.stringMatching(/^gws_/),
      csrf_token: expect.any(String),
      expires_at: expect.any(String),
      organisation_id: here.organisationId,
    });
    const [, cookie = ''] = reply.headers.getSetCookie();
    expect(cookie).toBe(`gw_session=${reply.body.token}; Path=/; HttpOnly; SameSite=Lax; Max-Age=86400`);
    const self = await gateway.get('/v1/auth/self', { key: '', headers: { cookie: cookie.split(';')[0] ?? '' } });
    expect(self.body.user.email).toBe(gateway.owner.email);
  });

  test('the cookie is Secure where the client came by https', async () => {
    const reply = await login(gateway.owner.email, gateway.owner.password, {
      ...from('203.0.113.1'),
      'x-forwarded-proto': 'https, http',
    });
    for (const cookie of reply.headers.getSetCookie()) expect(cookie).toEndWith('; Secure');
  });

  test('case and spaces around the address do not matter', async () => {
    expect((await login(` ${gateway.owner.email.toUpperCase()} `, gateway.owner.password)).status).toBe(200);
  });

  test('a wrong password, an unknown address and an account without a password get the same answer', async () => {
    const { email } = await addPerson(gateway, here.organisationId, 'member');
    const replies = [
      await login(gateway.owner.email, 'wrong'),
      await login('nobody@example.com', 'wrong'),
      await login(email, 'wrong'),
    ];
    for (const reply of replies) {
      expect(reply.status).toBe(401);
      expect(reply.body.data).toEqual({ message: 'Wrong e-mail address or password', errorCode: 'AB05' });
      expect(reply.headers.get('set-cookie')).toBeNull();
    }
  });

  test('success and failure are in the audit trail, without the password', async () => {
    const person = await addPerson(gateway, here.organisationId, 'member', { password });
    await login(person.email, 'wrong-canary');
    await login(person.email, password);
    const deadline = Date.now() + 5_000;
    let rows = await loginRows(person.userId);
    // The row of a refusal is queued, not written with the answer.
    while (rows.length < 2 && Date.now() < deadline) rows = await loginRows(person.userId);
    expect(rows.map((row: { response_status_code: number }) => row.response_status_code).sort()).toEqual([200, 401]);
    for (const row of rows) {
      expect(row.user_type).toBe('user');
      expect(row.resource_id).toBe(person.userId);
      expect(row.organisation_id).toBe(here.organisationId);
    }
    const refused = rows.find((row: { response_status_code: number }) => row.response_status_code === 401);
    expect(JSON.parse(refused.details)).toEqual({ method: 'password', reason: 'wrong password' });
    expect(JSON.stringify(rows)).not.toContain('wrong-canary');
    expect(JSON.stringify(rows)).not.toContain(password);
  });

  test('signing in is remembered as the last login', async () => {
    const person = await addPerson(gateway, here.organisationId, 'member', { password });
    await login(person.email, password);
    const row = await storeOf(gateway)
      .db.selectFrom('organisation_members')
      .select('last_login_at')
      .where('user_id', '=', person.userId)
      .executeTakeFirstOrThrow();
    expect(Date.parse(row.last_login_at ?? '')).toBeGreaterThan(gateway.clock.now().getTime() - 60_000);
  });

  test('it leads to the organisation used last, else to the one joined first', async () => {
    const person = await addPerson(gateway, here.organisationId, 'member', { password });
    const other = await addOrganisation(gateway);
    const { db } = storeOf(gateway);
    gateway.clock.advance({ minutes: 1 });
    await joinFurther(gateway, person.userId, other.organisationId);
    const first = await login(person.email, password);
    expect(first.body.organisation_id).toBe(here.organisationId);
    await gateway.post(
      '/v1/auth/switch-organisation',
      { organisation_id: other.organisationId },
      { key: first.body.token },
    );
    expect((await login(person.email, password)).body.organisation_id).toBe(other.organisationId);
    await leaveOrganisation(db, gateway.clock.now(), other.organisationId, person.userId);
    expect((await login(person.email, password)).body.organisation_id).toBe(here.organisationId);
  });

  test('someone who belongs to no organisation any more is refused with 403', async () => {
    const person = await addPerson(gateway, here.organisationId, 'member', { password });
    await leaveOrganisation(storeOf(gateway).db, gateway.clock.now(), here.organisationId, person.userId);
    const reply = await login(person.email, password);
    expect(reply.status).toBe(403);
    expect(reply.body.data.errorCode).toBe('AB03');
    expect((await login(person.email, 'wrong')).status).toBe(401);
  });

  test('a body that is no sign-in is refused with 400 and names its fields', async () => {
    const reply = await gateway.post('/v1/auth/login', { email: 'not an address' }, { key: '' });
    expect(reply.status).toBe(400);
    expect(reply.body.data.errors.map((error: { path: string }) => error.path).sort()).toEqual(['email']);
    expect((await gateway.post('/v1/auth/login', undefined, { key: '' })).status).toBe(400);
    expect((await login(gateway.owner.email, 'x'.repeat(201))).status).toBe(400);
  });

  test('many failures of one source keep that source waiting, and nobody else', async () => {
    const person = await addPerson(gateway, here.organisationId, 'member', { password });
    manyFailures(gateway, { email: person.email, clientIp: '198.51.100.8' });
    const waiting = await login(person.email, password, from('198.51.100.8'));
    expect([waiting.status, waiting.body.data.errorCode]).toEqual([429, 'AB06']);
    expect(Number(waiting.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await login(person.email, password, from('198.51.100.10'))).status).toBe(200);
    gateway.clock.advance({ minutes: 1 });
    expect((await login(person.email, password, from('198.51.100.8'))).status).toBe(200);
  });

  test('a device that is known is let in although its own network and the world guess', async () => {
    const person = await addPerson(gateway, here.organisationId, 'member', { password });
    const first = await login(person.email, password, from('203.0.113.50'));
    const cookie = /gw_device=[^;]+/.exec(first.headers.getSetCookie().join('\n'))?.[0] ?? '';
    for (let i = 0; i < 250; i++) manyFailures(gateway, { email: person.email, clientIp: `198.51.100.${i}` });
    manyFailures(gateway, { email: person.email, clientIp: '203.0.113.50' });
    expect((await login(person.email, password, from('203.0.113.50'))).status).toBe(429);
    expect((await login(person.email, password, { ...from('203.0.113.50'), cookie })).status).toBe(200);
    const { email } = await addPerson(gateway, here.organisationId, 'member', { password });
    manyFailures(gateway, { email, clientIp: '203.0.113.51' });
    // Another person's mark, or a made-up one, says nothing.
    for (const mark of [cookie, 'gw_device=v1.AAAA']) {
      expect((await login(email, password, { ...from('203.0.113.51'), cookie: mark })).status).toBe(429);
    }
  });

  test('an unknown address waits like a known one', async () => {
    manyFailures(gateway, { email: 'ghost@example.com', clientIp: '127.0.0.1' });
    expect((await login('ghost@example.com', 'wrong')).status).toBe(429);
  });

  test('a client that fails with many addresses waits for all of them; another client does not', async () => {
    const clientIp = '203.0.113.7';
    for (let i = 0; i < 40; i++) {
      gateway.app.services.loginThrottle.admit({ email: `guess-${i}@example.com`, clientIp });
    }
    const { email } = await addPerson(gateway, here.organisationId, 'member', { password });
    expect((await login(email, password, from('203.0.113.8'))).status).toBe(200);
    expect((await login(email, password, from(clientIp))).status).toBe(429);
  });
});
