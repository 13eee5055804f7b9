/** Rotation by hand and revealing: two secrets at most, each exactly as long as it should live. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { onEachEngine, type TestGateway } from '../../../test/harness.ts';
import { addKey, addTeam, type Home, home, type Person, signIn } from '../../../test/people.ts';
import { shortestTransitionMs } from '../../identity/rotation.ts';
import { grantableTo } from '../../identity/scopes.ts';
import { autoCreateUserKey } from './auto-create.ts';

onEachEngine('rotating API keys', (start) => {
  let gateway: TestGateway;
  let place: Home;
  let manager: Person;
  let member: Person;
  let workspaceAdmin: Person;

  beforeAll(async () => {
    gateway = await start();
    place = await home(gateway);
    ({ admin: workspaceAdmin, manager, member } = await addTeam(gateway, place));
  });
  afterAll(() => gateway.stopWithoutFaults());

  const session = (person: Person) => signIn(gateway, place.organisationId, person.userId);
  const service = () => addKey(gateway, { ...place, type: 'workspace-service', scopes: grantableTo('S') });
  const userKey = (person: Person) =>
    addKey(gateway, {
      ...place,
      type: 'workspace-user',
      userId: person.userId,
      scopes: ['completions.write', 'configs.list'],
    });
  const rotate = (id: string, body?: unknown, key = gateway.adminKey) =>
    gateway.post(`/v1/api-keys/${id}/rotate`, body, { key });
  const reveal = (id: string, key: string) => gateway.post(`/v1/api-keys/${id}/reveal`, undefined, { key });
  /** What the service says to a caller with this secret. */
  const greeting = async (key: string) => (await gateway.get('/v1/api-keys', { key })).status;

  describe('by hand', () => {
    test('both secrets count during the transition, then only the new one, without any job', async () => {
      const { id, secret } = await service();
      expect(await greeting(secret)).toBe(200);
      const { status, body } = await rotate(id);
      expect(status).toBe(200);
      expect(body).toEqual({
        object: 'api-key',
        id,
        key: expect.any(String),
        key_transition_expires_at: expect.any(String),
      });
      expect(body.key).not.toBe(secret);
      const lasts = Date.parse(body.key_transition_expires_at) - gateway.clock.now().getTime();
      expect(Math.abs(lasts - shortestTransitionMs)).toBeLessThan(30_000);
      expect(await greeting(secret)).toBe(200);
      expect(await greeting(body.key)).toBe(200);
      const record = (await gateway.get(`/v1/api-keys/${id}`)).body;
      expect(record.key_transition_expires_at).toBe(body.key_transition_expires_at);
      expect(record.last_rotated_at).not.toBeNull();
      expect(record.key).toBe(`${body.key.slice(0, 2)}*******${body.key.slice(-2)}`);
      gateway.clock.advance({ minutes: 31 });
      const refused = await gateway.get('/v1/api-keys', { key: secret });
      expect([refused.status, refused.body.data.errorCode]).toEqual([401, 'AB05']);
      expect(await greeting(body.key)).toBe(200);
      expect((await gateway.get(`/v1/api-keys/${id}`)).body.key_transition_expires_at).toBeNull();
    });

    test('a third secret is refused while two are alive', async () => {
      const { id, secret } = await service();
      const first = await rotate(id);
      const second = await rotate(id);
      expect([second.status, second.body.data.errorCode]).toEqual([409, 'AB07']);
      expect(await greeting(secret)).toBe(200);
      gateway.clock.advance({ minutes: 31 });
      const third = await rotate(id);
      expect(third.status).toBe(200);
      expect([await greeting(secret), await greeting(first.body.key), await greeting(third.body.key)]).toEqual([
        401, 200, 200,
      ]);
    });

    test('two rotations at once make one new secret', async () => {
      const { id } = await service();
      const replies = await Promise.all([rotate(id), rotate(id), rotate(id)]);
      expect(replies.map((reply) => reply.status).sort()).toEqual([200, 409, 409]);
    });

    test('the transition comes from the body, else from the policy, and is bounded by both', async () => {
      const { id } = await service();
      const policy = { rotation_period_days: 1, key_transition_period_ms: 7_200_000 };
      const { body: before } = await gateway.put(`/v1/api-keys/${id}`, { rotation_policy: policy });
      expect((await rotate(id, { key_transition_period_ms: shortestTransitionMs - 1 })).status).toBe(400);
      expect((await rotate(id, { key_transition_period_ms: 86_400_000 })).status).toBe(400);
      expect((await rotate(id, { key_transition_period_ms: '1h' })).status).toBe(400);
      gateway.clock.advance({ days: 1 });
      const { body } = await rotate(id, {});
      const lasts = Date.parse(body.key_transition_expires_at) - gateway.clock.now().getTime();
      expect(Math.abs(lasts - 7_200_000)).toBeLessThan(30_000);
      const after = (await gateway.get(`/v1/api-keys/${id}`)).body.rotation_policy;
      expect(after.next_rotation_at > before.rotation_policy.next_rotation_at).toBe(true);
    });

    test('usage, limits and id stay', async () => {
      const { id } = await service();
      const usage_limits = { credit_limit: 10 };
      const { body: before } = await gateway.put(`/v1/api-keys/${id}`, { usage_limits });
      await rotate(id);
      const { body: after } = await gateway.get(`/v1/api-keys/${id}`);
      expect(after).toMatchObject({ id, usage_limits: before.usage_limits, scopes: before.scopes, status: 'active' });
    });

    test('an expired key is not rotated', async () => {
      const { id } = await service();
      const expires_at = new Date(gateway.clock.now().getTime() + 60_000).toISOString();
      await gateway.put(`/v1/api-keys/${id}`, { expires_at });
      gateway.clock.advance({ minutes: 2 });
      expect((await rotate(id)).status).toBe(400);
      await gateway.app.jobs.runOnce('key-expiry');
      expect((await rotate(id)).status).toBe(400);
    });

    test('managers rotate every key of the workspace, members their own', async () => {
      const own = await userKey(member);
      const foreign = await userKey(manager);
      const shared = await service();
      expect((await rotate(own.id, {}, await session(member))).status).toBe(200);
      expect((await rotate(foreign.id, {}, await session(member))).status).toBe(403);
      expect((await rotate(shared.id, {}, await session(member))).status).toBe(403);
      expect((await rotate(foreign.id, {}, await session(manager))).status).toBe(200);
      expect((await rotate(shared.id, {}, await session(manager))).status).toBe(200);
      expect((await rotate(own.id, {}, own.secret)).status).toBe(403);
      expect((await rotate(own.id, {}, '')).status).toBe(401);
    });

    test('leaves an audit row that tells what happened, and sends no mail', async () => {
      const { id, secret } = await addKey(gateway, {
        ...place,
        type: 'workspace-service',
        scopes: grantableTo('S'),
        alertEmails: ['watch@example.com'],
      });
      const { body } = await rotate(id);
      await gateway.app.jobs.runOnce('key-rotation');
      const { db } = gateway.app.services.store;
      const row = await db.selectFrom('audit_logs').selectAll().where('resource_id', '=', id).executeTakeFirstOrThrow();
      expect(row).toMatchObject({ action: 'rotate', resource_type: 'api_key', workspace_id: place.workspaceId });
      expect(JSON.parse(row.details ?? '')).toEqual({
        api_key_id: id,
        rotation_mode: 'manual',
        old_key_masked: `${secret.slice(0, 2)}*******${secret.slice(-2)}`,
        transition_expires_at: body.key_transition_expires_at,
      });
      expect(JSON.stringify(row)).not.toContain(body.key);
      const notices = await db.selectFrom('notices').select('recipients').execute();
      expect(notices.filter((notice) => notice.recipients.includes('watch@example.com'))).toEqual([]);
    });
  });

  describe('revealing', () => {
    const joined = async (person: Person) => {
      const { store } = gateway.app.services;
      const changes = await store.atomically((tx) =>
        autoCreateUserKey(tx, gateway.app.services, gateway.clock.now(), {
          ...place,
          userId: person.userId,
          scopes: ['workspaces.read'],
        }),
      );
      return changes[0]?.id ?? '';
    };
    const rotatedByItself = async () => {
      const { id, secret } = await service();
      const policy = { rotation_period_days: 1, key_transition_period_ms: 10 * 3_600_000 };
      await gateway.put(`/v1/api-keys/${id}`, { rotation_policy: policy });
      gateway.clock.advance({ days: 1 });
      await gateway.app.jobs.runOnce('key-rotation');
      return { id, secret };
    };

    test('the owner of an auto-created key reads its secret once', async () => {
      const id = await joined(member);
      const { status, body } = await reveal(id, await session(member));
      expect(status).toBe(200);
      expect(body).toEqual({ object: 'api-key', id, key: expect.any(String) });
      expect((await gateway.get(`/v1/workspaces/${place.workspaceId}`, { key: body.key })).status).toBe(200);
      const again = await reveal(id, await session(member));
      expect([again.status, again.body.data.errorCode]).toEqual([409, 'AB07']);
      const { db } = gateway.app.services.store;
      const rows = await db
        .selectFrom('audit_logs')
        .selectAll()
        .where('resource_id', '=', id)
        .where('action', '=', 'export')
        .where('response_status_code', '=', 200)
        .execute();
      expect(rows).toHaveLength(1);
      expect(JSON.stringify(rows)).not.toContain(body.key);
    });

    test('nobody reads the user key of another, not even the owner of the organisation', async () => {
      const id = await joined(member);
      for (const person of [place.owner, workspaceAdmin, manager]) {
        expect((await reveal(id, await session(person))).status).toBe(403);
      }
      for (const key of [gateway.adminKey, gateway.workspaceKey]) expect((await reveal(id, key)).status).toBe(403);
      expect((await reveal(id, '')).status).toBe(401);
      expect((await reveal(Bun.randomUUIDv7(), await session(member))).status).toBe(404);
    });

    test('administrators read a service key that rotated by itself, until the transition ends', async () => {
      const { id, secret } = await rotatedByItself();
      expect((await reveal(id, await session(manager))).status).toBe(403);
      expect((await reveal(id, await session(member))).status).toBe(403);
      const { body } = await reveal(id, await session(workspaceAdmin));
      expect([await greeting(secret), await greeting(body.key)]).toEqual([200, 200]);
      expect((await reveal(id, await session(place.owner))).status).toBe(409);

      const late = await rotatedByItself();
      gateway.clock.advance({ hours: 11 });
      expect((await reveal(late.id, await session(place.owner))).status).toBe(409);
    });

    test('a secret that was seen when it was made does not wait', async () => {
      const { id } = await service();
      expect((await reveal(id, await session(place.owner))).status).toBe(409);
      await rotate(id);
      expect((await reveal(id, await session(place.owner))).status).toBe(409);
    });
  });
});
