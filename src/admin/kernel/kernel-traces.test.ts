/** The kernel over HTTP: what a call leaves behind, and what happens to one call too many. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { onEachEngine, type TestGateway } from '../../../test/harness.ts';
import { addOrganisation, type Home, home, type Place } from '../../../test/people.ts';
import { ThingService } from '../../../test/things.ts';

onEachEngine('what a call of the kernel leaves behind', (start) => {
  let service: ThingService;
  let gateway: TestGateway;
  let here: Home;
  let elsewhere: Place & { adminKey: string };

  beforeAll(async () => {
    gateway = await start({ TRUSTED_PROXIES: '127.0.0.1' });
    service = new ThingService(gateway);
    here = await home(gateway);
    elsewhere = await addOrganisation(gateway);
  });
  beforeEach(async () => {
    // Notices of the test before may still be on their way from the server; they come in order, so this one is the last.
    const { store, feed } = gateway.app.services;
    const last = Bun.randomUUIDv7();
    await feed.publish(store.db, [{ topic: 'user', id: last }]);
    while (store.engine === 'postgres' && !service.announced.includes(last)) await Bun.sleep(1);
    service.faults.length = 0;
    service.announced.length = 0;
  });
  afterAll(() => service.stop());

  const ask = (...args: Parameters<ThingService['ask']>) => service.ask(...args);
  const outcome = (...args: Parameters<ThingService['outcome']>) => service.outcome(...args);

  test('a write leaves one audit row with all that was asked', async () => {
    const reply = await ask('POST', '/v1/things?tone=low', {
      body: { name: 'audited', secret: 'canary-secret' },
      headers: { 'x-forwarded-for': '198.51.100.4', 'cf-ipcountry': 'NZ' },
    });
    expect(reply.headers.get('x-thing')).toBe('audited');
    expect(reply.headers.get('cache-control')).toBe('no-store');
    const [row, ...more] = await service.auditRows(reply.headers.get('x-gw-request-id') ?? '');
    expect(more).toEqual([]);
    expect(row).toMatchObject({
      method: 'POST',
      uri: '/v1/things',
      query_params: '{"tone":"low"}',
      user_type: 'api_key',
      organisation_id: here.organisationId,
      workspace_id: null,
      response_status_code: 200,
      resource_type: 'workspace',
      resource_id: 'audited',
      action: 'create',
      client_ip: '198.51.100.4',
      country: 'NZ',
      details: '{"colour":"red"}',
    });
    expect(JSON.stringify(row)).not.toContain('canary-secret');
    expect(JSON.stringify(row)).not.toContain(gateway.adminKey);
  });

  test('a refused write leaves nothing but its audit row', async () => {
    const refused = await ask('POST', '/v1/things', { body: { name: 'refused', ending: 'refuse' } });
    expect([refused.status, refused.code]).toEqual([409, 'AB07']);
    expect(await service.kept('refused')).toBe(false);
    expect(service.announced).toEqual([]);
    const asked: [Parameters<typeof ask>, number][] = [
      [['POST', '/v1/things', { body: { name: '' } }], 400],
      [['POST', '/v1/things', { key: gateway.workspaceKey, body: {} }], 403],
      [['DELETE', '/v1/things/not-an-id'], 404],
    ];
    expect((await service.auditRows(refused.body.request_id))[0]?.response_status_code).toBe(409);
    for (const [args, status] of asked) {
      const reply = await ask(...args);
      expect(reply.headers.get('x-gw-request-id')).toBe(reply.body.request_id);
      expect((await service.auditRows(reply.body.request_id)).map((row) => row.response_status_code)).toEqual([status]);
    }
    const unknown = await ask('POST', '/v1/things', { key: 'unknown', body: {} });
    expect(await service.auditRows(unknown.body.request_id)).toEqual([]);
    const read = await ask('GET', '/v1/things?page_size=0');
    expect(await service.auditRows(read.body.request_id)).toEqual([]);
  });

  test('a write whose audit row cannot be written does not happen', async () => {
    const reply = await ask('POST', '/v1/things', { body: { name: 'spoiled', ending: 'spoil' } });
    expect([reply.status, reply.code]).toEqual([500, 'AB04']);
    expect(await service.kept('spoiled')).toBe(false);
    expect(service.announced).toEqual([]);
  });

  test('change notices go out with the commit', async () => {
    expect(await outcome('POST', '/v1/things', { body: { name: 'noticed' } })).toBe('200 ok');
    expect(await service.kept('noticed')).toBe(true);
    expect(service.announced).toContain(here.organisationId);
  });

  test('with audit logs switched off a write leaves no row', async () => {
    const silent = service.serve({ auditLogs: false });
    const reply = await ask('POST', '/v1/things', { body: { name: 'silent' }, at: silent });
    expect(reply.status).toBe(200);
    expect(await service.auditRows(reply.headers.get('x-gw-request-id') ?? '')).toEqual([]);
    await silent.stop(0);
  });

  test('a fault of ours is 500/AB04, tells nothing of the inside, and reaches the log with its request', async () => {
    for (const asked of [
      await ask('GET', '/v1/fault'),
      await ask('POST', '/v1/things', { body: { name: 'failed', ending: 'fail' } }),
    ]) {
      expect(asked.status).toBe(500);
      expect(asked.body).toEqual({
        success: false,
        data: { message: 'Something went wrong on our side', errorCode: 'AB04' },
        request_id: expect.any(String),
      });
      const { fault, requestId } = service.faults.shift() ?? {};
      expect(String(fault)).toContain('canary of the inside');
      expect(requestId).toBe(asked.body.request_id);
    }
    expect(await service.kept('failed')).toBe(false);
  });

  test('a reply that breaks its promise fails in tests, and nothing is hidden from them', async () => {
    expect((await ask('GET', '/v1/promise')).body).toEqual({ count: 1, extra: 'seen' });
    expect((await ask('GET', '/v1/promise?break=1')).status).toBe(500);
    expect(service.faults).toHaveLength(1);
  });

  test('a forged request with a cookie is refused and recorded', async () => {
    const cookie = `gw_session=${here.owner.session}`;
    expect((await ask('GET', '/v1/things', { key: '', headers: { cookie } })).status).toBe(200);
    const forged = await ask('POST', '/v1/things', { key: '', headers: { cookie }, body: { name: 'forged' } });
    expect([forged.status, forged.code]).toEqual([403, 'AB03']);
    expect(await service.kept('forged')).toBe(false);
    const [row] = await service.auditRows(forged.body.request_id);
    expect(row).toMatchObject({ user_id: here.owner.userId, response_status_code: 403 });
  });

  test('too many calls of one credential are 429/AB06 until the minute is over', async () => {
    const limited = service.serve({ adminRateLimit: 3 });
    const key = (await addOrganisation(gateway)).adminKey;
    for (let i = 0; i < 3; i++) expect(await outcome('GET', '/v1/things', { key, at: limited })).toBe('200 ok');
    const refused = await ask('GET', '/v1/things', { key, at: limited });
    expect([refused.status, refused.code]).toEqual([429, 'AB06']);
    const wait = Number(refused.headers.get('retry-after'));
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(60);
    expect(await outcome('GET', '/v1/things', { key: elsewhere.adminKey, at: limited })).toBe('200 ok');
    gateway.clock.advance({ seconds: wait + 1 });
    expect(await outcome('GET', '/v1/things', { key, at: limited })).toBe('200 ok');
    await limited.stop(0);
  });

  test('callers without a good credential are limited by their address', async () => {
    const limited = service.serve({ adminRateLimit: 2 });
    const from = (ip: string, key: string) =>
      outcome('GET', '/v1/things', { key, at: limited, headers: { 'x-forwarded-for': ip } });
    expect(await from('198.51.100.1', '')).toBe('401 AB05');
    expect(await from('198.51.100.1', 'guess')).toBe('401 AB05');
    expect(await from('198.51.100.1', 'guess again')).toBe('429 AB06');
    expect(await from('198.51.100.2', '')).toBe('401 AB05');
    await limited.stop(0);
  });

  test('sensitive routes have a limit of their own', async () => {
    const limited = service.serve({ sensitiveRateLimit: 2 });
    const guess = () => outcome('POST', '/v1/guess', { key: '', at: limited });
    expect([await guess(), await guess(), await guess()]).toEqual(['200 ok', '200 ok', '429 AB06']);
    expect(await outcome('GET', '/v1/promise', { key: '', at: limited })).toBe('200 ok');
    await limited.stop(0);
  });
});
