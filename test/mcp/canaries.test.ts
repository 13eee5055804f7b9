/** People who share a server: the upstream token of one never appears in a call of another, nor in a log, an error or a file. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { startGateway, type TestGateway } from '../harness.ts';
import { addKey, addPerson, type Home, home, type Person } from '../people.ts';
import { freePort } from '../servers/free-port.ts';
import { browse, signInAddressIn } from './browser.ts';
import { sessionClient, textOf } from './clients.ts';
import { saveIntegration, startUpstream, trustLoopback, type UpstreamServer } from './upstream.ts';

let gateway: TestGateway;
let upstream: UpstreamServer;
let headers: UpstreamServer;
let place: Home;
let people: User[];

interface User extends Person {
  name: string;
  key: string;
}

/** Asks the process of the upstream. */
const control = async (what: string) => (await fetch(`http://127.0.0.1:${upstream.port}/control/${what}`)).json();

const url = (slug = 'private') => `${gateway.url}/${slug}/mcp`;

async function signedIn(name: string): Promise<User> {
  const { organisationId, workspaceId } = place;
  const person = await addPerson(gateway, organisationId, 'member', { workspaces: { [workspaceId]: 'member' } });
  const { secret: key } = await addKey(gateway, {
    organisationId,
    workspaceId,
    userId: person.userId,
    type: 'workspace-user',
    scopes: ['mcp.invoke', 'completions.write'],
  });
  const fault = await sessionClient(url(), { 'x-gw-api-key': key }).then(
    () => '',
    (error: Error) => error.message,
  );
  const visitor = { gatewayUrl: gateway.url, session: person.session, person: name };
  expect((await browse(signInAddressIn(fault) ?? '', visitor)).status).toBe(200);
  return { ...person, name, key };
}

beforeAll(async () => {
  upstream = await startUpstream('oauth-upstream.ts', [String(await freePort())]);
  headers = await startUpstream('session-server.ts');
  gateway = await startGateway(trustLoopback);
  place = await home(gateway);
  await saveIntegration(gateway, { slug: 'private', url: upstream.url, auth_type: 'oauth_auto' });
  people = [await signedIn('ada'), await signedIn('grace')];
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
  headers.stop();
});

async function statelessClient(address: string, sent: Record<string, string>): Promise<Client> {
  const client = new Client(
    { name: 'stateless', version: '1' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  await client.connect(new StreamableHTTPClientTransport(new URL(address), { requestInit: { headers: sent } }));
  return client;
}

/** A way to call `say`, and how it ends. */
interface Voice {
  say(text: string): Promise<string>;
  close(): Promise<void>;
}

const voices: Record<string, (user: User) => Promise<Voice>> = {
  'in a session': async ({ key }) => {
    const client = await sessionClient(url(), { 'x-gw-api-key': key });
    return {
      say: async (text) => textOf(await client.callTool({ name: 'say', arguments: { text } })),
      close: () => client.close(),
    };
  },
  'without one': async ({ key }) => {
    const client = await statelessClient(url(), { 'x-gw-api-key': key });
    return {
      say: async (text) => textOf(await client.callTool({ name: 'say', arguments: { text } })),
      close: () => client.close(),
    };
  },
  'at the joined address': async ({ key }) => {
    const client = await sessionClient(`${gateway.url}/mcp`, { 'x-gw-api-key': key });
    return {
      say: async (text) => textOf(await client.callTool({ name: 'private__say', arguments: { text } })),
      close: () => client.close(),
    };
  },
};

const answers: string[] = [];

test('calls of two people at once, over every way and across refreshes, each reach the upstream as the person who made them', async () => {
  const opened = await Promise.all(
    people.flatMap((user) =>
      // A second one of the same kind takes the connection that the first has opened.
      [...Object.entries(voices), ...Object.entries(voices)].map(async ([way, open]) => ({
        user,
        way,
        voice: await open(user),
      })),
    ),
  );
  const rounds = 6;
  for (let round = 0; round < rounds; round++) {
    // Every token has ended: each is refreshed, and for its own person.
    if (round % 2 === 1) await control('expire');
    const heard = await Promise.all(
      opened.map(async ({ user, way, voice }) => {
        const said = `${user.name} ${way} ${round}`;
        return { expected: `${user.name} said ${said}`, heard: await voice.say(said) };
      }),
    );
    expect(heard.filter(({ expected, heard: told }) => told !== expected)).toEqual([]);
  }
  for (const { voice } of opened) await voice.close();
  const calls: { account: string; opener: string; said: string }[] = await control('calls');
  expect(calls.length).toBe(opened.length * rounds);
  expect(calls.filter(({ account, opener, said }) => account !== opener || !said.startsWith(account))).toEqual([]);
}, 60_000);

test('a session id of one person in a call of the other is unknown, and nothing reaches the upstream', async () => {
  const [ada, grace] = people;
  if (!ada || !grace) throw new Error('Nobody is signed in');
  const before = (await control('calls')).length;
  const initialize = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  };
  const accept = { accept: 'application/json, text/event-stream' };
  for (const at of ['/private/mcp', '/mcp']) {
    const opened = await gateway.post(at, initialize, { key: ada.key, headers: accept });
    const session = opened.headers.get('mcp-session-id') ?? '';
    const call = {
      jsonrpc: '2.0',
      id: 2,
      method: 'tools/call',
      params: { name: 'say', arguments: { text: 'stolen' } },
    };
    const stolen = { key: grace.key, headers: { ...accept, 'mcp-session-id': session } };
    expect(await gateway.post(at, call, stolen)).toMatchObject({
      status: 404,
      body: { error: { data: { code: 'session_not_found' } } },
    });
    expect((await gateway.get(at, stolen)).status).toBe(404);
    expect((await gateway.delete(at, undefined, stolen)).status).toBe(404);
    answers.push(JSON.stringify(opened.body));
  }
  // The upstream's own session id is no use either: it is not ours.
  const known: string[] = await control('sessions');
  expect(known.length).toBeGreaterThan(0);
  const raw = { key: grace.key, headers: { ...accept, 'mcp-session-id': known[0] ?? '' } };
  expect((await gateway.post('/private/mcp', { jsonrpc: '2.0', id: 3, method: 'ping' }, raw)).status).toBe(404);
  expect((await control('calls')).length).toBe(before);
});

test('a token that is handed on goes with the calls of its own person, also over connections that are shared', async () => {
  await saveIntegration(gateway, {
    slug: 'handed-on',
    url: headers.url,
    configurations: { user_identity_forwarding: { method: 'bearer' } },
  });
  const service = await gateway.post(
    '/v1/api-keys/workspace/service',
    { name: 'shared', scopes: ['mcp.invoke'] },
    { key: gateway.workspaceKey },
  );
  // One key that several people share, each with their own token.
  const canaries = Array.from({ length: 4 }, (_, n) => `canary-${n}-${crypto.randomUUID()}`);
  const seen = await Promise.all(
    canaries.flatMap((canary) =>
      [sessionClient, statelessClient].map(async (connect) => {
        const sent = { 'x-gw-api-key': service.body.key, authorization: `Bearer ${canary}` };
        const client = await connect(url('handed-on'), sent);
        const found = [];
        for (let round = 0; round < 3; round++) {
          const text = textOf(await client.callTool({ name: 'headers', arguments: {} }));
          found.push({ canary, text });
        }
        await client.close();
        return found;
      }),
    ),
  );
  for (const { canary, text } of seen.flat()) {
    const told = JSON.parse(text);
    expect(told.authorization).toBe(`Bearer ${canary}`);
    for (const other of canaries) expect(text.includes(other)).toBe(other === canary);
  }
});

test('no token stands in a log, an error, an answer, an audit row or a file', async () => {
  const tokens: string[] = await control('issued');
  expect(tokens.length).toBeGreaterThan(8);
  const files = readdirSync(gateway.dataDir, { recursive: true, encoding: 'utf8' })
    .map((name) => join(gateway.dataDir, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'latin1'));
  const now = gateway.clock.now().getTime();
  const [start_time, end_time] = [-1, 1].map((days) => new Date(now + days * 86_400_000).toISOString());
  const range = new URLSearchParams({ start_time: start_time ?? '', end_time: end_time ?? '' });
  const audit = await gateway.get(`/v1/audit-logs?${range}`, { key: gateway.adminKey });
  expect({ status: audit.status, body: audit.body }).toMatchObject({ status: 200 });
  const trail = await gateway.app.services.store.db.selectFrom('audit_logs').selectAll().execute();
  const paths = ['/v1/mcp-servers/private/connections', '/v1/mcp-integrations/private', '/v1/logs'];
  const shown = await Promise.all(
    paths.flatMap((path) =>
      [gateway.workspaceKey, gateway.adminKey].map(async (key) =>
        JSON.stringify((await gateway.get(path, { key })).body),
      ),
    ),
  );
  const logged = gateway.records.map(({ metrics, bodies }) => {
    const texts = Object.values(bodies).map((one) => [one?.headers, one?.body && Buffer.from(one.body).toString()]);
    return JSON.stringify([metrics, texts]);
  });
  expect(logged.join('\n')).toContain('ada in a session 0');
  const places = [
    ...files,
    ...shown,
    JSON.stringify([audit.body, trail]),
    ...answers,
    ...logged,
    ...gateway.lines,
    ...gateway.faults,
  ];
  expect(tokens.filter((token) => places.some((text) => text.includes(token)))).toEqual([]);
});
