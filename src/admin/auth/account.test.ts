/** People changing their own name and password, over HTTP. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { onEachEngine, type TestGateway } from '../../../test/harness.ts';
import {
  addOrganisation,
  addPerson,
  home,
  joinFurther,
  manyFailures,
  type Place,
  signIn,
  storeOf,
} from '../../../test/people.ts';

const password = 'correct horse battery';
const better = 'an even better password';

onEachEngine('a person’s own account', (start) => {
  let gateway: TestGateway;
  let here: Place;

  beforeAll(async () => {
    gateway = await start();
    here = await home(gateway);
  });
  afterAll(() => gateway.stopWithoutFaults());

  const self = (key: string) => gateway.get('/v1/auth/self', { key });
  const login = (email: string, word: string) => gateway.post('/v1/auth/login', { email, password: word }, { key: '' });
  const change = (key: string, current_password: unknown, new_password: unknown) =>
    gateway.put('/v1/auth/password', { current_password, new_password }, { key });

  test('a new password replaces the old one and ends the other sessions everywhere', async () => {
    const person = await addPerson(gateway, here.organisationId, 'member', { password });
    const bystander = await addPerson(gateway, here.organisationId, 'member');
    const elsewhere = await addOrganisation(gateway);
    await joinFurther(gateway, person.userId, elsewhere.organisationId);
    const other = await signIn(gateway, elsewhere.organisationId, person.userId);
    const reply = await change(person.session, password, better);
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({});
    expect((await self(person.session)).status).toBe(200);
    expect((await self(other)).status).toBe(401);
    expect((await self(bystander.session)).status).toBe(200);
    expect((await login(person.email, password)).status).toBe(401);
    expect((await login(person.email, better)).status).toBe(200);
  });

  test('a wrong current password changes nothing', async () => {
    const person = await addPerson(gateway, here.organisationId, 'member', { password });
    const reply = await change(person.session, 'wrong', better);
    expect(reply.status).toBe(400);
    expect(reply.body.data.errors[0].path).toBe('current_password');
    expect((await login(person.email, password)).status).toBe(200);
    const withoutPassword = await addPerson(gateway, here.organisationId, 'member');
    expect((await change(withoutPassword.session, 'anything at all', better)).status).toBe(400);
  });

  test('a new password must be long enough, not too long, and new', async () => {
    const person = await addPerson(gateway, here.organisationId, 'member', { password });
    for (const word of ['short', 'x'.repeat(201), password, 12, null]) {
      const reply = await change(person.session, password, word);
      expect(reply.status).toBe(400);
      expect(reply.body.data.errors[0].path).toBe('new_password');
    }
  });

  test('guessing the current password is slowed down like signing in', async () => {
    const person = await addPerson(gateway, here.organisationId, 'member', { password });
    manyFailures(gateway, { email: person.email, clientIp: '127.0.0.1' });
    const reply = await change(person.session, password, better);
    expect(reply.status).toBe(429);
    expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  test('of two changes at once one wins', async () => {
    const person = await addPerson(gateway, here.organisationId, 'member', { password });
    const other = await signIn(gateway, here.organisationId, person.userId);
    const replies = await Promise.all([
      change(person.session, password, better),
      change(other, password, `${better} two`),
    ]);
    expect(replies.filter((reply) => reply.status === 200)).toHaveLength(1);
  });

  test('the audit row tells that the password changed and never what it is', async () => {
    const person = await addPerson(gateway, here.organisationId, 'member', { password });
    await change(person.session, password, 'canary-new-password');
    const row = await storeOf(gateway)
      .db.selectFrom('audit_logs')
      .selectAll()
      .where('user_id', '=', person.userId)
      .executeTakeFirstOrThrow();
    expect([row.resource_type, row.action, row.resource_id]).toEqual(['user', 'update', person.userId]);
    expect(JSON.stringify(row)).not.toContain('canary');
    expect(JSON.stringify(row)).not.toContain(password);
  });

  test('a person changes their own name, one part or both', async () => {
    const person = await addPerson(gateway, here.organisationId, 'member');
    const rename = (body: unknown) => gateway.put('/v1/auth/profile', body, { key: person.session });
    const first = await rename({ first_name: '  Zoë ' });
    expect(first.status).toBe(200);
    expect(first.body).toMatchObject({ object: 'user', id: person.userId, email: person.email, first_name: 'Zoë' });
    await rename({ last_name: '' });
    expect((await self(person.session)).body.user).toMatchObject({ first_name: 'Zoë', last_name: '' });
    const unfit = [{ first_name: ' ' }, { last_name: 'x'.repeat(101) }, { first_name: 'Zoë\nBcc: all' }];
    for (const wrong of [{}, ...unfit, { email: 'other@example.com' }]) {
      expect((await rename(wrong)).status).toBe(400);
    }
  });

  test('API keys have no account', async () => {
    for (const path of ['password', 'profile']) {
      expect((await gateway.put(`/v1/auth/${path}`, {})).status).toBe(403);
      expect((await gateway.put(`/v1/auth/${path}`, {}, { key: gateway.workspaceKey })).status).toBe(403);
      expect((await gateway.put(`/v1/auth/${path}`, {}, { key: '' })).status).toBe(401);
    }
  });
});
