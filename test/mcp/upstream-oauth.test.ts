/** People sign in at an upstream through the gateway, with a real authorization server behind it. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startGateway, type TestGateway } from '../harness.ts';
import { addPerson, home, type Person } from '../people.ts';
import { freePort } from '../servers/free-port.ts';
import { browse as browseAs, signInAddressIn } from './browser.ts';
import { sessionClient, textOf } from './clients.ts';
import { saveIntegration, startUpstream, trustLoopback, type UpstreamServer } from './upstream.ts';

let gateway: TestGateway;
let upstream: UpstreamServer;
let url: string;

beforeAll(async () => {
  upstream = await startUpstream('oauth-upstream.ts', [String(await freePort())]);
  gateway = await startGateway(trustLoopback);
  await saveIntegration(gateway, { slug: 'private', url: upstream.url, auth_type: 'oauth_auto' });
  url = `${gateway.url}/private/mcp`;
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

const keyOf = async ({ userId }: Person): Promise<string> => {
  const { workspaceId, owner } = await home(gateway);
  const { body } = await gateway.post(
    '/v1/api-keys/workspace/user',
    { name: 'own', workspace_id: workspaceId, user_id: userId, scopes: ['mcp.invoke'] },
    { key: owner.session },
  );
  return body.key;
};

const browse = (start: string, session: string, person: string): Promise<Response> =>
  browseAs(start, { gatewayUrl: gateway.url, session, person });

const signInAddress = async (key: string): Promise<string> => {
  const fault = await sessionClient(url, { 'x-gw-api-key': key }).then(
    () => null,
    (error: Error) => error.message,
  );
  expect(fault).toContain('authorization_url');
  return signInAddressIn(fault ?? '') ?? '';
};

const whoami = async (key: string): Promise<string> => {
  const client = await sessionClient(url, { 'x-gw-api-key': key });
  const name = textOf(await client.callTool({ name: 'whoami', arguments: {} }));
  await client.close();
  return name;
};

test('a key that belongs to nobody is told to use one that belongs to a person', async () => {
  await expect(sessionClient(url, { 'x-gw-api-key': gateway.workspaceKey })).rejects.toThrow('forbidden');
});

test('each person signs in once and is somebody else upstream; another must sign in by himself', async () => {
  const { owner, organisationId, workspaceId } = await home(gateway);
  const other = await addPerson(gateway, organisationId, 'member', { workspaces: { [workspaceId]: 'member' } });
  const [ownKey, otherKey] = [await keyOf(owner), await keyOf(other)];
  const address = await signInAddress(ownKey);
  const stolen = await browse(address, other.session, 'mallory');
  expect(stolen.status).toBe(403);
  const done = await browse(await signInAddress(ownKey), owner.session, 'ada');
  expect({ status: done.status, page: (await done.text()).includes('You are signed in') }).toEqual({
    status: 200,
    page: true,
  });
  expect(await whoami(ownKey)).toBe('ada');
  await browse(await signInAddress(otherKey), other.session, 'grace');
  expect(await whoami(otherKey)).toBe('grace');
  expect(await whoami(ownKey)).toBe('ada');
  const { body } = await gateway.get('/v1/mcp-servers/private/connections', { key: gateway.workspaceKey });
  expect(body).toMatchObject({ total: 2, data: [{ connected: true }, { connected: true }] });
});

test('an expired token is refreshed in silence', async () => {
  const { owner } = await home(gateway);
  const key = await keyOf(owner);
  const sealed = () => gateway.app.services.store.db.selectFrom('mcp_connections').select('tokens_sealed').execute();
  const before = (await sealed()).map(({ tokens_sealed }) => tokens_sealed);
  gateway.clock.advance({ hours: 2 });
  expect(await whoami(key)).toBe('ada');
  expect((await sealed()).map(({ tokens_sealed }) => tokens_sealed)).not.toEqual(before);
});

test('a sign-in that is ended must be made again, and its tokens stand nowhere in the clear', async () => {
  const { owner } = await home(gateway);
  const key = await keyOf(owner);
  const path = '/v1/mcp-servers/private/connections';
  const rows = await gateway.app.services.store.db.selectFrom('mcp_connections').selectAll().execute();
  expect(rows.every(({ tokens_sealed }) => tokens_sealed?.startsWith('v2.'))).toBe(true);
  expect((await gateway.delete(path, undefined, { key: owner.session })).body).toEqual({ success: true });
  await signInAddress(key);
  const files = readdirSync(gateway.dataDir, { recursive: true, encoding: 'utf8' });
  const kept = files
    .filter((name) => /\.(db|db-wal|seg)/.test(name))
    .map((name) => readFileSync(join(gateway.dataDir, name), 'latin1'));
  expect(kept.length).toBeGreaterThan(0);
  expect(kept.some((text) => text.includes('"accessToken"'))).toBe(false);
});
