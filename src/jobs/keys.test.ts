/** Expiry and rotation by themselves: what happens to the key, who is told, and what the trail keeps. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { onEachEngine, type TestGateway } from '../../test/harness.ts';
import { addKey, addPerson, type Home, home, type Person } from '../../test/people.ts';
import { mintKey, type NewKey } from '../admin/api-keys/mint.ts';
import { openFields } from '../admin/notices/outbox.ts';
import { type RotationPolicy, shortestTransitionMs } from '../identity/rotation.ts';
import { grantableTo } from '../identity/scopes.ts';
import { decode } from '../store/json.ts';

const hourMs = 3_600_000;

onEachEngine('keys by themselves', (start) => {
  let gateway: TestGateway;
  let place: Home;
  let admin: Person;
  let member: Person;

  beforeAll(async () => {
    gateway = await start();
    gateway.clock.moveTo('2031-05-07T12:00:00.000Z'); // a Wednesday
    place = await home(gateway);
    const { organisationId, workspaceId } = place;
    admin = await addPerson(gateway, organisationId, 'admin');
    member = await addPerson(gateway, organisationId, 'member', { workspaces: { [workspaceId]: 'member' } });
  });
  afterAll(() => gateway.stopWithoutFaults());
  beforeEach(async () => {
    await db().deleteFrom('notices').execute();
    await db().updateTable('api_keys').set({ rotation_policy: null, next_rotation_at: null }).execute();
  });

  const db = () => gateway.app.services.store.db;
  const ahead = (ms: number) => new Date(gateway.clock.now().getTime() + ms).toISOString();
  const service = (more: Partial<NewKey> = {}) =>
    addKey(gateway, { ...place, type: 'workspace-service', scopes: grantableTo('S'), ...more });
  const record = async (id: string) => (await gateway.get(`/v1/api-keys/${id}`)).body;
  const greeting = async (key: string) => (await gateway.get('/v1/api-keys', { key })).status;
  const run = (job: string) => gateway.app.jobs.runOnce(job);
  const notices = async () =>
    (await db().selectFrom('notices').selectAll().orderBy('id').execute()).map((row) => ({
      template: row.template,
      recipients: decode(row.recipients).sort(),
      fields: openFields(gateway.app.services.vault, row.fields_sealed),
    }));
  const templates = async () => (await notices()).map((notice) => notice.template);
  const events = async (id: string, action: string) =>
    (
      await db()
        .selectFrom('audit_logs')
        .selectAll()
        .where('resource_id', '=', id)
        .where('action', '=', action)
        .execute()
    ).map((row) => ({ by: row.user_type, details: JSON.parse(row.details ?? '{}') }));
  const policy = (more: Partial<RotationPolicy> = {}): RotationPolicy => ({
    rotation_period: null,
    rotation_period_days: 10,
    next_rotation_at: ahead(-1000),
    key_transition_period_ms: 48 * hourMs,
    ...more,
  });

  describe('expiry', () => {
    test('a key past its expiry is refused at once, and the job marks it and tells', async () => {
      const expiresAt = ahead(hourMs);
      const { id, secret } = await service({ expiresAt, alertEmails: ['ops@example.com'], createdBy: member.userId });
      const later = await service({ expiresAt: ahead(5000 * hourMs) });
      expect(await greeting(secret)).toBe(200);
      gateway.clock.advance({ hours: 2 });
      expect(await greeting(secret)).toBe(401);
      await run('key-expiry');
      expect((await record(id)).status).toBe('expired');
      expect((await record(later.id)).status).toBe('active');
      expect(await greeting(secret)).toBe(401);
      expect(await notices()).toEqual([
        {
          template: 'apikey-expired-alert',
          recipients: [admin.email, member.email, 'ops@example.com', place.owner.email].sort(),
          fields: {
            userName: expect.stringContaining('Ada'),
            apiKeyType: 'workspace-service',
            apiKey: `${secret.slice(0, 2)}*******${secret.slice(-2)}`,
            organisationName: 'My organisation',
          },
        },
      ]);
      expect(await events(id, 'expire')).toEqual([{ by: 'system', details: { expires_at: expiresAt } }]);
      await run('key-expiry');
      expect(await notices()).toHaveLength(1);
    });

    test('an exhausted key expires too, a deleted one does not', async () => {
      const exhausted = await service({ expiresAt: ahead(hourMs) });
      await db().updateTable('api_keys').set({ status: 'exhausted' }).where('id', '=', exhausted.id).execute();
      const deleted = await service({ expiresAt: ahead(hourMs) });
      await gateway.delete(`/v1/api-keys/${deleted.id}`);
      gateway.clock.advance({ hours: 2 });
      await run('key-expiry');
      expect((await record(exhausted.id)).status).toBe('expired');
      expect(await notices()).toHaveLength(1);
    });

    test('more keys than one batch holds expire in one run', async () => {
      const expiresAt = ahead(hourMs);
      const many: NewKey = {
        ...place,
        userId: null,
        type: 'workspace-service',
        name: 'Many',
        scopes: ['completions.write'],
        creationMode: 'api',
        createdBy: null,
        expiresAt,
      };
      await gateway.app.services.store.atomically(async (tx) => {
        for (let i = 0; i < 501; i++) await mintKey(tx, gateway.clock.now(), many, { prefix: '' });
      });
      gateway.clock.advance({ hours: 2 });
      await run('key-expiry');
      expect(await notices()).toHaveLength(501);
      const left = await db()
        .selectFrom('api_keys')
        .select('id')
        .where('name', '=', 'Many')
        .where('status', '!=', 'expired')
        .execute();
      expect(left).toEqual([]);
    });
  });

  describe('rotation', () => {
    test('a due key gets a sealed secret, the old one lives through the transition, and everybody is told', async () => {
      const { id, secret } = await addKey(gateway, {
        ...place,
        type: 'workspace-user',
        userId: member.userId,
        name: 'Mine',
        scopes: ['workspaces.read'],
        alertEmails: ['ops@example.com'],
        rotationPolicy: policy(),
      });
      const works = async (key: string) => (await gateway.get(`/v1/workspaces/${place.workspaceId}`, { key })).status;
      expect(await works(secret)).toBe(200);
      await run('key-rotation');
      const rotated = await record(id);
      expect(rotated.rotation_policy.next_rotation_at).toBe(`${ahead(240 * hourMs).slice(0, 10)}T00:00:00.000Z`);
      expect(rotated.last_rotated_at).not.toBeNull();
      expect(rotated.key).not.toBe(`${secret.slice(0, 2)}*******${secret.slice(-2)}`);
      expect(await works(secret)).toBe(200);
      expect(await notices()).toEqual([
        {
          template: 'apikey-rotation-completed',
          recipients: [admin.email, member.email, 'ops@example.com', place.owner.email].sort(),
          fields: {
            keyName: 'Mine',
            apiKey: rotated.key,
            organisationName: 'My organisation',
            oldKeyEndsAt: rotated.key_transition_expires_at,
            link: `/api-keys?key=${id}`,
          },
        },
      ]);
      expect(await events(id, 'rotate')).toEqual([
        {
          by: 'system',
          details: {
            api_key_id: id,
            rotation_mode: 'auto',
            old_key_masked: `${secret.slice(0, 2)}*******${secret.slice(-2)}`,
            transition_expires_at: rotated.key_transition_expires_at,
          },
        },
      ]);
      await run('key-rotation');
      expect(await templates()).toEqual(['apikey-rotation-completed']);

      gateway.clock.advance({ hours: 25 });
      await run('key-rotation');
      await run('key-rotation');
      expect(await templates()).toEqual(['apikey-rotation-completed', 'apikey-rotation-old-secret-ending']);
      expect((await notices())[1]?.fields).toMatchObject({ endsAt: rotated.key_transition_expires_at });

      gateway.clock.advance({ hours: 24 });
      expect(await works(secret)).toBe(401);
      await run('key-rotation');
      const secrets = await db().selectFrom('api_key_secrets').selectAll().where('api_key_id', '=', id).execute();
      expect(secrets.map((row) => [row.status, row.sealed]).sort()).toEqual([
        ['ACTIVE', null],
        ['EXPIRED', null],
      ]);
      expect(await works(secret)).toBe(401);
    });

    test('a rotation is announced a day ahead, once for each date', async () => {
      const { id } = await service({ name: 'Soon', rotationPolicy: policy({ next_rotation_at: ahead(30 * hourMs) }) });
      await run('key-rotation');
      expect(await templates()).toEqual([]);
      gateway.clock.advance({ hours: 10 });
      await run('key-rotation');
      await run('key-rotation');
      expect(await templates()).toEqual(['apikey-rotation-upcoming']);
      expect((await notices())[0]?.fields).toMatchObject({ keyName: 'Soon' });
      const next_rotation_at = ahead(22 * hourMs);
      await db().updateTable('api_keys').set({ next_rotation_at }).where('id', '=', id).execute();
      await run('key-rotation');
      expect(await templates()).toEqual(['apikey-rotation-upcoming', 'apikey-rotation-upcoming']);
    });

    test('a short transition is warned about in the run that began it', async () => {
      await service({ rotationPolicy: policy({ key_transition_period_ms: shortestTransitionMs }) });
      await run('key-rotation');
      expect(await templates()).toEqual(['apikey-rotation-completed', 'apikey-rotation-old-secret-ending']);
    });

    test('a key in transition waits; the run in which it ends rotates it', async () => {
      const { id, secret } = await service();
      const manual = await gateway.post(`/v1/api-keys/${id}/rotate`, { key_transition_period_ms: hourMs });
      await db()
        .updateTable('api_keys')
        .set({ rotation_policy: JSON.stringify(policy()), next_rotation_at: ahead(-1000) })
        .where('id', '=', id)
        .execute();
      await run('key-rotation');
      expect(await events(id, 'rotate')).toHaveLength(1);
      expect([await greeting(secret), await greeting(manual.body.key)]).toEqual([200, 200]);
      gateway.clock.advance({ hours: 2 });
      await run('key-rotation');
      expect(await events(id, 'rotate')).toHaveLength(2);
      expect([await greeting(secret), await greeting(manual.body.key)]).toEqual([401, 200]);
    });

    test('a single date rotates once', async () => {
      const { id } = await service({ rotationPolicy: policy({ rotation_period_days: null }) });
      await run('key-rotation');
      expect((await record(id)).rotation_policy).toMatchObject({ next_rotation_at: null });
      gateway.clock.advance({ days: 60 });
      await run('key-rotation');
      expect(await events(id, 'rotate')).toHaveLength(1);
    });

    test('expired and deleted keys are left alone', async () => {
      const expired = await service({
        expiresAt: ahead(hourMs),
        rotationPolicy: policy({ next_rotation_at: ahead(2 * hourMs) }),
      });
      const deleted = await service({ rotationPolicy: policy() });
      await gateway.delete(`/v1/api-keys/${deleted.id}`);
      gateway.clock.advance({ hours: 3 });
      await run('key-rotation');
      for (const { id } of [expired, deleted]) expect(await events(id, 'rotate')).toEqual([]);
    });
  });
});
