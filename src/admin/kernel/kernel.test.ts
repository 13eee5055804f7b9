/** The kernel over HTTP: paths, the order of checks, the locks, input and pages. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { connect } from 'node:net';
import { onEachEngine, type TestGateway } from '../../../test/harness.ts';
import { addKey, addOrganisation, addPerson, addWorkspace, type Home, home, type Place } from '../../../test/people.ts';
import { ThingService } from '../../../test/things.ts';

onEachEngine('what the kernel lets through', (start) => {
  let service: ThingService;
  let gateway: TestGateway;
  let here: Home;
  let elsewhere: Place & { adminKey: string };
  let lab: { id: string; slug: string };

  beforeAll(async () => {
    gateway = await start({ TRUSTED_PROXIES: '127.0.0.1' });
    service = new ThingService(gateway);
    here = await home(gateway);
    elsewhere = await addOrganisation(gateway);
    lab = await addWorkspace(gateway, here.organisationId, 'Lab');
  });
  beforeEach(() => {
    service.faults.length = 0;
    service.announced.length = 0;
  });
  afterAll(() => service.stop());

  const ask = (...args: Parameters<ThingService['ask']>) => service.ask(...args);
  const outcome = (...args: Parameters<ThingService['outcome']>) => service.outcome(...args);

  test('both versions, aliases and a trailing slash lead to the endpoint; other spellings do not', async () => {
    for (const path of ['/v1/things', '/v2/things', '/v1/things/', '/v2/admin/things', '/v1/things?page=0']) {
      expect([path, await outcome('GET', path)]).toEqual([path, '200 ok']);
    }
    for (const path of ['/v1/Things', '/V1/things', '/v1/things/x/y', '/v1/things//', '/v1']) {
      expect([path, (await ask('GET', path)).status]).toEqual([path, 404]);
    }
    expect((await ask('GET', '/v3/things')).status).toBe(404);
  });

  test('a method that a path does not have is 405/AB02 and tells which it has', async () => {
    const reply = await ask('PATCH', '/v1/things');
    expect([reply.status, reply.code]).toEqual([405, 'AB02']);
    expect(reply.body.data.message).toContain('GET, HEAD, POST');
  });

  test('a removed route and an unknown one below identity are 404/AB02 for everyone, and never sent to a provider', async () => {
    const paths = [
      '/users/firebase-custom-token',
      '/utils/oidc-client-id',
      '/utils/oidc-client-id/',
      '/auth/custom-token',
      '/api-keys/a/b/c',
      '/admin/nothing',
      '/workspaces/a/nothing',
    ];
    const toProvider = { 'x-gw-provider': '@sandbox' };
    for (const path of paths.flatMap((below) => [`/v1${below}`, `/v2${below}`])) {
      for (const [method, key] of [
        ['GET', gateway.workspaceKey],
        ['POST', gateway.adminKey],
        ['POST', ''],
      ] as const) {
        const { status, body } = await gateway.ask(method, path, { key, headers: toProvider });
        expect([method, path, status, body.data?.errorCode]).toEqual([method, path, 404, 'AB02']);
      }
    }
  });

  test('HEAD answers as GET does, without a body', async () => {
    const reply = await fetch(`${service.listener.url}/v1/things`, { method: 'HEAD' });
    expect([reply.status, await reply.text()]).toEqual([401, '']);
    expect((await fetch(`${service.listener.url}/v1/things/x/y`, { method: 'HEAD' })).status).toBe(404);
  });

  test('HTTP/1.0 needs no Host, and a Host that is none is refused with 400', async () => {
    expect(await raw(service.listener.port, ['GET /v1/things HTTP/1.0', '', ''])).toStartWith('HTTP/1.1 401');
    for (const host of ['a b<>', '[::', 'x/../y', 'a:99999']) {
      const answer = await raw(service.listener.port, ['GET /v1/things HTTP/1.1', `host: ${host}`, '', '']);
      expect([host, answer.slice(0, 12)]).toEqual([host, 'HTTP/1.1 400']);
    }
  });

  test('401 comes before 403, and 403 before 400', async () => {
    const body = '{ not json';
    const reader = await addKey(gateway, {
      organisationId: here.organisationId,
      type: 'organisation-service',
      scopes: ['organisation_settings.read'],
    });
    expect(await outcome('POST', '/v1/things', { key: '', body })).toBe('401 AB05');
    expect(await outcome('POST', '/v1/things', { key: 'unknown', body })).toBe('401 AB05');
    expect(await outcome('POST', '/v1/things', { key: gateway.workspaceKey, body })).toBe('403 AB03');
    expect(await outcome('POST', '/v1/things', { key: reader.secret, body })).toBe('403 AB03');
    expect(await outcome('POST', '/v1/things', { body })).toBe('400 AB01');
    const organisation_id = elsewhere.organisationId;
    expect(await outcome('POST', '/v1/things', { body: { organisation_id } })).toBe('403 AB03');
    expect(await outcome('POST', '/v1/shelf', { key: gateway.workspaceKey, body: { workspace_id: lab.id } })).toBe(
      '403 AB03',
    );
  });

  test('the workspace of the call is the one named, by id or slug, in path, query or body', async () => {
    const found = async (...args: Parameters<typeof ask>) => (await ask(...args)).body.id;
    expect(await found('GET', '/v1/shelf')).toBeNull();
    for (const name of [lab.id, lab.slug]) {
      expect(await found('GET', `/v1/shelf?workspace_id=${name}`)).toBe(lab.id);
      expect(await found('GET', `/v1/shelf/${name}/book`)).toBe(lab.id);
      const writer = await addPerson(gateway, here.organisationId, 'member', { workspaces: { [lab.id]: 'admin' } });
      const body = { title: 'a', workspace_id: name };
      expect(await found('POST', '/v1/shelf', { key: writer.session, body })).toBe(lab.id);
    }
  });

  test('a workspace key stays in its workspace', async () => {
    const key = gateway.workspaceKey;
    expect((await ask('GET', '/v1/shelf', { key })).body.id).toBe(here.workspaceId);
    expect(await outcome('GET', `/v1/shelf?workspace_id=${here.workspaceId}`, { key })).toBe('200 ok');
    for (const name of [lab.id, lab.slug, elsewhere.workspaceId, 'ws-nowhere']) {
      expect(await outcome('GET', `/v1/shelf?workspace_id=${name}`, { key })).toBe('403 AB03');
      expect(await outcome('GET', `/v1/shelf/${name}/book`, { key })).toBe('403 AB03');
      expect(await outcome('POST', '/v1/shelf', { key, body: { title: 'a', workspace_id: name } })).toBe('403 AB03');
    }
  });

  test('a parameter that is given twice counts once, the same for the lock and for the endpoint', async () => {
    const query = `?workspace_id=${here.workspaceId}&workspace_id=${lab.id}`;
    const reply = await ask('GET', `/v1/shelf${query}`, { key: gateway.workspaceKey });
    expect(reply.body).toEqual({ id: here.workspaceId, asked: here.workspaceId });
  });

  test('a workspace that does not exist for the caller is 404; one without the scope there is 403', async () => {
    for (const name of [elsewhere.workspaceId, Bun.randomUUIDv7(), 'ws-nowhere']) {
      expect(await outcome('GET', `/v1/shelf?workspace_id=${name}`)).toBe('404 AB08');
    }
    const person = await addPerson(gateway, here.organisationId, 'member', { workspaces: { [lab.id]: 'member' } });
    const key = person.session;
    expect(await outcome('GET', `/v1/shelf?workspace_id=${lab.id}`, { key })).toBe('200 ok');
    expect(await outcome('GET', `/v1/shelf?workspace_id=${here.workspaceId}`, { key })).toBe('403 AB03');
    expect(await outcome('POST', '/v1/shelf', { key, body: { title: 'a', workspace_id: lab.id } })).toBe('403 AB03');
  });

  test('naming another organisation is refused wherever it is named, naming the own one is not', async () => {
    const own = here.organisationId;
    const other = elsewhere.organisationId;
    const name = (header: string, query: string, body: string) =>
      outcome('POST', `/v1/things?organisation_id=${query}`, {
        body: { name: Bun.randomUUIDv7().slice(-12), organisation_id: body },
        headers: { 'x-gw-organisation-id': header },
      });
    expect(await name(own, own, own)).toBe('200 ok');
    expect(await name(other, own, own)).toBe('403 AB03');
    expect(await name(own, other, own)).toBe('403 AB03');
    expect(await name(own, own, other)).toBe('403 AB03');
  });

  test('a body over the limit is refused while it is still on its way', async () => {
    const declared = await raw(service.listener.port, [
      'POST /v1/things HTTP/1.1',
      'host: gw.test',
      `x-gw-api-key: ${gateway.adminKey}`,
      'content-type: application/json',
      'content-length: 50000000',
      '',
      '{"name":"',
    ]);
    expect(declared).toStartWith('HTTP/1.1 413');
    const chunk = new TextEncoder().encode('x'.repeat(65_536));
    let sent = 0;
    const endless = new ReadableStream({
      pull(controller) {
        sent += chunk.byteLength;
        controller.enqueue(chunk);
      },
    });
    const response = await fetch(`${service.listener.url}/v1/things`, {
      method: 'POST',
      headers: { 'x-gw-api-key': gateway.adminKey, 'content-type': 'application/json' },
      body: endless,
    });
    expect(response.status).toBe(413);
    expect(sent).toBeLessThan(50_000_000);
    expect(await outcome('POST', '/v1/things', { body: { name: 'x'.repeat(1_100_000) } })).toBe('413 AB01');
  });

  test('another media type is 415, broken JSON 400, and a missing body says so', async () => {
    expect(await outcome('POST', '/v1/things', { body: 'name=x', headers: { 'content-type': 'text/plain' } })).toBe(
      '415 AB01',
    );
    expect(await outcome('POST', '/v1/things', { body: '{"name":' })).toBe('400 AB01');
    const missing = await ask('POST', '/v1/things');
    expect(missing.status).toBe(400);
    expect(missing.body.data.message).toBe('Send a JSON object as the body');
    for (const body of ['[]', '7', 'null', '"text"'])
      expect(await outcome('POST', '/v1/things', { body })).toBe('400 AB01');
    expect(await outcome('POST', '/v1/things', { body: '['.repeat(100_000) + ']'.repeat(100_000) })).toBe('400 AB01');
    expect(await outcome('POST', '/v1/things', { body: { name: 'a\0b' } })).toBe('400 AB01');
    expect(await outcome('GET', '/v1/shelf?workspace_id=%00')).toBe('400 AB01');
  });

  test('wrong fields are named, each with its own fault', async () => {
    const reply = await ask('POST', '/v1/things', { body: { name: 5, ending: 'sing', unknown: true } });
    expect(reply.body).toMatchObject({ success: false, request_id: expect.any(String) });
    const [name, ending] = reply.body.data.errors;
    expect(name).toMatchObject({ location: 'body', path: 'name' });
    expect(name.message).not.toBe('is required');
    expect(ending.path).toBe('ending');
    const missing = await ask('POST', '/v1/things', { body: {} });
    expect(missing.body.data.message).toBe('name: is required');
  });

  test('an id in the path that cannot be one is 404/AB02; a body may come with DELETE and need not', async () => {
    expect(await outcome('DELETE', '/v1/things/not-an-id')).toBe('404 AB02');
    const id = Bun.randomUUIDv7();
    expect((await ask('DELETE', `/v1/things/${id}`)).body).toEqual({ thingId: id });
    expect((await ask('DELETE', `/v1/things/${id}`, { body: { force: true } })).body).toEqual({
      thingId: id,
      force: true,
    });
  });

  test('pages are asked for in every spelling, and sizes are clamped', async () => {
    const page = async (query: string) => (await ask('GET', `/v1/things?${query}`)).body;
    expect(await page('')).toEqual({ index: 0, size: 10, offset: 0 });
    const spellings = ['current_page=2&page_size=5', 'currentPage=2&pageSize=5', 'page=2&page_size=5'];
    for (const query of spellings) expect(await page(query)).toEqual({ index: 2, size: 5, offset: 10 });
    expect(await page('page_size=1000')).toEqual({ index: 0, size: 20, offset: 0 });
    const wrong = ['page_size=0', 'page_size=-1', 'page_size=1.5', 'pageSize=x', 'page_size=', 'current_page=-1'];
    for (const query of [...wrong, 'page=1e99', 'page=9999999']) {
      const reply = await ask('GET', `/v1/things?${query}`);
      expect([query, reply.status, reply.code]).toEqual([query, 400, 'AB01']);
      expect(reply.body.data.errors[0]).toMatchObject({ location: 'query', path: query.split('=')[0] });
    }
    expect((await ask('GET', '/v1/counted-things?page_size=0')).body.size).toBe(0);
  });

  test('the client’s address and scheme come from a named proxy', async () => {
    const headers = { 'x-forwarded-for': '198.51.100.9', 'x-forwarded-proto': 'https,http', host: 'gw.test' };
    const { body } = await ask('POST', '/v1/guess', { key: '', headers });
    expect(body.ip).toBe('198.51.100.9');
    expect(body.origin).toStartWith('https://');
  });
});

/** Sends these lines, keeps the connection open, and answers with the first that comes back. */
function raw(port: number, lines: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(lines.join('\r\n')));
    socket.once('data', (data) => {
      resolve(data.toString());
      socket.destroy();
    });
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('closed without an answer')));
  });
}
