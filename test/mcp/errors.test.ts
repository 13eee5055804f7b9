/** Every refusal of the MCP gateway and its authorization server, by its exact status, code and word; and upstreams that misbehave. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { type Json, startGateway, type TestGateway } from '../harness.ts';
import { addKey, addPerson, type Home, home } from '../people.ts';
import { freePort } from '../servers/free-port.ts';
import { consent, form, newVerifier, redirectUri, register, signInClient, token } from './oauth-world.ts';
import { saveIntegration, startUpstream, trustLoopback, type UpstreamServer } from './upstream.ts';

let gateway: TestGateway;
let place: Home;
let upstream: UpstreamServer;
let hostile: UpstreamServer;
let signIn: UpstreamServer;

beforeAll(async () => {
  upstream = await startUpstream('session-server.ts');
  hostile = await startUpstream('hostile-server.ts');
  signIn = await startUpstream('oauth-upstream.ts', [String(await freePort())]);
  gateway = await startGateway({ ...trustLoopback, MCP_REQUEST_TIMEOUT_MS: '500' });
  place = await home(gateway);
  await saveIntegration(gateway, { slug: 'notes', url: upstream.url });
  const circuit_breaker = { enabled: false };
  await saveIntegration(gateway, { slug: 'hostile', url: hostile.url, configurations: { circuit_breaker } });
  await saveIntegration(gateway, { slug: 'personal', url: signIn.url, auth_type: 'oauth_auto' });
});

afterAll(async () => {
  await gateway.stopWithoutFaults();
  for (const server of [upstream, hostile, signIn]) server.stop();
});

interface Asked {
  slug?: string;
  key?: string | null;
  headers?: Record<string, string>;
  method?: string;
}

const initialize = (capabilities: object = {}) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities, clientInfo: { name: 'test', version: '1' } },
});

const ask = async (body: unknown, { slug = 'notes', key, headers = {}, method = 'POST' }: Asked = {}) => {
  const response = await fetch(`${gateway.url}/${slug}/mcp`, {
    method,
    headers: {
      ...(key !== null && { 'x-gw-api-key': key ?? gateway.workspaceKey }),
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    ...(method === 'POST' && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const data = text.startsWith('{') || text === '' ? text : (text.split('data: ').at(-1) ?? '');
  return { status: response.status, headers: response.headers, body: (data === '' ? null : JSON.parse(data)) as Json };
};

const session = async (asked: Asked = {}, capabilities: object = {}): Promise<Record<string, string>> => {
  const { headers, body } = await ask(initialize(capabilities), asked);
  expect(body.result).toBeDefined();
  return { ...asked.headers, 'mcp-session-id': headers.get('mcp-session-id') ?? '' };
};

const toolCall = (name: string) => ({ jsonrpc: '2.0', id: 9, method: 'tools/call', params: { name, arguments: {} } });

describe('a credential', () => {
  test('that is missing: 401 with the place where to sign in', async () => {
    const { status, headers, body } = await ask(initialize(), { key: null });
    expect({ status, code: body.error.code, word: body.error.data.code }).toEqual({
      status: 401,
      code: -32000,
      word: 'unauthorized',
    });
    expect(headers.get('www-authenticate')).toBe(
      `Bearer resource_metadata="${gateway.url}/.well-known/oauth-protected-resource/notes/mcp", scope="mcp"`,
    );
  });

  test('that is unknown: 401, as an invalid token', async () => {
    for (const asked of [{ key: 'gw-nobody' }, { key: null, headers: { authorization: 'Bearer gwo_nobody' } }]) {
      const { status, headers } = await ask(initialize(), asked);
      expect(status).toBe(401);
      expect(headers.get('www-authenticate')).toContain('error="invalid_token"');
    }
  });

  test('in the header of bearers counts as well', async () => {
    const headers = { authorization: `Bearer ${gateway.workspaceKey}` };
    expect((await ask(initialize(), { key: null, headers })).status).toBe(200);
  });

  test('and another one: 400, conflicting', async () => {
    const { answer } = await signInClient(gateway, place.owner.session, `${gateway.url}/notes/mcp`);
    const headers = { authorization: `Bearer ${answer.body.access_token}` };
    const { status, body } = await ask(initialize(), { headers });
    expect([status, body.error.code, body.error.message]).toEqual([
      400,
      -32600,
      expect.stringContaining('conflicting credentials'),
    ]);
  });

  test('without the scope: 403, insufficient_scope in both places', async () => {
    const { organisationId, workspaceId } = place;
    const scopes = ['completions.write'] as const;
    const made = { organisationId, workspaceId, userId: null, type: 'workspace-service', scopes } as const;
    const { status, headers, body } = await ask(initialize(), { key: (await addKey(gateway, made)).secret });
    expect([status, body.error.data.code]).toEqual([403, 'insufficient_scope']);
    expect(headers.get('www-authenticate')).toContain('error="insufficient_scope"');
  });

  test('that may only read, for a tool that writes: 403 that names mcp:write', async () => {
    const { answer } = await signInClient(gateway, place.owner.session, `${gateway.url}/notes/mcp`, 'mcp:read');
    const own = { key: null, headers: { authorization: `Bearer ${answer.body.access_token}` } };
    const { status, headers, body } = await ask(toolCall('write'), { ...own, headers: await session(own) });
    expect([status, body.error.data]).toEqual([403, { code: 'insufficient_scope', required_scope: 'mcp:write' }]);
    expect(headers.get('www-authenticate')).toContain('error="insufficient_scope"');
    expect(headers.get('www-authenticate')).toContain('scope="mcp:write"');
  });

  test('of a service, where each person signs in: 403', async () => {
    const { status, body } = await ask(initialize(), { slug: 'personal' });
    expect([status, body.error.data.code]).toEqual([403, 'forbidden']);
  });

  test('for a server that does not exist: 404', async () => {
    const { status, body } = await ask(initialize(), { slug: 'nowhere' });
    expect([status, body.error.code, body.error.data.code]).toEqual([404, -32000, 'server_not_found']);
  });
});

describe('a message of the session era', () => {
  test.each([
    ['that is no JSON', '{"jsonrpc":', 400, -32700],
    ['that is empty', '', 400, -32700],
    ['that is nested without end', `${'['.repeat(50_000)}${']'.repeat(50_000)}`, 400, -32700],
    ['of another version of JSON-RPC', '{"jsonrpc":"1.0","id":1,"method":"ping"}', 400, -32600],
    ['without a method', '{"jsonrpc":"2.0","id":1}', 400, -32600],
    ['whose id is null', '{"jsonrpc":"2.0","id":null,"method":"ping"}', 400, -32600],
    ['whose params are a list', '{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', 400, -32600],
    ['that is a text', '"ping"', 400, -32600],
    ['that is an empty batch', '[]', 400, -32600],
  ])('%s', async (_, sent, status, code) => {
    const { status: got, body } = await ask(sent, { headers: await session() });
    expect([got, body.error.code, body.id]).toEqual([status, code, null]);
  });

  test('that is a batch, in a revision that knows none: 400', async () => {
    const headers = { ...(await session()), 'mcp-protocol-version': '2025-11-25' };
    const { status, body } = await ask([{ jsonrpc: '2.0', id: 1, method: 'ping' }], { headers });
    expect([status, body.error.code]).toEqual([400, -32600]);
  });

  test('of an unknown method: 200 with -32601', async () => {
    const { status, body } = await ask({ jsonrpc: '2.0', id: 5, method: 'surprise/me' }, { headers: await session() });
    expect([status, body.id, body.error.code]).toEqual([200, 5, -32601]);
  });

  test('for a tool that is unknown or switched off: the same words', async () => {
    const { id } = await saveIntegration(gateway, { slug: 'halved', url: upstream.url });
    const own = { key: gateway.workspaceKey };
    await gateway.post(`/v1/mcp-integrations/${id}/sync`, undefined, own);
    const off = { capabilities: [{ name: 'write', type: 'tool', enabled: false }] };
    await gateway.put('/v1/mcp-servers/halved/capabilities', off, own);
    const asked = { slug: 'halved', headers: await session({ slug: 'halved' }) };
    const { status, body } = await ask(toolCall('write'), asked);
    expect([status, body.error]).toEqual([
      200,
      { code: -32602, message: 'Unknown tool: write', data: { code: 'tool_not_available' } },
    ]);
  });

  test('in a revision that nobody knows: 400', async () => {
    const headers = { ...(await session()), 'mcp-protocol-version': '1999-01-01' };
    const { status, body } = await ask({ jsonrpc: '2.0', id: 1, method: 'ping' }, { headers });
    expect([status, body.error.code, body.error.message]).toEqual([
      400,
      -32600,
      'Bad Request: Unsupported protocol version: 1999-01-01',
    ]);
  });

  test('without its session: 400; of one that is unknown, ended or of another credential: 404', async () => {
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    expect(await ask(ping)).toMatchObject({ status: 400, body: { error: { data: { code: 'session_required' } } } });
    const own = await session();
    const { organisationId, workspaceId } = place;
    const scopes = ['mcp.invoke'] as const;
    const other = { organisationId, workspaceId, userId: null, type: 'workspace-service', scopes } as const;
    const refused = [
      { headers: { 'mcp-session-id': 'nonsense' } },
      { headers: own, key: (await addKey(gateway, other)).secret },
      { headers: own, slug: 'hostile' },
    ];
    for (const asked of refused) {
      expect(await ask(ping, asked)).toMatchObject({
        status: 404,
        body: { error: { code: -32000, data: { code: 'session_not_found' } } },
      });
    }
    expect((await ask(null, { headers: own, method: 'DELETE' })).status).toBe(204);
    expect((await ask(ping, { headers: own })).status).toBe(404);
  });

  test('that the client cannot take an answer to: 406; in another form than JSON: 415; by another method: 405', async () => {
    expect((await ask(initialize(), { headers: { accept: 'application/json' } })).status).toBe(406);
    expect((await ask(initialize(), { headers: { 'content-type': 'text/plain' } })).status).toBe(415);
    const patched = await ask(null, { method: 'PATCH' });
    expect([patched.status, patched.headers.get('allow')]).toEqual([405, 'GET, POST, DELETE']);
  });

  test('a notification, and an answer that nobody waits for, are 202', async () => {
    const headers = await session();
    const told = { jsonrpc: '2.0', method: 'notifications/initialized' };
    expect(await ask(told, { headers })).toMatchObject({ status: 202, body: null });
  });

  test('a stream of an upstream that has none: 405', async () => {
    const headers = await session({ slug: 'hostile' });
    const { status, headers: answered } = await ask(null, { slug: 'hostile', headers, method: 'GET' });
    expect([status, answered.get('allow')]).toEqual([405, 'POST, DELETE']);
  });
});

describe('a message of the stateless era', () => {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' };
  const list = (own: object = meta) => ({ jsonrpc: '2.0', id: 2, method: 'tools/list', params: { _meta: own } });

  test('by GET or DELETE: 405', async () => {
    for (const method of ['GET', 'DELETE']) {
      const { status, headers: answered, body } = await ask(null, { headers, method });
      expect([status, answered.get('allow'), body.error.data.code]).toEqual([405, 'POST', 'method_not_allowed']);
    }
  });

  test('in a later revision: 400 with -32022 and those that are known', async () => {
    const own = { ...meta, 'io.modelcontextprotocol/protocolVersion': '2099-01-01' };
    const { status, body } = await ask(list(own), { headers: { ...headers, 'mcp-protocol-version': '2099-01-01' } });
    expect([status, body.error.code, body.error.data]).toEqual([
      400,
      -32022,
      { supported: ['2026-07-28'], requested: '2099-01-01' },
    ]);
  });

  test.each([
    ['without its method in a header', { 'mcp-protocol-version': '2026-07-28' }],
    ['with another method in a header', { ...headers, 'mcp-method': 'prompts/list' }],
    ['with another revision in a header', { ...headers, 'mcp-protocol-version': '2025-11-25' }],
  ])('%s: 400 with -32020', async (_, sent) => {
    const { status, body } = await ask(list(), { headers: sent });
    expect([status, body.error.code]).toEqual([400, -32020]);
  });

  test('without its envelope: 400 with -32602', async () => {
    const lacking = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
    const { status, body } = await ask(list(lacking), { headers });
    expect([status, body.error.code]).toEqual([400, -32602]);
  });

  test('of an unknown method: 404 with -32601', async () => {
    const asked = { ...list(), method: 'surprise/me' };
    const { status, body } = await ask(asked, { headers: { ...headers, 'mcp-method': 'surprise/me' } });
    expect([status, body.error.code]).toEqual([404, -32601]);
  });
});

describe('a sign-in that is missing', () => {
  const keyOfPerson = async (): Promise<string> => {
    const { organisationId, workspaceId } = place;
    const workspaces = { [workspaceId]: 'member' } as const;
    const { userId } = await addPerson(gateway, organisationId, 'member', { workspaces });
    const scopes = ['mcp.invoke'] as const;
    return (await addKey(gateway, { organisationId, workspaceId, userId, type: 'workspace-user', scopes })).secret;
  };

  test('is 200 with -32000, and the address in the message and the data', async () => {
    const { status, body } = await ask(initialize(), { slug: 'personal', key: await keyOfPerson() });
    expect([status, body.error.code]).toEqual([200, -32000]);
    expect(body.error.data).toMatchObject({
      code: 'authorization_required',
      authorization_url: expect.stringContaining('http'),
      expires_at: expect.stringContaining('T'),
    });
    expect(body.error.message).toContain('authorization_url: http');
  });

  test('is -32042 with what to open, for a client that can open addresses', async () => {
    const asked = { slug: 'personal', key: await keyOfPerson() };
    const { status, body } = await ask(initialize({ elicitation: { url: {} } }), asked);
    expect([status, body.error.code]).toEqual([200, -32042]);
    const [elicitation] = body.error.data.elicitations;
    expect(elicitation).toEqual({
      mode: 'url',
      url: body.error.data.authorization_url,
      message: expect.any(String),
      elicitationId: expect.any(String),
    });
  });
});

describe('an upstream', () => {
  test.each([
    ['hangs', 504, -32001, 'upstream_timeout'],
    ['drips', 504, -32001, 'upstream_timeout'],
    ['floods', 502, -32000, 'upstream_error'],
    ['floods-events', 502, -32000, 'upstream_error'],
    ['html', 502, -32000, 'upstream_error'],
    ['resets', 502, -32000, 'upstream_error'],
    ['fails', 502, -32000, 'upstream_error'],
    ['busy', 429, -32000, 'rate_limited'],
    ['redirects', 502, -32000, 'upstream_error'],
    ['answers-another', 502, -32000, 'upstream_error'],
    ['deep', 502, -32000, 'upstream_error'],
    ['stops-early', 502, -32000, 'upstream_error'],
  ])('that %s is %d with %d %s, and its other sessions go on', async (tool, status, code, word) => {
    const headers = await session({ slug: 'hostile' });
    const others = await session({ slug: 'hostile' });
    const asked = ask(toolCall(tool), { slug: 'hostile', headers });
    const fine = await ask(toolCall('works'), { slug: 'hostile', headers: others });
    expect(fine.body.result.content[0].text).toBe('works');
    const { status: got, body, headers: answered } = await asked;
    expect([got, body.id, body.error.code, body.error.data.code]).toEqual([status, 9, code, word]);
    expect(JSON.stringify(body)).not.toMatch(/127\.0\.0\.1|169\.254|broken|<html>/);
    if (status === 429) expect(answered.get('retry-after')).toBe('7');
    expect((await ask(toolCall('works'), { slug: 'hostile', headers })).status).toBe(200);
  });

  test('that refuses in words of its own is handed on unchanged', async () => {
    const headers = await session({ slug: 'hostile' });
    const { status, body } = await ask(toolCall('refuses'), { slug: 'hostile', headers });
    expect([status, body]).toEqual([
      200,
      { jsonrpc: '2.0', id: 9, error: { code: -31999, message: 'not today', data: { because: 'rain' } } },
    ]);
  });

  test('that is left alone after failures: 503 with circuit_open and how long', async () => {
    await saveIntegration(gateway, { slug: 'failing', url: hostile.url });
    const headers = await session({ slug: 'failing' });
    for (let call = 0; call < 5; call++) await ask(toolCall('fails'), { slug: 'failing', headers });
    const { status, body, headers: answered } = await ask(toolCall('works'), { slug: 'failing', headers });
    expect([status, body.error.code, body.error.data.code]).toEqual([503, -32000, 'circuit_open']);
    expect(Number(answered.get('retry-after'))).toBeGreaterThan(0);
  });

  test('that may be called once a minute: 429 with rate_limited and how long', async () => {
    const configurations = { rate_limit: { unit: 'rpm', value: 1 } };
    await saveIntegration(gateway, { slug: 'rare', url: upstream.url, configurations });
    const headers = await session({ slug: 'rare' });
    await ask({ ...toolCall('echo'), params: { name: 'echo', arguments: { text: 'x' } } }, { slug: 'rare', headers });
    const { status, body, headers: answered } = await ask(toolCall('echo'), { slug: 'rare', headers });
    expect([status, body.error.code, body.error.data.code]).toEqual([429, -32000, 'rate_limited']);
    expect(Number(answered.get('retry-after'))).toBeGreaterThan(0);
  });
});

describe('a token of the end user that the server asks for', () => {
  const header = { name: 'x-end-user' };
  let sign: (claims: object, more?: { expires?: string; from?: string }) => Promise<string>;

  beforeAll(async () => {
    const { publicKey, privateKey } = await generateKeyPair('RS256');
    const keys = [{ ...(await exportJWK(publicKey)), kid: 'k', alg: 'RS256' }];
    const jwt_validation = {
      jwks: { keys },
      headerKey: header.name,
      requiredClaims: ['team'],
      claimValues: { team: { values: ['blue'], matchType: 'exact' } },
    };
    await saveIntegration(gateway, { slug: 'vouched', url: upstream.url, configurations: { jwt_validation } });
    sign = (claims, { expires = '5m', from = '0s' } = {}) =>
      new SignJWT({ ...claims })
        .setProtectedHeader({ alg: 'RS256', kid: 'k' })
        .setIssuedAt()
        .setNotBefore(from)
        .setExpirationTime(expires)
        .sign(privateKey);
  });

  const asked = (value: string | null) =>
    ask(initialize(), { slug: 'vouched', headers: value === null ? {} : { [header.name]: value } });

  test('counts when it is right', async () => {
    expect((await asked(`Bearer ${await sign({ team: 'blue' })}`)).status).toBe(200);
  });

  test.each([
    ['is missing', async () => null, 'is missing'],
    ['has no token behind its scheme', async () => 'Bearer  ', 'bad format'],
    ['is none', async () => 'Bearer nonsense', 'cannot be verified'],
    ['is signed by somebody else', async () => `Bearer ${await forged()}`, 'cannot be verified'],
    ['has expired', async () => `Bearer ${await sign({ team: 'blue' }, { expires: '-1h' })}`, 'has expired'],
    [
      'is not valid yet',
      async () => `Bearer ${await sign({ team: 'blue' }, { from: '1h', expires: '2h' })}`,
      'not valid yet',
    ],
    ['lacks a claim', async () => `Bearer ${await sign({})}`, 'lacks the claims team'],
  ])('that %s: 401 with what is wrong', async (_, make, words) => {
    const { status, body } = await asked(await make());
    expect([status, body]).toEqual([401, { error: 'unauthorized', error_description: expect.stringContaining(words) }]);
  });

  test('whose claims are others: 403', async () => {
    const { status, body } = await asked(`Bearer ${await sign({ team: 'red' })}`);
    expect([status, body.error.data.code]).toEqual([403, 'forbidden']);
  });

  const forged = async (): Promise<string> => {
    const { privateKey } = await generateKeyPair('RS256');
    const claims = new SignJWT({ team: 'blue' }).setProtectedHeader({ alg: 'RS256', kid: 'k' });
    return claims.setExpirationTime('5m').sign(privateKey);
  };
});

describe('the authorization server', () => {
  const refused = async (fields: Record<string, string>, headers: Record<string, string> = {}) => {
    const sent = form(fields);
    const response = await fetch(`${gateway.url}/oauth/token`, { ...sent, headers: { ...sent.headers, ...headers } });
    const body = (await response.json()) as Json;
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(body.error_description).toEqual(expect.any(String));
    return [response.status, body.error];
  };
  const resource = () => `${gateway.url}/notes/mcp`;

  test('names what is wrong with a request for tokens, row by row', async () => {
    const { fields, answer, client } = await signInClient(gateway, place.owner.session, resource());
    const { refresh_token } = answer.body;
    const refresh = { grant_type: 'refresh_token', refresh_token, client_id: client.client_id };
    expect(await refused({ ...fields, code: '' })).toEqual([400, 'invalid_request']);
    expect(await refused({ ...fields, client_id: 'nobody' })).toEqual([401, 'invalid_client']);
    expect(await refused({ ...fields, grant_type: 'password' })).toEqual([400, 'unsupported_grant_type']);
    expect(await refused({ ...refresh, scope: 'everything' })).toEqual([400, 'invalid_scope']);
    expect(await refused({ ...refresh, resource: `${gateway.url}/hostile/mcp` })).toEqual([400, 'invalid_target']);
    expect(await refused({ ...refresh, refresh_token: 'gwr_never' })).toEqual([400, 'invalid_grant']);
    // A code that was used: what it brought is over.
    expect(await refused(fields)).toEqual([400, 'invalid_grant']);
    expect(await refused(refresh)).toEqual([400, 'invalid_grant']);
  });

  test('a code counts for the client, the address and the resource that it was made out for, and not for ever', async () => {
    const { body: client } = await register(gateway);
    const { body: other } = await register(gateway);
    const code = async (verifier: string) => {
      const asked = { clientId: client.client_id, session: place.owner.session, verifier, resource: resource() };
      return (await consent(gateway, asked)).searchParams.get('code') ?? '';
    };
    const exchange = async (more: Record<string, string>, before = () => undefined as unknown) => {
      const code_verifier = newVerifier();
      const fields = { grant_type: 'authorization_code', client_id: client.client_id, redirect_uri: redirectUri };
      const sent = { ...fields, code: await code(code_verifier), code_verifier, ...more };
      before();
      return refused(sent);
    };
    expect(await exchange({ client_id: other.client_id })).toEqual([400, 'invalid_grant']);
    expect(await exchange({ redirect_uri: 'http://127.0.0.1:1/elsewhere' })).toEqual([400, 'invalid_grant']);
    expect(await exchange({ code_verifier: newVerifier() })).toEqual([400, 'invalid_grant']);
    expect(await exchange({ resource: `${gateway.url}/hostile/mcp` })).toEqual([400, 'invalid_target']);
    expect(await exchange({}, () => gateway.clock.advance({ minutes: 11 }))).toEqual([400, 'invalid_grant']);
  });

  test('a client with a secret must show it; one that may not refresh gets nothing to refresh with', async () => {
    const { body: secretive } = await register(gateway, { token_endpoint_auth_method: 'client_secret_basic' });
    const fields = { grant_type: 'refresh_token', refresh_token: 'gwr_x', client_id: secretive.client_id };
    expect(await refused(fields)).toEqual([401, 'invalid_client']);
    const basic = (secret: string) => `Basic ${Buffer.from(`${secretive.client_id}:${secret}`).toString('base64')}`;
    expect(await refused(fields, { authorization: basic('wrong') })).toEqual([401, 'invalid_client']);
    expect(await refused(fields, { authorization: basic(secretive.client_secret) })).toEqual([400, 'invalid_grant']);
    const { body: once } = await register(gateway, { grant_types: ['authorization_code'] });
    const verifier = newVerifier();
    const asked = { clientId: once.client_id, session: place.owner.session, verifier, resource: resource() };
    const code = (await consent(gateway, asked)).searchParams.get('code') ?? '';
    const { body } = await token(gateway, {
      grant_type: 'authorization_code',
      code,
      client_id: once.client_id,
      redirect_uri: redirectUri,
      code_verifier: verifier,
    });
    expect(body.access_token).toEqual(expect.any(String));
    expect(body.refresh_token).toBeUndefined();
    expect(await refused({ ...fields, client_id: once.client_id })).toEqual([400, 'unauthorized_client']);
  });

  test('an unknown client, or an address that it did not register, is a page and never a redirect', async () => {
    const { body: client } = await register(gateway, { redirect_uris: [redirectUri, 'https://app.example.com/cb'] });
    const query = { response_type: 'code', code_challenge: 'x'.repeat(43), code_challenge_method: 'S256' };
    for (const more of [
      { client_id: 'nobody', redirect_uri: redirectUri },
      { client_id: client.client_id, redirect_uri: 'https://elsewhere.example/cb' },
      { client_id: client.client_id },
    ]) {
      const at = `${gateway.url}/oauth/authorize?${new URLSearchParams({ ...query, ...more })}`;
      const page = await fetch(at, { redirect: 'manual' });
      expect([page.status, page.headers.get('location')]).toEqual([400, null]);
      expect(page.headers.get('content-type')).toContain('text/html');
    }
  });

  test('without PKCE the client is sent back with invalid_request, its state and who we are', async () => {
    const { body: client } = await register(gateway);
    const query = { response_type: 'code', client_id: client.client_id, redirect_uri: redirectUri, state: 's' };
    const page = await fetch(`${gateway.url}/oauth/authorize?${new URLSearchParams(query)}`, { redirect: 'manual' });
    const sent = new URL(page.headers.get('location') ?? '').searchParams;
    expect([sent.get('error'), sent.get('state'), sent.get('iss')]).toEqual(['invalid_request', 's', gateway.url]);
  });

  test('registers 20 clients a minute from one address, and then says when to come again', async () => {
    gateway.clock.advance({ minutes: 2 });
    const body = JSON.stringify({ redirect_uris: [redirectUri] });
    const headers = { 'content-type': 'application/json' };
    const answers = [];
    for (let n = 0; n < 21; n++) {
      answers.push(await fetch(`${gateway.url}/oauth/register`, { method: 'POST', headers, body }));
    }
    expect(answers.map(({ status }) => status)).toEqual([...Array.from({ length: 20 }, () => 201), 429]);
    expect(Number(answers.at(-1)?.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  test('ends what never was with 200', async () => {
    gateway.clock.advance({ minutes: 2 });
    const { body: client } = await register(gateway);
    const sent = form({ token: 'gwo_never', client_id: client.client_id });
    expect((await fetch(`${gateway.url}/oauth/revoke`, sent)).status).toBe(200);
  });

  test('an answer of an upstream’s authorization server that we did not ask for: 400, a page', async () => {
    for (const query of ['code=x&state=never', 'error=access_denied&state=never', '']) {
      const page = await fetch(`${gateway.url}/oauth/upstream-callback?${query}`);
      expect([page.status, page.headers.get('content-type')]).toEqual([400, expect.stringContaining('text/html')]);
    }
  });
});
