/** Every refusal of a credential at the MCP gateway, and of its authorization server, by its exact status, code and word. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import type { Json, TestGateway } from '../harness.ts';
import { addKey, addPerson, type Home } from '../people.ts';
import { freePort } from '../servers/free-port.ts';
import { type ErrorsWorld, initialize, startErrorsWorld, toolCall } from './errors-world.ts';
import { consent, form, newVerifier, redirectUri, register, signInClient, token } from './oauth-world.ts';
import { saveIntegration, startUpstream, type UpstreamServer } from './upstream.ts';

let world: ErrorsWorld;
let gateway: TestGateway;
let place: Home;
let upstream: UpstreamServer;
let signIn: UpstreamServer;
let ask: ErrorsWorld['ask'];
let session: ErrorsWorld['session'];

beforeAll(async () => {
  signIn = await startUpstream('oauth-upstream.ts', [String(await freePort())]);
  world = await startErrorsWorld();
  ({ gateway, place, upstream, ask, session } = world);
  await saveIntegration(gateway, { slug: 'personal', url: signIn.url, auth_type: 'oauth_auto' });
});

afterAll(async () => {
  await world.stop();
  signIn.stop();
});

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
