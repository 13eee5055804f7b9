/** An organisation's own tokens at an MCP server, and on a gateway that validates them by itself. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { SignJWT } from 'jose';
import { startGateway, type TestGateway } from '../harness.ts';
import { type Issuer, startIssuer } from '../issuer.ts';
import { sessionClient } from '../mcp/clients.ts';
import { saveIntegration, startUpstream, trustLoopback, type UpstreamServer } from '../mcp/upstream.ts';
import { addOrganisation, addWorkspace, type Home, home, storeOf } from '../people.ts';
import { chat, inAnHour, lastCall, settingsPath, trusted } from '../token-calls.ts';

describe('tokens at an MCP server', () => {
  let gateway: TestGateway;
  let issuer: Issuer;
  let upstream: UpstreamServer;
  let place: Record<string, unknown>;
  beforeAll(async () => {
    gateway = await startGateway(trustLoopback);
    issuer = await startIssuer();
    upstream = await startUpstream('session-server.ts');
    const here = await home(gateway);
    await gateway.put(settingsPath, { jwt: { enabled: true, jwks_json: issuer.keySet() } });
    await saveIntegration(gateway, { slug: 'notes', url: upstream.url });
    place = { gw_oid: here.organisationId, gw_workspace: here.workspaceId, exp: inAnHour(gateway) };
  });
  afterAll(async () => {
    issuer.stop();
    upstream.stop();
    await gateway.stop();
  });
  const ask = (token: string) =>
    fetch(`${gateway.url}/notes/mcp`, {
      method: 'POST',
      headers: {
        'x-gw-api-key': token,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: {} }),
    });

  test('the scope mcp.invoke opens it, nothing else does', async () => {
    const client = await sessionClient(`${gateway.url}/notes/mcp`, {
      'x-gw-api-key': await issuer.token({ ...place, scope: 'mcp.invoke' }),
    });
    expect((await client.listTools()).tools.length).toBeGreaterThan(0);
    await client.close();
    expect((await ask(await issuer.token({ ...place, scope: 'completions.write' }))).status).toBe(403);
    expect((await ask(await issuer.token({ ...place, scope: 'mcp.invoke', gw_workspace: 'ws-none' }))).status).toBe(
      403,
    );
    const late = await ask(await issuer.token({ ...place, scope: 'mcp.invoke', exp: 1_000 }));
    expect([late.status, late.headers.get('www-authenticate')]).toEqual([401, expect.stringContaining('Bearer')]);
  });
});

describe('tokens on a gateway that validates by itself', () => {
  let gateway: TestGateway;
  let here: Home;
  let issuer: Issuer;
  beforeAll(async () => {
    gateway = await startGateway({
      ...trusted,
      JWT_ENABLED: 'ON',
      JWT_LOCAL_AUTH_DEFAULT_SCOPES: 'completions.write, logs.view',
    });
    here = await home(gateway);
    issuer = await startIssuer();
  });
  afterAll(async () => {
    issuer.stop();
    await gateway.stopWithoutFaults();
  });

  test('an organisation without a key set is answered 403', async () => {
    const bare = await issuer.token({ exp: inAnHour(gateway) });
    expect(await chat(gateway, bare)).toMatchObject({ status: 403, body: { error: { code: 'jwt_not_allowed' } } });
  });

  test('a bare token gets the only organisation, its default workspace and the default scopes', async () => {
    await gateway.put(settingsPath, { jwt: { enabled: true, jwks_json: issuer.keySet() } });
    const bare = await issuer.token({ exp: inAnHour(gateway) }, { typ: undefined });
    expect((await chat(gateway, bare)).status).toBe(200);
    expect(lastCall(gateway)).toMatchObject({ workspace_id: here.workspaceId });
    expect((await chat(gateway, await issuer.token({ exp: inAnHour(gateway), scope: 'mcp.invoke' }))).status).toBe(403);
    expect((await chat(gateway, await issuer.token({}))).status).toBe(401);
  });

  test('the organisation may choose the workspace of bare tokens', async () => {
    const chosen = await addWorkspace(gateway, here.organisationId, 'Tokens');
    await gateway.put('/v1/admin/organisation', { default_jwt_workspace_id: chosen.id });
    const bare = await issuer.token({ exp: inAnHour(gateway), sub: 'chosen' });
    const models = await gateway.get('/v1/models', { key: bare });
    expect(models.status).toBe(200);
    const self = await gateway.get('/v1/auth/self', { key: bare });
    expect(self.body.workspaces).toMatchObject([{ id: chosen.id }]);
  });

  test('with several organisations a token must name one', async () => {
    await addOrganisation(gateway);
    expect((await chat(gateway, await issuer.token({ exp: inAnHour(gateway), sub: 'lost' }))).status).toBe(401);
  });
});

test('a gateway for one organisation refuses tokens of the others with 403', async () => {
  const listed = crypto.randomUUID();
  const gateway = await startGateway({ ...trusted, JWT_ENABLED: 'ON', ORGANISATIONS_TO_SYNC: listed });
  const here = await home(gateway);
  const issuer = await startIssuer();
  issuer.stop();
  await gateway.put(settingsPath, { jwt: { enabled: true, jwks_json: issuer.keySet() } });
  const named = await issuer.token({ exp: inAnHour(gateway), gw_oid: here.organisationId, scope: 'completions.write' });
  expect(await chat(gateway, named)).toMatchObject({ status: 403, body: { error: { code: 'jwt_not_allowed' } } });
  const unnamed = await issuer.token({ exp: inAnHour(gateway), scope: 'completions.write' });
  expect((await chat(gateway, unnamed)).status).toBe(401);
  await gateway.stopWithoutFaults();
});

test('a gateway for chosen workspaces and subjects refuses all other tokens with 403', async () => {
  const gateway = await startGateway({
    ...trusted,
    JWT_ENABLED: 'ON',
    JWT_LOCAL_AUTH_WORKSPACES: 'ws-served, ws-also',
    JWT_LOCAL_AUTH_SUBJECTS: 'robot-7',
  });
  const here = await home(gateway);
  const served = await addWorkspace(gateway, here.organisationId, 'Served');
  const also = await addWorkspace(gateway, here.organisationId, 'Also');
  for (const { id, slug } of [
    { id: served.id, slug: 'ws-served' },
    { id: also.id, slug: 'ws-also' },
  ]) {
    await storeOf(gateway).db.updateTable('workspaces').set({ slug }).where('id', '=', id).execute();
  }
  const issuer = await startIssuer();
  issuer.stop();
  await gateway.put(settingsPath, { jwt: { enabled: true, jwks_json: issuer.keySet() } });
  const token = (claims: Record<string, unknown>) =>
    issuer.token({ exp: inAnHour(gateway), sub: 'robot-7', scope: 'completions.write', ...claims });
  const self = async (claims: Record<string, unknown>) => gateway.get('/v1/auth/self', { key: await token(claims) });
  expect((await self({})).body.workspaces).toMatchObject([{ id: served.id }]);
  expect((await self({ gw_workspace: also.id })).body.workspaces).toMatchObject([{ id: also.id }]);
  const refused = async (claims: Record<string, unknown>) => {
    const { status, body } = await chat(gateway, await token(claims));
    return [status, body.error?.code];
  };
  expect(await refused({ gw_workspace: here.workspaceId })).toEqual([403, 'workspace_forbidden']);
  expect(await refused({ sub: 'robot-8' })).toEqual([403, 'jwt_not_allowed']);
  expect(await refused({ sub: undefined })).toEqual([401, 'invalid_jwt']);
  await gateway.stopWithoutFaults();
});

test('a session of ours that looks like a token is none, and a token is no session', async () => {
  const gateway = await startGateway();
  const forged = await new SignJWT({ iss: 'gw' })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .sign(Buffer.alloc(32));
  expect((await gateway.get('/v1/auth/self', { key: forged })).status).toBe(401);
  await gateway.stopWithoutFaults();
});
