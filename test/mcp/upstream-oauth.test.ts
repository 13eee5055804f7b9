/** People sign in at an upstream through the gateway, with a real authorization server behind it. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { LogMessage } from '../../src/logs/record.ts';
import { type Json, startGateway, type TestGateway } from '../harness.ts';
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

test('each person signs in once and is somebody else upstream; another must sign in by themselves', async () => {
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

/** Asks the process of the upstream; it answers with every token that it has made out. */
const control = async (what: string): Promise<string[]> =>
  (await fetch(`http://127.0.0.1:${upstream.port}/control/${what}`)).json();

const signedIn = async (person: Person, name: string): Promise<string> => {
  const key = await keyOf(person);
  const page = await browse(await signInAddress(key), person.session, name);
  expect(page.status).toBe(200);
  return key;
};

const connectionOf = async (person: Person): Promise<Json> => {
  const path = `/v1/mcp-servers/private/connections?user_id=${person.userId}`;
  return (await gateway.get(path, { key: gateway.workspaceKey })).body.data[0];
};

test('a token that ends within a session is renewed there; an authorization server that is ill ends no sign-in', async () => {
  const { organisationId, workspaceId } = await home(gateway);
  const person = await addPerson(gateway, organisationId, 'member', { workspaces: { [workspaceId]: 'member' } });
  const key = await signedIn(person, 'barbara');
  const client = await sessionClient(url, { 'x-gw-api-key': key });
  const before = (await control('issued')).length;
  await control('expire');
  expect(textOf(await client.callTool({ name: 'whoami', arguments: {} }))).toBe('barbara');
  expect((await control('issued')).length).toBe(before + 2);
  await control('expire');
  await control('ill');
  await expect(client.callTool({ name: 'whoami', arguments: {} })).rejects.toThrow('does not renew');
  expect(await connectionOf(person)).toMatchObject({ connected: true });
  await control('well');
  expect(textOf(await client.callTool({ name: 'whoami', arguments: {} }))).toBe('barbara');
  await client.close();
});

test('a sign-in that the upstream has revoked is not connected any more, and the next call asks for another', async () => {
  const { organisationId, workspaceId } = await home(gateway);
  const person = await addPerson(gateway, organisationId, 'member', { workspaces: { [workspaceId]: 'member' } });
  const key = await signedIn(person, 'mary');
  await control('revoke');
  expect(await signInAddress(key)).toStartWith('http');
  expect(await connectionOf(person)).toMatchObject({ connected: false });
});

test('a member ends nobody’s sign-in but his own; a manager anybody’s', async () => {
  const { organisationId, workspaceId } = await home(gateway);
  const join = (role: 'member' | 'manager') =>
    addPerson(gateway, organisationId, 'member', { workspaces: { [workspaceId]: role } });
  const [person, colleague, manager] = [await join('member'), await join('member'), await join('manager')];
  const key = await signedIn(person, 'edsger');
  const path = `/v1/mcp-servers/private/connections?user_id=${person.userId}`;
  expect((await gateway.delete(path, undefined, { key: colleague.session })).status).toBe(403);
  expect(await whoami(key)).toBe('edsger');
  expect((await gateway.delete(path, undefined, { key: manager.session })).status).toBe(200);
  expect(await signInAddress(key)).toStartWith('http');
});

test('a tool that needs a sign-in fails a model request with the address where to sign in', async () => {
  const { organisationId, workspaceId } = await home(gateway);
  const person = await addPerson(gateway, organisationId, 'member', { workspaces: { [workspaceId]: 'member' } });
  const { owner } = await home(gateway);
  const { body: minted } = await gateway.post(
    '/v1/api-keys/workspace/user',
    { name: 'both', workspace_id: workspaceId, user_id: person.userId, scopes: ['mcp.invoke', 'completions.write'] },
    { key: owner.session },
  );
  const ask = () =>
    gateway.post(
      '/v1/chat/completions',
      {
        model: 'sandbox',
        messages: [{ role: 'user', content: 'hi' }],
        tools: [{ type: 'mcp', server_label: '@gw-mcp/private' }],
      },
      { key: minted.key, headers: { 'x-gw-provider': '@sandbox', 'x-gw-beta': 'server-side-mcp-2026-06-01' } },
    );
  const { status, body } = await ask();
  expect(status).toBe(400);
  expect(body.error).toMatchObject({ code: 'authorization_required' });
  expect(body.error.message).toContain('authorization_url: http');
});

const textOfMessage = (message: LogMessage | null): string =>
  message ? JSON.stringify(message.headers) + new TextDecoder().decode(message.body ?? new Uint8Array()) : '';

test('no token of anybody stands in a log, an error, an answer or the data folder', async () => {
  const tokens = await control('issued');
  expect(tokens.length).toBeGreaterThan(8);
  const files = readdirSync(gateway.dataDir, { recursive: true, encoding: 'utf8' })
    .map((name) => join(gateway.dataDir, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'latin1'));
  const lists = await Promise.all(
    ['/v1/mcp-servers/private/connections', '/v1/mcp-integrations/private', '/v1/audit-logs', '/v1/logs'].map(
      async (path) => JSON.stringify((await gateway.get(path, { key: gateway.workspaceKey })).body),
    ),
  );
  const logged = gateway.records
    .flatMap(({ metrics: { mcp }, bodies }) => [JSON.stringify(mcp), ...Object.values(bodies).map(textOfMessage)])
    .join('\n');
  expect(logged).toContain('whoami');
  const places = [...files, ...lists, logged, gateway.faults.join('\n')];
  expect(tokens.filter((token) => places.some((text) => text.includes(token)))).toEqual([]);
});
