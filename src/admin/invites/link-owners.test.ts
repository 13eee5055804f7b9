/** Accepting an invite with an account that exists: its owner, and an address that nobody has proven. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { onEachEngine, type TestGateway } from '../../../test/harness.ts';
import {
  type InviteLinks,
  invitesAccepted,
  newAddress,
  newcomer,
  password,
  startInviteLinks,
} from '../../../test/invite-links.ts';
import { addPerson, type Home, manyFailures, storeOf, type Tenant } from '../../../test/people.ts';
import { proveAddress } from '../../identity/accounts.ts';

onEachEngine('the link of an invite', (start) => {
  let gateway: TestGateway;
  let place: Home;
  let elsewhere: Tenant;
  let invite: InviteLinks['invite'];
  let look: InviteLinks['look'];
  let accept: InviteLinks['accept'];
  let user: InviteLinks['user'];
  let verify: InviteLinks['verify'];
  let auditOf: InviteLinks['auditOf'];

  beforeAll(async () => {
    ({ gateway, place, elsewhere, invite, look, accept, user, verify, auditOf } = await startInviteLinks(start));
  });

  afterAll(() => gateway.stopWithoutFaults());

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
});
