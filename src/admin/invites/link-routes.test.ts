/** Accepting an invite, as the answers of the routes that its link leads to. */
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
import { addPerson, addWorkspace, archiveWorkspace, type Home, storeOf, type Tenant } from '../../../test/people.ts';
import { proveAddress } from '../../identity/accounts.ts';
import { openSecret } from '../api-keys/events.ts';

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
