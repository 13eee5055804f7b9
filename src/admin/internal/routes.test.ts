/** What parts of the service ask each other, over HTTP. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { onEachEngine, startGateway, type TestGateway } from '../../../test/harness.ts';
import { addKey, addPerson, type Home, home } from '../../../test/people.ts';
import { digestOf } from '../../identity/secrets.ts';

const path = '/v1/internal/api-keys/details';
const serviceToken = 'a-service-token-of-at-least-32-characters';

onEachEngine('details of keys', (start) => {
  let gateway: TestGateway;
  let here: Home;
  beforeAll(async () => {
    gateway = await start({ GW_CLIENT_AUTH: serviceToken });
    here = await home(gateway);
  });
  afterAll(() => gateway.stopWithoutFaults());

  const ask = (body: unknown, token: string | null = serviceToken) =>
    gateway.ask('POST', path, { key: '', body, headers: token === null ? {} : { 'x-gw-client-auth': token } });

  test('a user key is told with its workspace, its owner and both live hashes', async () => {
    const person = await addPerson(gateway, here.organisationId, 'member', {
      workspaces: { [here.workspaceId]: 'member' },
    });
    const key = await addKey(gateway, {
      ...here,
      userId: person.userId,
      type: 'workspace-user',
      scopes: ['completions.write'],
    });
    const byKey = await ask({ key: key.secret });
    expect(byKey.status).toBe(200);
    expect(byKey.body).toMatchObject({
      api_key: { id: key.id, type: 'workspace-user', status: 'active', scopes: ['completions.write'] },
      hashes: [digestOf(key.secret)],
      organisation: { id: here.organisationId, settings: { request_logging: 'full' } },
      workspace: { id: here.workspaceId, excluded_guardrails: [], settings: { request_logging: 'full' } },
      user: { id: person.userId, email: person.email },
    });
    expect(JSON.stringify(byKey.body)).not.toContain(key.secret);
    expect((await ask({ hash: digestOf(key.secret) })).body).toEqual(byKey.body);
    const rotated = await gateway.post(`/v1/api-keys/${key.id}/rotate`);
    const after = await ask({ key: rotated.body.key });
    expect(after.body.hashes.sort()).toEqual([digestOf(key.secret), digestOf(rotated.body.key)].sort());
  });

  test('an admin key has neither workspace nor owner', async () => {
    expect((await ask({ key: gateway.adminKey })).body).toMatchObject({ workspace: null, user: null });
  });

  test('a key that is unknown or archived is 404', async () => {
    const key = await addKey(gateway, { ...here, type: 'workspace-service', scopes: ['completions.write'] });
    await gateway.delete(`/v1/api-keys/${key.id}`);
    expect((await ask({ key: key.secret })).body.data.errorCode).toBe('AB08');
    expect((await ask({ hash: digestOf('nothing') })).status).toBe(404);
  });

  test('any other credential, and none, is 401', async () => {
    expect((await ask({ key: gateway.adminKey }, null)).status).toBe(401);
    expect((await ask({ key: gateway.adminKey }, `${serviceToken}x`)).status).toBe(401);
    expect((await gateway.post(path, { key: gateway.adminKey })).status).toBe(401);
  });

  test('both, or neither, of key and hash is 400', async () => {
    expect((await ask({})).status).toBe(400);
    expect((await ask({ key: 'a', hash: digestOf('a') })).status).toBe(400);
  });
});

test('without GW_CLIENT_AUTH there is no such route', async () => {
  const gateway = await startGateway();
  const headers = { 'x-gw-client-auth': '' };
  expect((await gateway.ask('POST', path, { key: '', body: { key: 'a' }, headers })).status).toBe(404);
  await gateway.stopWithoutFaults();
});
