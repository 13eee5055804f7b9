/** Accepting an invite, as the answers of the routes that its link leads to. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { onEachEngine, type TestGateway } from '../../../test/harness.ts';
import {
  addOrganisation,
  addPerson,
  addWorkspace,
  archiveWorkspace,
  type Home,
  home,
  manyFailures,
  storeOf,
  type Tenant,
} from '../../../test/people.ts';
import { passwordsOf, proveAddress } from '../../identity/accounts.ts';
import { openSecret } from '../api-keys/events.ts';

const password = 'correct horse battery';
const newcomer = { password, first_name: 'Grace', last_name: 'Hopper' };
const invitesAccepted = { resource_type: 'invite', action: 'update' };
let addresses = 0;
const newAddress = () => `guest-${addresses++}@example.com`;

onEachEngine('the link of an invite', (start) => {
  let gateway: TestGateway;
  let place: Home;
  let elsewhere: Tenant;

  beforeAll(async () => {
    gateway = await start();
    place = await home(gateway);
    elsewhere = await addOrganisation(gateway);
  });

  afterAll(() => gateway.stopWithoutFaults());

  const invite = async (email: string, more: object = {}) => {
    const { body } = await gateway.post('/v1/users/invites', { email, role: 'member', ...more });
    const token: string = body.invite_link.split('/').at(-1);
    return { id: body.id as string, token };
  };
  const look = (token: string) => gateway.get(`/v1/invites/${token}`, { key: '' });
  const accept = (token: string, body?: object, key = '', headers: Record<string, string> = {}) =>
    gateway.post(`/v1/invites/${token}/accept`, body, { key, headers });
  const user = (id: string) => gateway.get(`/v1/users/${id}`);
  const verify = async (userId: string, candidate: string) => {
    const { store, passwords } = gateway.app.services;
    const stored = await passwordsOf(store.db, userId);
    const here = stored.find(({ organisationId }) => organisationId === place.organisationId);
    return passwords.verify(candidate, here?.passwordHash ?? null);
  };
  /** Rows of refusals are written behind the reply, so it asks until there are as many as expected. */
  const auditOf = async (resourceId: string, expected: number) => {
    const query = storeOf(gateway)
      .db.selectFrom('audit_logs')
      .selectAll()
      .where('resource_id', '=', resourceId)
      .where('uri', 'like', '/v1/invites/%')
      .orderBy('id');
    let rows = await query.execute();
    for (let tries = 0; rows.length < expected && tries < 500; tries++) rows = await query.execute();
    return rows;
  };

  describe('looking at it', () => {
    test('tells who is invited where, without a credential', async () => {
      const email = newAddress();
      const { token } = await invite(email);
      const { status, body } = await look(token);
      expect(status).toBe(200);
      expect(body).toEqual({
        object: 'invite',
        organisation_name: 'My organisation',
        email,
        status: 'pending',
        expires_at: expect.any(String),
        requires_sso: false,
        requires_sign_in: false,
        has_account: false,
      });
    });

    test('tells that a proven account of the address must be signed in to', async () => {
      const person = await addPerson(gateway, elsewhere.organisationId, 'member');
      const { token } = await invite(person.email);
      expect((await look(token)).body).toMatchObject({ has_account: true, requires_sign_in: false });
      await proveAddress(storeOf(gateway).db, gateway.clock.now(), person.userId);
      expect((await look(token)).body).toMatchObject({ has_account: true, requires_sign_in: true });
    });

    test('an unknown token is answered with 404, one that cannot be a token too', async () => {
      expect((await look('a'.repeat(32))).status).toBe(404);
      expect((await look('%00')).status).not.toBe(500);
      expect((await look('a.b')).status).toBe(404);
      expect((await accept('a'.repeat(32), newcomer)).status).toBe(404);
    });

    test('an accepted invite says so', async () => {
      const { token } = await invite(newAddress());
      await accept(token, newcomer);
      expect((await look(token)).body.status).toBe('accepted');
    });
  });

  describe('a newcomer', () => {
    test('makes an account with the password and joins with role and workspaces', async () => {
      const other = await addWorkspace(gateway, place.organisationId, 'Invited');
      const email = newAddress();
      const workspaces = [
        { id: other.id, role: 'manager' },
        { id: place.workspaceId, role: 'member' },
      ];
      const { id, token } = await invite(email, { workspaces });
      const { status, body } = await accept(token, newcomer);
      expect(status).toBe(200);
      expect(body).toEqual({ organisation_id: place.organisationId, user_id: expect.any(String) });
      const joined = (await user(body.user_id)).body;
      expect(joined).toMatchObject({ email, first_name: 'Grace', role: 'member', provisioned_by: 'invite' });
      expect(joined.workspace_ids).toHaveLength(2);
      expect(await verify(body.user_id, password)).toBe(true);
      const { body: record } = await gateway.get(`/v1/users/invites/${id}`);
      expect(record).toMatchObject({ status: 'accepted', accepted_at: expect.any(String) });
      const roles = await storeOf(gateway)
        .db.selectFrom('workspace_members')
        .select(['workspace_id', 'role', 'status'])
        .where('user_id', '=', body.user_id)
        .execute();
      expect(roles).toContainEqual({ workspace_id: other.id, role: 'manager', status: 'active' });
    });

    test('must send password, first and last name', async () => {
      const { token } = await invite(newAddress());
      const { status, body } = await accept(token);
      expect(status).toBe(400);
      expect(body.data.errors.map((error: { path: string }) => error.path)).toEqual([
        'password',
        'first_name',
        'last_name',
      ]);
      expect((await accept(token, { ...newcomer, password: 'short' })).body.data.errors[0].path).toBe('password');
      expect((await accept(token, { ...newcomer, first_name: ' ' })).body.data.errors[0].path).toBe('first_name');
    });

    test('accepts once: the second time and of two at once one is refused with 409', async () => {
      const first = await invite(newAddress());
      expect((await accept(first.token, newcomer)).status).toBe(200);
      expect((await accept(first.token, newcomer)).status).toBe(409);
      const second = await invite(newAddress());
      const replies = await Promise.all([accept(second.token, newcomer), accept(second.token, newcomer)]);
      expect(replies.map((reply) => reply.status).sort()).toEqual([200, 409]);
    });

    test('comes too late after two days: 410', async () => {
      const { token } = await invite(newAddress());
      gateway.clock.advance({ days: 2 });
      const { status, body } = await accept(token, newcomer);
      expect(status).toBe(410);
      expect(body.data.errorCode).toBe('AB08');
    });

    test('does not join a workspace that was archived meanwhile', async () => {
      const closing = await addWorkspace(gateway, place.organisationId, 'Closing');
      const { token } = await invite(newAddress(), { workspaces: [{ id: closing.id, role: 'member' }] });
      await archiveWorkspace(gateway, closing.id);
      const { status, body } = await accept(token, newcomer);
      expect(status).toBe(200);
      expect((await user(body.user_id)).body.workspace_ids).toEqual([]);
    });
  });

  describe('the owner of an account', () => {
    const password = 'a password from before';

    test('accepts with a session of their address', async () => {
      const person = await addPerson(gateway, elsewhere.organisationId, 'member');
      const { token } = await invite(person.email, { role: 'admin' });
      const { status, body } = await accept(token, { last_name: 'Lovelace' }, person.session);
      expect(status).toBe(200);
      expect(body.user_id).toBe(person.userId);
      expect((await user(person.userId)).body).toMatchObject({ role: 'admin', last_name: 'Lovelace' });
    });

    test('is refused with 403 when the session is of another address', async () => {
      const person = await addPerson(gateway, elsewhere.organisationId, 'member');
      const { id, token } = await invite(newAddress());
      const { status, body } = await accept(token, newcomer, person.session);
      expect({ status, code: body.data.errorCode }).toEqual({ status: 403, code: 'AB03' });
      expect((await look(token)).body.status).toBe('pending');
      const [row] = await auditOf(id, 1);
      expect(row).toMatchObject({ user_id: person.userId, response_status_code: 403, ...invitesAccepted });
    });

    test('is refused with 401 when the credential is no open session', async () => {
      const { token } = await invite(newAddress());
      for (const key of ['gws_unknown', gateway.adminKey, gateway.workspaceKey]) {
        expect((await accept(token, newcomer, key)).body.data.errorCode).toBe('AB05');
      }
    });

    test('needs the csrf token when the session comes as a cookie', async () => {
      const person = await addPerson(gateway, elsewhere.organisationId, 'member');
      const { token } = await invite(person.email);
      const cookie = `gw_session=${person.session}`;
      expect((await accept(token, {}, '', { cookie })).status).toBe(403);
      const { csrf_token } = await storeOf(gateway)
        .db.selectFrom('sessions')
        .select('csrf_token')
        .where('user_id', '=', person.userId)
        .executeTakeFirstOrThrow();
      expect((await accept(token, {}, '', { cookie, 'x-gw-csrf': csrf_token })).status).toBe(200);
    });

    test('who has proven the address must sign in or send the password that the account has: 401', async () => {
      const person = await addPerson(gateway, elsewhere.organisationId, 'member', { password });
      await proveAddress(storeOf(gateway).db, gateway.clock.now(), person.userId);
      const { id, token } = await invite(person.email);
      for (const body of [undefined, newcomer]) {
        const reply = await accept(token, body);
        expect(reply.status).toBe(401);
        expect(reply.body.data.message).toContain('sign in first');
      }
      expect((await accept(token, { password })).status).toBe(200);
      expect(await verify(person.userId, password)).toBe(true);
      expect((await auditOf(id, 3)).map((row) => row.response_status_code)).toEqual([401, 401, 200]);
    });

    test('is slowed down when the password is guessed: 429', async () => {
      const person = await addPerson(gateway, elsewhere.organisationId, 'member', { password });
      await proveAddress(storeOf(gateway).db, gateway.clock.now(), person.userId);
      const { token } = await invite(person.email);
      const statuses: number[] = [];
      for (let guess = 0; guess < 5; guess++) {
        statuses.push((await accept(token, { ...newcomer, password: `guess number ${guess}` })).status);
      }
      expect(statuses).toEqual([401, 401, 401, 401, 401]);
      manyFailures(gateway, { email: person.email, clientIp: '127.0.0.1' });
      expect((await accept(token, { password })).status).toBe(429);
    });

    test('keeps the account: who invites cannot come into another organisation by the link', async () => {
      const person = await addPerson(gateway, elsewhere.organisationId, 'admin', { password });
      const { token } = await invite(person.email);
      expect((await accept(token, newcomer)).status).toBe(200);
      const login = (organisation_id: string, password: string) =>
        gateway.post('/v1/auth/login', { email: person.email, password, organisation_id }, { key: '' });
      expect((await login(elsewhere.organisationId, newcomer.password)).status).toBe(401);
      expect((await login(place.organisationId, password)).status).toBe(401);
      const { body } = await login(place.organisationId, newcomer.password);
      // Nor does a session lead there, or tell that there is anything, or give them another name there.
      const target = { organisation_id: elsewhere.organisationId };
      expect((await gateway.post('/v1/auth/switch-organisation', target, { key: body.token })).status).toBe(404);
      const own = await gateway.get('/v1/admin/organisations', { key: body.token });
      expect(own.body.data.map((organisation: { id: string }) => organisation.id)).toEqual([place.organisationId]);
      expect((await gateway.put('/v1/auth/profile', { first_name: 'Mallory' }, { key: body.token })).status).toBe(403);
      expect((await user(person.userId)).body.first_name).toBe('Ada');
      const change = { current_password: newcomer.password, new_password: 'a password for here alone' };
      expect((await gateway.put('/v1/auth/password', change, { key: body.token })).status).toBe(200);
      expect((await login(elsewhere.organisationId, password)).status).toBe(200);
    });

    test('who uses the password that they have elsewhere enters both with it', async () => {
      const person = await addPerson(gateway, elsewhere.organisationId, 'member', { password });
      const { token } = await invite(person.email);
      expect((await accept(token, { password })).status).toBe(200);
      const login = await gateway.post('/v1/auth/login', { email: person.email, password }, { key: '' });
      const other = login.body.organisation_id === place.organisationId ? elsewhere : place;
      const target = { organisation_id: other.organisationId };
      expect((await gateway.post('/v1/auth/switch-organisation', target, { key: login.body.token })).status).toBe(200);
    });

    test('who left this organisation comes back with the role of the invite', async () => {
      const person = await addPerson(gateway, place.organisationId, 'admin', { password });
      await gateway.delete(`/v1/users/${person.userId}`);
      const { token } = await invite(person.email, { workspaces: [{ id: place.workspaceId, role: 'member' }] });
      expect((await accept(token, { password })).status).toBe(200);
      expect((await user(person.userId)).body).toMatchObject({ status: 'active', role: 'member' });
    });

    test('who left without ever having a password sets one', async () => {
      const person = await addPerson(gateway, place.organisationId, 'member');
      await gateway.delete(`/v1/users/${person.userId}`);
      const { token } = await invite(person.email);
      expect((await accept(token, newcomer)).body.user_id).toBe(person.userId);
      expect(await verify(person.userId, newcomer.password)).toBe(true);
    });

    test('who is a member by now is refused with 409 and keeps role and password', async () => {
      const email = newAddress();
      const { token } = await invite(email, { role: 'admin' });
      const person = await addPerson(gateway, place.organisationId, 'member', { email });
      expect((await accept(token, {}, person.session)).status).toBe(409);
      expect((await accept(token, newcomer)).status).toBe(409);
      expect((await user(person.userId)).body.role).toBe('member');
      expect(await verify(person.userId, newcomer.password)).toBe(false);
    });
  });

  describe('an address that nobody has proven', () => {
    test('keeps nobody out: whoever accepted for it elsewhere stays in their own organisation', async () => {
      const email = newAddress();
      // Another tenant invites the address of somebody else and accepts in their place.
      const theirs = await gateway.post('/v1/users/invites', { email, role: 'member' }, { key: elsewhere.adminKey });
      const squatter = { password: 'known to the squatter', first_name: 'No', last_name: 'Body' };
      const squatted = await accept(theirs.body.invite_link.split('/').at(-1), squatter);
      expect(squatted.status).toBe(200);
      // The person themselves is invited here, and comes in with a password of their own.
      const { token } = await invite(email, { role: 'admin' });
      expect((await look(token)).body.requires_sign_in).toBe(false);
      expect((await accept(token, newcomer)).status).toBe(200);
      const login = (word: string, more: object = {}) =>
        gateway.post('/v1/auth/login', { email, password: word, ...more }, { key: '' });
      expect((await login(password)).body.organisation_id).toBe(place.organisationId);
      expect((await login(squatter.password)).body.organisation_id).toBe(elsewhere.organisationId);
      expect((await login(squatter.password, { organisation_id: place.organisationId })).status).toBe(401);
    });

    test('is proven by an invite of the organisation that has verified its domain', async () => {
      const { db } = storeOf(gateway);
      const at = gateway.clock.now().toISOString();
      await db
        .insertInto('email_domains')
        .values({
          id: Bun.randomUUIDv7(),
          organisation_id: place.organisationId,
          domain: 'corp.example',
          allow_subdomains: 0,
          status: 'verified',
          verification_code: '',
          mailed_code_digest: '',
          verified_at: at,
          created_at: at,
          last_updated_at: at,
        })
        .execute();
      const email = 'grace@corp.example';
      expect((await accept((await invite(email)).token, newcomer)).status).toBe(200);
      const theirs = await gateway.post('/v1/users/invites', { email, role: 'member' }, { key: elsewhere.adminKey });
      const token = theirs.body.invite_link.split('/').at(-1);
      expect((await look(token)).body.requires_sign_in).toBe(true);
      expect((await accept(token, { ...newcomer, password: 'known to the squatter' })).status).toBe(401);
      expect((await accept(token, { password })).status).toBe(200);
    });
  });

  describe('keys', () => {
    const keysOf = (userId: string) =>
      storeOf(gateway)
        .db.selectFrom('api_keys as key')
        .innerJoin('api_key_secrets as secret', 'secret.api_key_id', 'key.id')
        .select(['key.type', 'key.workspace_id', 'key.scopes', 'key.status', 'secret.sealed'])
        .where('key.user_id', '=', userId)
        .orderBy('key.created_at')
        .execute();

    test('one with exactly the scopes of the invite is made in each workspace, its secret kept for its owner', async () => {
      const other = await addWorkspace(gateway, place.organisationId, 'Keyed');
      const { token } = await invite(newAddress(), {
        workspaces: [{ id: place.workspaceId }, { id: other.id }],
        workspace_api_key_details: { scopes: ['completions.write', 'logs:view', 'completions.write'] },
      });
      const { body } = await accept(token, newcomer);
      const keys = await keysOf(body.user_id);
      expect(keys.map((key) => key.workspace_id).sort()).toEqual([place.workspaceId, other.id].sort());
      for (const key of keys) {
        expect(key).toMatchObject({ type: 'workspace-user', status: 'active' });
        expect(JSON.parse(key.scopes)).toEqual(['completions.write', 'logs.view']);
        const secret = openSecret(gateway.app.services, key.sealed ?? '');
        expect(JSON.stringify(body)).not.toContain(secret);
        // Known, and as a user key not let in here.
        expect((await gateway.get('/v1/users', { key: secret })).status).toBe(403);
      }
    });

    test('none is made without scopes while the settings do not ask for one', async () => {
      const { token } = await invite(newAddress(), { workspaces: [{ id: place.workspaceId }] });
      expect(await keysOf((await accept(token, newcomer)).body.user_id)).toEqual([]);
    });
  });

  test('acceptance is attributed to the person who joined', async () => {
    const { id, token } = await invite(newAddress(), { workspaces: [{ id: place.workspaceId, role: 'manager' }] });
    const { body } = await accept(token, newcomer);
    const [row] = await auditOf(id, 1);
    expect(row).toMatchObject({ user_id: body.user_id, user_type: 'user', ...invitesAccepted });
    expect(row?.uri).toBe('/v1/invites/****/accept');
    const joined = await storeOf(gateway)
      .db.selectFrom('audit_logs')
      .selectAll()
      .where('resource_id', '=', body.user_id)
      .where('resource_type', '=', 'workspace_user')
      .executeTakeFirstOrThrow();
    expect(JSON.parse(joined.details ?? '')).toMatchObject({ role: 'manager', source: 'invite' });
  });

  test('neither token nor password is found in any reply, in the store or in a log afterwards', async () => {
    const canary = 'canary-Xk3vQ9-password';
    const person = await addPerson(gateway, elsewhere.organisationId, 'member', { password: canary });
    const { id, token } = await invite(person.email);
    const fresh = await invite(newAddress());
    const replies = [
      await look(token),
      await accept(token, { ...newcomer, password: `${canary} wrong` }),
      await accept(token, { password: canary, first_name: 7 }),
      await accept(token, { password: canary }),
      await accept(token, { password: canary }),
      await accept(fresh.token, { ...newcomer, password: canary }),
      await gateway.get(`/v1/users/invites/${id}`),
      await gateway.get('/v1/users/invites?page_size=1000'),
      await gateway.get('/v1/admin/notices'),
    ];
    const { db } = storeOf(gateway);
    const stored = [
      await db.selectFrom('audit_logs').selectAll().execute(),
      await db.selectFrom('invites').selectAll().execute(),
      await db.selectFrom('notices').selectAll().execute(),
      await db.selectFrom('users').selectAll().execute(),
      await db.selectFrom('user_passwords').selectAll().execute(),
    ];
    const everything = JSON.stringify([replies.map((reply) => reply.body), stored, gateway.faults]);
    for (const secret of [token, fresh.token, canary, canary.slice(0, 6)]) expect(everything).not.toContain(secret);
  });
});
