/** Ways back in over HTTP: links to a new password, and sessions that are listed and ended. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { onEachEngine, type TestGateway } from '../../../test/harness.ts';
import {
  addKey,
  addOrganisation,
  addPerson,
  type Home,
  home,
  joinFurther,
  type Person,
  signIn,
  storeOf,
} from '../../../test/people.ts';

const password = 'correct horse battery';
const better = 'an even better password';

onEachEngine('a link to a new password', (start) => {
  let gateway: TestGateway;
  let here: Home;

  beforeAll(async () => {
    gateway = await start();
    here = await home(gateway);
  });
  afterAll(() => gateway.stopWithoutFaults());

  const offer = (person: Pick<Person, 'userId'>, key?: string) =>
    gateway.post(`/v1/admin/users/${person.userId}/password-reset`, undefined, key ? { key } : {});
  const tokenOf = (link: string) => link.split('/').at(-1) ?? '';
  const look = (token: string) => gateway.get(`/v1/auth/password-resets/${token}`, { key: '' });
  const use = (token: string, word: string = better) =>
    gateway.post(`/v1/auth/password-resets/${token}`, { password: word }, { key: '' });
  const login = (email: string, word: string, organisation_id?: string) =>
    gateway.post('/v1/auth/login', { email, password: word, organisation_id }, { key: '' });

  test('sets the password once, ends the sessions, and is audited without its token', async () => {
    const person = await addPerson(gateway, here.organisationId, 'member', { password });
    const { status, body } = await offer(person);
    expect(status).toBe(200);
    expect(body.reset_link).toStartWith(`${gateway.url}/reset-password/`);
    const token = tokenOf(body.reset_link);
    expect((await look(token)).body).toMatchObject({ email: person.email, organisation_name: 'My organisation' });
    expect((await use(token, 'short')).status).toBe(400);
    expect((await use(token)).status).toBe(200);
    expect((await gateway.get('/v1/auth/self', { key: person.session })).status).toBe(401);
    expect((await login(person.email, password)).status).toBe(401);
    expect((await login(person.email, better)).status).toBe(200);
    expect((await use(token)).status).toBe(410);
    expect((await look(token)).status).toBe(410);
    const { db } = storeOf(gateway);
    const rows = await db
      .selectFrom('audit_logs')
      .selectAll()
      .where('resource_id', '=', person.userId)
      .where('response_status_code', '=', 200)
      .orderBy('id')
      .execute();
    expect(rows.map((row) => JSON.parse(row.details ?? '{}').event ?? row.action)).toEqual([
      'password reset offered',
      'password reset',
      'login',
    ]);
    const stored = JSON.stringify([
      rows,
      await db.selectFrom('password_resets').selectAll().execute(),
      await db.selectFrom('notices').selectAll().execute(),
    ]);
    for (const secret of [token, better]) expect(stored).not.toContain(secret);
  });

  test('gives somebody without a password one', async () => {
    const person = await addPerson(gateway, here.organisationId, 'member');
    expect((await use(tokenOf((await offer(person)).body.reset_link))).status).toBe(200);
    expect((await login(person.email, better)).status).toBe(200);
  });

  test('is good for a day, until another is made, and while the person belongs to the organisation', async () => {
    const person = await addPerson(gateway, here.organisationId, 'member');
    const first = tokenOf((await offer(person)).body.reset_link);
    const second = tokenOf((await offer(person)).body.reset_link);
    expect([(await look(first)).status, (await look(second)).status]).toEqual([410, 200]);
    gateway.clock.advance({ days: 1 });
    expect((await use(second)).status).toBe(410);
    const third = tokenOf((await offer(person)).body.reset_link);
    await gateway.delete(`/v1/users/${person.userId}`);
    expect((await use(third)).status).toBe(410);
  });

  test('opens no other organisation of the same address', async () => {
    const elsewhere = await addOrganisation(gateway);
    const person = await addPerson(gateway, elsewhere.organisationId, 'member', { password });
    await joinFurther(gateway, person.userId, here.organisationId);
    await use(tokenOf((await offer(person)).body.reset_link));
    expect((await login(person.email, better)).body.organisation_id).toBe(here.organisationId);
    expect((await login(person.email, better, elsewhere.organisationId)).status).toBe(401);
    expect((await login(person.email, password, elsewhere.organisationId)).status).toBe(200);
  });

  test('is made by nobody for a person who may do more than they', async () => {
    const { organisationId, workspaceId } = here;
    const admin = await addPerson(gateway, organisationId, 'admin');
    expect((await offer(here.owner, admin.session)).status).toBe(403);
    expect((await offer(here.owner, gateway.adminKey)).status).toBe(403);
    expect((await offer(admin, gateway.adminKey)).status).toBe(200);
    const clerk = await addKey(gateway, {
      organisationId,
      type: 'organisation-service',
      scopes: ['organisation_users.update'],
    });
    expect((await offer(admin, clerk.secret)).status).toBe(403);
    expect((await offer(await addPerson(gateway, organisationId, 'member'), clerk.secret)).status).toBe(200);
    const member = await addPerson(gateway, organisationId, 'member', { workspaces: { [workspaceId]: 'member' } });
    expect((await offer(member, clerk.secret)).status).toBe(403);
    expect((await offer(admin, member.session)).status).toBe(403);
    const stranger = await addOrganisation(gateway);
    expect((await offer(admin, stranger.adminKey)).status).toBe(404);
  });

  describe('sessions', () => {
    const sessions = (path: string, key?: string) => gateway.get(path, key ? { key } : {});

    test('a person sees where they are signed in and ends one of their sessions', async () => {
      const person = await addPerson(gateway, here.organisationId, 'member');
      const other = await signIn(gateway, here.organisationId, person.userId);
      const { body } = await sessions('/v1/auth/sessions', person.session);
      expect(body).toMatchObject({ object: 'list', total: 2 });
      expect(body.data[0]).toEqual({
        object: 'session',
        id: expect.any(String),
        signed_in_at: expect.any(String),
        expires_at: expect.any(String),
        client_ip: '127.0.0.1',
        user_agent: 'test',
        current: expect.any(Boolean),
      });
      const mine = body.data.filter((session: { current: boolean }) => session.current);
      expect(mine).toHaveLength(1);
      const end = (id: string, key: string) => gateway.delete(`/v1/auth/sessions/${id}`, undefined, { key });
      const bystander = await addPerson(gateway, here.organisationId, 'member');
      expect((await end(mine[0].id, bystander.session)).status).toBe(404);
      expect((await end(mine[0].id, other)).status).toBe(200);
      expect((await sessions('/v1/auth/sessions', person.session)).status).toBe(401);
      expect((await end(mine[0].id, other)).status).toBe(404);
    });

    test('those who run the organisation see and end the sessions of its people, of owners only owners', async () => {
      const person = await addPerson(gateway, here.organisationId, 'member');
      const path = `/v1/admin/users/${person.userId}/sessions`;
      const { body } = await sessions(path);
      expect(body.total).toBe(1);
      expect(JSON.stringify(body)).not.toContain(person.session);
      expect((await sessions(path, person.session)).status).toBe(403);
      expect((await gateway.delete(`${path}/${body.data[0].id}`)).status).toBe(200);
      expect((await sessions('/v1/auth/sessions', person.session)).status).toBe(401);
      const admin = await addPerson(gateway, here.organisationId, 'admin');
      const ofOwner = `/v1/admin/users/${here.owner.userId}/sessions`;
      expect((await gateway.delete(ofOwner, undefined, { key: admin.session })).status).toBe(403);
      const again = await signIn(gateway, here.organisationId, person.userId);
      expect((await gateway.delete(path)).status).toBe(200);
      expect((await sessions('/v1/auth/sessions', again)).status).toBe(401);
      const rows = await storeOf(gateway)
        .db.selectFrom('audit_logs')
        .select('details')
        .where('resource_id', '=', person.userId)
        .where('action', '=', 'manage')
        .execute();
      expect(rows).toHaveLength(2);
    });
  });
});
