/** What parts of the service ask each other, over HTTP. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { onEachEngine, startGateway, type TestGateway } from '../../../test/harness.ts';
import { startIssuer } from '../../../test/issuer.ts';
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

  test('a token is told with a record made from its claims', async () => {
    const issuer = await startIssuer();
    issuer.stop();
    const jwt = { enabled: true, jwks_json: issuer.keySet() };
    await gateway.put('/v1/admin/organisation/auth-settings', { jwt });
    const person = await addPerson(gateway, here.organisationId, 'member', {
      workspaces: { [here.workspaceId]: 'member' },
    });
    const at = Math.floor(gateway.clock.now().getTime() / 1_000);
    const claims = {
      gw_oid: here.organisationId,
      gw_workspace: here.workspaceId,
      scope: 'completions.write fly.high',
      email_id: person.email,
      iat: at,
      exp: at + 3_600,
      defaults: { config_id: 'none', metadata: { team: 'blue' } },
      usage_limits: [
        { type: 'cost', credit_limit: 5 },
        { type: 'tokens', credit_limit: 1_000 },
      ],
      rate_limits: [{ type: 'requests', unit: 'rpm', value: 60 }],
    };
    const token = await issuer.token(claims);
    const told = await ask({ key: token });
    expect(told).toMatchObject({
      status: 200,
      body: {
        api_key: {
          type: 'workspace-service',
          status: 'active',
          scopes: ['completions.write'],
          workspace_id: here.workspaceId,
          user_id: person.userId,
          defaults: { config_id: null, metadata: { team: 'blue' } },
          rate_limits: claims.rate_limits,
          usage_limits: { type: 'cost', credit_limit: 5 },
          expires_at: new Date((at + 3_600) * 1_000).toISOString(),
        },
        hashes: [digestOf(token)],
        limits: [
          { kind: 'rate_limit', type: 'requests', limit: 60 },
          { kind: 'usage_limit', type: 'cost', limit: 5, current_usage: 0 },
          { kind: 'usage_limit', type: 'tokens', limit: 1_000 },
        ],
        workspace: { id: here.workspaceId },
        user: { email: person.email },
      },
    });
    expect(JSON.stringify(told.body)).not.toContain(token);
    expect((await ask({ key: await issuer.token({ ...claims, exp: at - 60 }) })).status).toBe(401);
    expect((await ask({ key: await issuer.token({ ...claims, gw_workspace: 'none' }) })).status).toBe(403);
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
