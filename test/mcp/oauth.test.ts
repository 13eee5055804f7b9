/** Our authorization server: registration, consent, codes, tokens, and what must not work. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startGateway, type TestGateway } from '../harness.ts';
import { addOrganisation, addPerson, home } from '../people.ts';
import { sessionClient, textOf } from './clients.ts';
import { authorizeUrl, consent, form, newVerifier, redirectUri, register, signInClient, token } from './oauth-world.ts';
import { saveIntegration, startUpstream, trustLoopback, type UpstreamServer } from './upstream.ts';

let gateway: TestGateway;
let upstream: UpstreamServer;
let session: string;
let resource: string;

beforeAll(async () => {
  upstream = await startUpstream('session-server.ts');
  gateway = await startGateway(trustLoopback);
  await saveIntegration(gateway, { slug: 'notes', url: upstream.url });
  await saveIntegration(gateway, { slug: 'others', url: upstream.url });
  session = (await home(gateway)).owner.session;
  resource = `${gateway.url}/notes/mcp`;
});

afterAll(async () => {
  await gateway.stopWithoutFaults();
  upstream.stop();
});

test('the documents name every endpoint', async () => {
  const { body } = await gateway.get('/.well-known/oauth-protected-resource/notes/mcp', { key: '' });
  expect(body).toMatchObject({
    resource,
    authorization_servers: [gateway.url],
    scopes_supported: ['mcp', 'mcp:read', 'mcp:write'],
  });
  const server = await gateway.get('/.well-known/oauth-authorization-server', { key: '' });
  expect(server.body).toMatchObject({
    issuer: gateway.url,
    token_endpoint: `${gateway.url}/oauth/token`,
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
  });
  const keys = await gateway.get('/.well-known/jwks.json', { key: '' });
  expect(keys.body.keys).toMatchObject([{ kty: 'RSA', alg: 'RS256', use: 'sig' }]);
  expect(keys.body.keys[0].d).toBeUndefined();
});

describe('registration', () => {
  test('of a public and of a confidential client', async () => {
    const open = await register(gateway);
    expect(open.status).toBe(201);
    expect(open.body.client_secret).toBeUndefined();
    const confidential = await register(gateway, { token_endpoint_auth_method: 'client_secret_post' });
    expect(confidential.body).toMatchObject({ client_secret_expires_at: 0 });
  });

  test.each([
    ['none', []],
    ['eleven', Array.from({ length: 11 }, (_, n) => `https://example.com/${n}`)],
    ['too long', [`https://example.com/${'x'.repeat(2030)}`]],
    ['a fragment', ['https://example.com/#x']],
    ['http elsewhere', ['http://example.com/callback']],
    ['javascript', ['javascript:alert(1)']],
    ['javascript with an authority', ['javascript://example.com/%0aalert(1)']],
    ['data', ['data:text/html,x']],
    ['a file', ['file:///etc/passwd']],
    ['a scheme that is not listed', ['myapp://callback']],
    ['a listed scheme without an authority', ['cursor:callback']],
    ['credentials', ['https://user:pass@example.com/']],
    ['a wildcard', ['https://*.example.com/']],
    ['a private address', ['https://10.0.0.1/callback']],
    ['a metadata service', ['https://169.254.169.254/']],
    ['a control character', ['https://example.com/\n']],
    ['a relative address', ['/callback']],
    ['no text', [7]],
  ])('refuses redirect_uris: %s', async (_, redirect_uris) => {
    expect(await register(gateway, { redirect_uris })).toMatchObject({
      status: 400,
      body: { error: 'invalid_redirect_uri' },
    });
  });

  test('takes https, loopback and listed schemes', async () => {
    const redirect_uris = [
      'https://app.example.com/cb',
      'http://localhost:1234/cb',
      'http://[::1]/cb',
      'cursor://anysphere/cb',
    ];
    expect((await register(gateway, { redirect_uris })).status).toBe(201);
  });

  test('refuses a body of more than 16 KB with 413, and other metadata with its own word', async () => {
    expect((await register(gateway, { client_name: 'x'.repeat(20_000) })).status).toBe(413);
    expect((await register(gateway, { grant_types: ['password'] })).body.error).toBe('invalid_client_metadata');
  });
});

test('clients that are described at their own addresses count as registrations, where they are new', async () => {
  const limited = await startGateway();
  try {
    const ask = (count: number) =>
      fetch(`${limited.url}/oauth/authorize?client_id=${encodeURIComponent(`https://10.0.0.1/${count}`)}`);
    const statuses = [];
    for (let count = 0; count < 21; count++) statuses.push((await ask(count)).status);
    expect(statuses).toEqual([...Array(20).fill(400), 429]);
    const spoken = { grant_type: 'refresh_token', refresh_token: 'x', client_id: 'https://10.0.0.1/21' };
    expect((await token(limited, spoken)).status).toBe(429);
  } finally {
    await limited.stopWithoutFaults();
  }
});

describe('a person signs a client in', () => {
  test('and it uses the server with its token, which counts for that server alone', async () => {
    const { answer, sent } = await signInClient(gateway, session, resource);
    expect(sent.searchParams.get('state')).toBe('the-state');
    expect(sent.searchParams.get('iss')).toBe(gateway.url);
    expect(answer).toMatchObject({ status: 200, body: { token_type: 'Bearer', expires_in: 3600, scope: 'mcp' } });
    const headers = { authorization: `Bearer ${answer.body.access_token}` };
    const client = await sessionClient(resource, headers);
    expect(textOf(await client.callTool({ name: 'echo', arguments: { text: 'signed in' } }))).toBe('signed in');
    await client.close();
    await expect(sessionClient(`${gateway.url}/others/mcp`, headers)).rejects.toThrow();
    const row = gateway.records.at(-1)?.metrics;
    expect(row?.mcp?.auth_type).toBe('oauth');
  });

  test('a token that may only read calls only tools that change nothing', async () => {
    const { answer } = await signInClient(gateway, session, resource, 'mcp:read');
    const client = await sessionClient(resource, { authorization: `Bearer ${answer.body.access_token}` });
    expect(textOf(await client.callTool({ name: 'echo', arguments: { text: 'read' } }))).toBe('read');
    await expect(client.callTool({ name: 'write', arguments: { text: 'x' } })).rejects.toThrow('mcp:write');
    await client.close();
  });

  test('a code counts once, and its second use ends what the first got', async () => {
    const { fields, answer } = await signInClient(gateway, session, resource);
    expect((await token(gateway, fields)).body.error).toBe('invalid_grant');
    const response = await fetch(resource, {
      method: 'POST',
      headers: { authorization: `Bearer ${answer.body.access_token}` },
    });
    expect(response.status).toBe(401);
  });

  test('a wrong verifier gets nothing', async () => {
    const { body: client } = await register(gateway);
    const sent = await consent(gateway, { clientId: client.client_id, session, verifier: newVerifier(), resource });
    const { body } = await token(gateway, {
      grant_type: 'authorization_code',
      code: sent.searchParams.get('code') ?? '',
      client_id: client.client_id,
      redirect_uri: redirectUri,
      code_verifier: newVerifier(),
    });
    expect(body.error).toBe('invalid_grant');
  });

  test('on loopback the port may differ, the host may not', async () => {
    const { body: client } = await register(gateway);
    const asked = { clientId: client.client_id, session, verifier: newVerifier(), resource };
    const other = await consent(gateway, { ...asked, redirect: 'http://127.0.0.1:5555/callback' });
    expect(other.searchParams.has('code')).toBe(true);
    const page = await fetch(authorizeUrl(gateway, { ...asked, redirect: 'http://localhost:33418/callback' }), {
      redirect: 'manual',
    });
    expect(page.status).toBe(400);
  });

  test.each([
    ['plain PKCE', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['no code', { response_type: 'token' }, 'unsupported_response_type'],
    ['an unknown scope', { scope: 'everything' }, 'invalid_scope'],
    ['a resource of somebody else', { resource: 'https://example.com/mcp' }, 'invalid_target'],
  ])('is sent back with an error: %s', async (_, more, error) => {
    const { body: client } = await register(gateway);
    const sent = await consent(gateway, { clientId: client.client_id, session, verifier: newVerifier(), more });
    expect(sent.searchParams.get('error')).toBe(error);
  });

  test('who denies sends the client away', async () => {
    const { body: client } = await register(gateway);
    const sent = await consent(gateway, {
      clientId: client.client_id,
      session,
      verifier: newVerifier(),
      decision: 'deny',
    });
    expect(sent.searchParams.get('error')).toBe('access_denied');
  });

  test('a form without the right CSRF token is refused', async () => {
    const response = await fetch(`${gateway.url}/oauth/postAuthorizeConsent`, {
      ...form({ request_id: 'x', csrf_token: 'y', decision: 'approve' }),
      headers: { 'content-type': 'application/x-www-form-urlencoded', cookie: `gw_session=${session}` },
    });
    expect(response.status).toBe(403);
  });

  test('without a session there is a page to sign in', async () => {
    const { body: client } = await register(gateway);
    const page = await fetch(
      authorizeUrl(gateway, { clientId: client.client_id, session: '', verifier: newVerifier() }),
    );
    expect(page.status).toBe(200);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(await page.text()).toContain('Sign in to continue');
  });
});

describe('tokens', () => {
  test('are refreshed, and a refresh token that comes twice ends all of them', async () => {
    const { client, answer } = await signInClient(gateway, session, resource);
    const refresh = (refresh_token: string) =>
      token(gateway, { grant_type: 'refresh_token', refresh_token, client_id: client.client_id });
    const second = await refresh(answer.body.refresh_token);
    expect(second.status).toBe(200);
    expect(second.body.refresh_token).not.toBe(answer.body.refresh_token);
    expect((await refresh(answer.body.refresh_token)).body.error).toBe('invalid_grant');
    expect((await refresh(second.body.refresh_token)).body.error).toBe('invalid_grant');
  });

  test('are narrowed by a refresh, never widened', async () => {
    const { client, answer } = await signInClient(gateway, session, resource, 'mcp:read');
    const fields = {
      grant_type: 'refresh_token',
      refresh_token: answer.body.refresh_token,
      client_id: client.client_id,
    };
    expect((await token(gateway, { ...fields, scope: 'mcp' })).body.error).toBe('invalid_scope');
  });

  test('are introspected by services alone, and revoked at once', async () => {
    const { client, answer } = await signInClient(gateway, session, resource);
    const introspect = async (key: string) => {
      const response = await fetch(`${gateway.url}/oauth/introspect`, {
        ...form({ token: answer.body.access_token }),
        headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-gw-api-key': key },
      });
      return { status: response.status, body: await response.json() };
    };
    expect((await introspect(gateway.workspaceKey)).status).toBe(401);
    const stranger = await addOrganisation(gateway);
    expect(await introspect(stranger.adminKey)).toEqual({ status: 200, body: { active: false } });
    expect((await introspect(gateway.adminKey)).body).toMatchObject({
      active: true,
      email: gateway.owner.email,
      aud: resource,
    });
    const revoked = await fetch(
      `${gateway.url}/oauth/revoke`,
      form({ token: answer.body.refresh_token, client_id: client.client_id }),
    );
    expect(revoked.status).toBe(200);
    expect((await introspect(gateway.adminKey)).body).toEqual({ active: false });
  });

  test('expire', async () => {
    const { answer } = await signInClient(gateway, session, resource);
    gateway.clock.advance({ hours: 2 });
    const response = await fetch(resource, {
      method: 'POST',
      headers: { authorization: `Bearer ${answer.body.access_token}` },
    });
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toContain('invalid_token');
  });
});

describe('what is over', () => {
  const answersWith = async (bearer: string, address = resource) =>
    (await fetch(address, { method: 'POST', headers: { authorization: `Bearer ${bearer}` } })).status;

  test('a person who is removed takes tokens and sign-ins along, at once', async () => {
    const { organisationId, workspaceId, owner } = await home(gateway);
    const person = await addPerson(gateway, organisationId, 'member', { workspaces: { [workspaceId]: 'member' } });
    const { client, answer } = await signInClient(gateway, person.session, resource);
    const { access_token, refresh_token } = answer.body;
    // Without a body, but by somebody who is known.
    expect(await answersWith(access_token)).toBe(415);
    const { db } = gateway.app.services.store;
    const at = gateway.clock.now().toISOString();
    const { id } = await db
      .selectFrom('mcp_servers')
      .select('id')
      .where('slug', '=', 'notes')
      .executeTakeFirstOrThrow();
    await db
      .insertInto('mcp_connections')
      .values({
        server_id: id,
        user_id: person.userId,
        organisation_id: organisationId,
        status: 'connected',
        issuer: 'https://issuer.example',
        tokens_sealed: null,
        created_at: at,
        last_updated_at: at,
      })
      .execute();
    expect((await gateway.delete(`/v1/users/${person.userId}`, undefined, { key: owner.session })).status).toBe(200);
    expect(await answersWith(access_token)).toBe(401);
    const again = await token(gateway, { grant_type: 'refresh_token', refresh_token, client_id: client.client_id });
    expect(again.body.error).toBe('invalid_grant');
    const left = await db.selectFrom('mcp_connections').selectAll().where('user_id', '=', person.userId).execute();
    expect(left).toEqual([]);
  });

  test('a token of one server does not open the joined address', async () => {
    const { owner } = await home(gateway);
    const { answer } = await signInClient(gateway, owner.session, resource);
    expect(await answersWith(answer.body.access_token, `${gateway.url}/mcp`)).toBe(401);
    const joined = await signInClient(gateway, owner.session, `${gateway.url}/mcp`);
    expect(await answersWith(joined.answer.body.access_token, `${gateway.url}/mcp`)).toBe(415);
    expect(await answersWith(joined.answer.body.access_token)).toBe(401);
  });

  test('codes, tokens, grants and unused clients are forgotten; what still counts stays', async () => {
    const { owner } = await home(gateway);
    const { db } = gateway.app.services.store;
    const count = async (table: 'oauth_flows' | 'oauth_tokens' | 'oauth_grants' | 'oauth_clients') =>
      (
        await db
          .selectFrom(table)
          .select((eb) => eb.fn.countAll<number>().as('rows'))
          .executeTakeFirstOrThrow()
      ).rows;
    gateway.clock.advance({ days: 200 });
    const { owner: later } = await home(gateway);
    expect(later.userId).toBe(owner.userId);
    const { answer } = await signInClient(gateway, later.session, resource);
    await gateway.app.jobs.runOnce('oauth-sweep');
    expect(await answersWith(answer.body.access_token)).toBe(415);
    expect({ clients: await count('oauth_clients'), grants: await count('oauth_grants') }).toEqual({
      clients: 1,
      grants: 1,
    });
    expect(await count('oauth_tokens')).toBe(2);
    gateway.clock.advance({ days: 200 });
    await gateway.app.jobs.runOnce('oauth-sweep');
    for (const table of ['oauth_flows', 'oauth_tokens', 'oauth_grants', 'oauth_clients'] as const) {
      expect({ table, rows: await count(table) }).toEqual({ table, rows: 0 });
    }
  });
});
